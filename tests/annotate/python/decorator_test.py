# SPDX-License-Identifier: Apache-2.0
"""Scopes as decorators, of functions and of what can be suspended."""
import asyncio
import gc
import inspect
import unittest
import warnings

import gpubound
from recorded import RecordedTest, scope, take

BEGIN, END = scope("work")


def drive(coroutine):
    """Runs a coroutine that awaits Once objects to its end; returns what it returned."""
    try:
        while True:
            coroutine.send(None)
    except StopIteration as stop:
        return stop.value


class Once:
    """Suspends the awaiting coroutine one time."""

    def __await__(self):
        gpubound.phase("suspended")
        yield


class FunctionTest(RecordedTest):
    def test_a_function_runs_inside_the_scope(self):
        @gpubound.operation("work")
        def add(a, *, b=1):
            return a + b
        self.assertEqual((add(1), add(1, b=2)), (2, 3))
        self.assert_recorded(BEGIN, END, BEGIN, END)

    def test_an_exception_closes_the_scope(self):
        @gpubound.operation("work")
        def fail():
            raise KeyError("expected")
        with self.assertRaisesRegex(KeyError, "expected"):
            fail()
        self.assert_recorded(BEGIN, END)

    def test_methods_of_every_kind_bind_as_before(self):
        class Agent:
            @gpubound.operation("work")
            def own(self):
                return self

            @gpubound.operation("work")
            @classmethod
            def of_class(cls):
                return cls

            @staticmethod
            @gpubound.operation("work")
            def free(value):
                return value

        agent = Agent()
        self.assertIs(agent.own(), agent)
        self.assertIs(Agent.own(agent), agent)
        self.assertIs(agent.own.__self__, agent)
        self.assertIs(agent.of_class(), Agent)
        self.assertEqual(agent.free(3), 3)
        self.assert_recorded(*(BEGIN, END) * 4)

    def test_what_is_no_function_is_refused(self):
        with self.assertRaisesRegex(TypeError, "decorates functions, not int"):
            gpubound.operation("work")(3)
        with self.assertRaisesRegex(TypeError, "decorates functions, not type"):
            gpubound.operation("work")(type("Own", (), {}))
        with self.assertRaisesRegex(TypeError, "one function"):
            gpubound.operation("work")()
        with self.assertRaisesRegex(TypeError, "one function"):
            gpubound.operation("work")(len, keyword=1)


class GeneratorTest(RecordedTest):
    def test_a_suspended_generator_owns_nothing(self):
        @gpubound.operation("work")
        def count():
            received = yield 1
            yield received
            return "end"
        generator = count()
        self.assertTrue(inspect.isgenerator(generator))
        self.assertEqual(next(generator), 1)
        gpubound.phase("between")
        self.assertEqual(generator.send(5), 5)
        with self.assertRaises(StopIteration) as stop:
            next(generator)
        self.assertEqual(stop.exception.value, "end")
        self.assert_recorded(BEGIN, END, "phase between", BEGIN, END, BEGIN, END)

    def test_scopes_inside_it_are_suspended_with_it(self):
        @gpubound.operation("work")
        def count():
            with gpubound.operation("inner"):
                yield
        generator = count()
        next(generator)
        self.assert_recorded(*scope("work", "inner"))
        self.assertRaises(StopIteration, next, generator)
        self.assert_recorded(*scope("work", "inner"))

    def test_an_exception_thrown_in_is_seen_inside(self):
        @gpubound.operation("work")
        def catch():
            try:
                yield
            except ValueError:
                yield "caught"
        generator = catch()
        next(generator)
        self.assertEqual(generator.throw(ValueError()), "caught")
        generator.close()
        self.assert_recorded(BEGIN, END, BEGIN, END, BEGIN, END)

    def test_one_that_is_closed_late_leaves_its_callers_scopes_alone(self):
        @gpubound.operation("work")
        def count():
            with gpubound.operation("inner"):
                yield
        generator = count()
        next(generator)
        take()
        with gpubound.operation("caller"):
            del generator
        self.assert_recorded("begin operation caller", *scope("work", "inner"),
                             "end operation caller")


class SuspendableTest(RecordedTest):
    """What holds for generators, coroutines and asynchronous generators alike."""

    @staticmethod
    def functions():
        def generate(value):
            yield value

        async def run(value):
            return value

        async def generate_later(value):
            yield value
        return generate, run, generate_later

    def test_wrong_arguments_are_refused_by_the_call(self):
        for plain in self.functions():
            with self.assertRaisesRegex(TypeError, "missing 1 required positional argument"):
                gpubound.operation("work")(plain)()
        self.assert_recorded()

    def test_it_equals_the_function_and_is_one_of_its_kind(self):
        for plain in self.functions():
            decorated = gpubound.operation("work")(plain)
            self.assertEqual(decorated, plain)
            self.assertEqual(inspect.signature(decorated), inspect.signature(plain))
            for is_kind in (inspect.isgeneratorfunction, inspect.iscoroutinefunction,
                            inspect.isasyncgenfunction, asyncio.iscoroutinefunction):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", DeprecationWarning)  # asyncio's, from 3.14 on
                    self.assertEqual(is_kind(decorated), is_kind(plain))

    def test_what_a_call_returns_is_of_the_kind_and_name_that_it_was(self):
        for plain in self.functions():
            theirs, ours = plain(1), gpubound.operation("work")(plain)(1)
            self.assertIs(type(ours), type(theirs))
            self.assertEqual((ours.__name__, ours.__qualname__), (theirs.__name__, theirs.__qualname__))
            for coroutine in (theirs, ours):
                if inspect.iscoroutine(coroutine):
                    coroutine.close()

    def test_methods_bind_as_before(self):
        class Agent:
            @gpubound.operation("work")
            def own(self):
                yield self

            @gpubound.operation("work")
            @classmethod
            def of_class(cls):
                yield cls
        agent = Agent()
        self.assertEqual([*agent.own(), *Agent.of_class()], [agent, Agent])

    def test_a_coroutine_that_nobody_awaits_is_warned_of_once(self):
        _, run, _ = self.functions()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            gpubound.operation("work")(run)(1)
            messages = [str(warning.message) for warning in caught]
            caught.clear()  # a warning keeps what it is about
            gc.collect()
            messages += [str(warning.message) for warning in caught]
        self.assertEqual(messages, [f"coroutine '{run.__qualname__}' was never awaited"])


class CoroutineTest(RecordedTest):
    def test_a_suspended_coroutine_owns_nothing(self):
        @gpubound.operation("work")
        async def run():
            await Once()
            return 7
        self.assertTrue(inspect.iscoroutinefunction(run))
        self.assertEqual(drive(run()), 7)
        self.assert_recorded(BEGIN, "phase suspended", END, BEGIN, END)

    def test_an_exception_leaves_no_scope_open(self):
        @gpubound.operation("work")
        async def fail():
            await Once()
            raise KeyError("expected")
        with self.assertRaisesRegex(KeyError, "expected"):
            drive(fail())
        self.assert_recorded(BEGIN, "phase suspended", END, BEGIN, END)

    def test_an_asynchronous_generator_owns_nothing_between_its_items(self):
        @gpubound.operation("work")
        async def items():
            with gpubound.operation("inner"):
                yield 1
                await Once()
                yield 2

        async def collect():
            found = []
            async for item in items():
                found.append(item)
                gpubound.phase(f"item {item}")
            return found
        self.assertEqual(drive(collect()), [1, 2])
        begin, end = scope("work", "inner")[:2], scope("work", "inner")[2:]
        self.assert_recorded(*begin, *end, "phase item 1", *begin, "phase suspended", *end, *begin,
                             *end, "phase item 2", *begin, *end)

    def test_an_asynchronous_generator_takes_what_is_sent_thrown_and_closed(self):
        @gpubound.operation("work")
        async def echo():
            received = None
            while True:
                try:
                    received = yield received
                except ValueError:
                    received = "caught"

        async def talk():
            generator = echo()
            answers = [await generator.asend(None), await generator.asend(3),
                       await generator.athrow(ValueError())]
            await generator.aclose()
            return answers
        self.assertEqual(drive(talk()), [None, 3, "caught"])
        self.assert_recorded(*(BEGIN, END) * 4)

    def test_an_asynchronous_generator_that_is_left_is_closed_once_when_its_loop_ends(self):
        @gpubound.operation("work")
        async def items():
            try:
                yield 1
            finally:
                await asyncio.sleep(0)
                closed.append(True)

        async def leave():
            loop = asyncio.get_running_loop()
            loop.set_exception_handler(lambda _, context: failures.append(context["message"]))
            generator = items()
            self.assertEqual(await generator.asend(None), 1)
            return generator
        closed, failures = [], []
        asyncio.run(leave())
        self.assertEqual((closed, failures), ([True], []))


if __name__ == "__main__":
    unittest.main()
