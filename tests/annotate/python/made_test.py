# SPDX-License-Identifier: Apache-2.0
"""Hooks on what makes operations: a framework's phase timers, jitted functions, and actors' methods."""
import contextlib
import functools
import os
import threading
import types
import unittest
import unittest.mock

import gpubound
from gpubound import _core, _failures, _hooks, _jitted, _loop
from recorded import RecordedTest, scope, take, without_numbers


class Timer:
    """Like the timers of LLM frameworks."""

    def __init__(self):
        self.seen = []

    @contextlib.contextmanager
    def time(self, label, should_log=True):
        self.seen.append((label, should_log))
        yield label.upper()


class Range:
    def __init__(self, name, fails=False):
        self.name, self.fails = name, fails

    def __enter__(self):
        if self.fails:
            raise ValueError(self.name)
        return self

    def __exit__(self, *exception):
        return exception[0] is KeyError


def named_scope(name):
    """Like jax.named_scope."""
    if not isinstance(name, str):
        raise TypeError(name)
    return contextlib.nullcontext(name)


def install(hook, **members):
    """The members, in a module that `hook` was installed in."""
    module = types.ModuleType("sample")
    vars(module).update(members)
    _hooks.install_hook({"module": "sample", **hook}, module)
    return module


def copy_of(cls):
    return type(cls.__name__, cls.__bases__, dict(vars(cls)))


class TimerTest(RecordedTest):
    def setUp(self):
        super().setUp()
        _failures._told.clear()

    def timer(self):
        hook = {"class": "Timer", "names": ["time"], "timer": "label", "turn": "whole"}
        return install(hook, Timer=copy_of(Timer)).Timer()

    def test_a_timed_range_is_an_operation_of_its_name(self):
        timer = self.timer()
        with timer.time("generation") as value, timer.time(label="reward", should_log=False):
            self.assertEqual(value, "GENERATION")
        self.assert_recorded(*scope("generation", "reward"))
        self.assertEqual(timer.seen, [("generation", True), ("reward", False)])

    def test_the_range_that_is_a_turn_ends_an_iteration(self):
        with self.timer().time("whole"):
            pass
        self.assertEqual(without_numbers(take()), scope("whole") + ["step"])

    def test_an_exception_passes_and_ends_the_operation(self):
        with self.assertRaises(KeyError), self.timer().time("whole"):
            raise KeyError
        self.assert_recorded(*scope("whole"))

    def test_a_wrong_call_fails_as_before(self):
        with self.assertRaisesRegex(TypeError, "label"):
            self.timer().time()
        self.assert_recorded()

    def test_a_class_of_ranges_is_timed_by_its_attribute(self):
        hook = {"class": "Range", "names": ["__enter__", "__exit__"], "timer": "name"}
        ranges = install(hook, Range=copy_of(Range)).Range
        with ranges("reward") as value:
            self.assertEqual(value.name, "reward")
        with ranges("swallows"):
            raise KeyError
        self.assert_recorded(*scope("reward"), *scope("swallows"))
        with self.assertRaises(ValueError), ranges("broken", fails=True):
            pass
        self.assert_recorded(*scope("broken"))

    def test_each_call_of_what_a_timer_decorates_is_a_range(self):
        timer = self.timer()

        @timer.time("generation")
        def generate():
            gpubound.phase("inside")
        generate()
        generate()
        begin, end = scope("generation")
        self.assert_recorded(*(begin, "phase inside", end) * 2)

    def test_a_name_that_cannot_be_found_out_is_not_the_programs_business(self):
        class Nameless:
            def __str__(self):
                raise ValueError("theirs")

        def ranged(label):
            yield label
        timed = install({"names": ["timed"], "timer": "label"},
                        timed=contextlib.contextmanager(ranged)).timed
        nameless = Nameless()
        with timed(nameless) as value:
            self.assertIs(value, nameless)
        hook = {"class": "Range", "names": ["__enter__", "__exit__"], "timer": "name"}
        with install(hook, Range=copy_of(Range)).Range(nameless):
            pass
        failure, = take()
        self.assertRegex(failure, "ledger hooks_failed 1 a timer's range is no operation: ValueError")

    def test_the_default_names_the_range_where_none_is_given(self):
        def ranged(label="whole"):
            yield label
        timed = install({"names": ["timed"], "timer": "label"},
                        timed=contextlib.contextmanager(ranged)).timed
        with timed():
            pass
        self.assert_recorded(*scope("whole"))

    def test_what_is_no_timer_is_refused(self):
        with self.assertRaisesRegex(ValueError, "no parameter 'label'"):
            install({"names": ["f"], "timer": "label"}, f=lambda: None)
        with self.assertRaisesRegex(ValueError, "contextmanager"):
            install({"names": ["f"], "timer": "label"}, f=lambda label: None)


class JittedTest(RecordedTest):
    HOOK = {"names": ["jit"], "layer": "backend", "jitted": "made", "foreign": ["library"],
            "turns": ["*train_step"]}

    def setUp(self):
        _loop.forget_in_fork_child()
        self.addCleanup(_loop.forget_in_fork_child)
        self.addCleanup(_loop._finish)
        unittest.mock.patch.object(_jitted, "_anywhere", [None]).start()
        unittest.mock.patch.object(_jitted, "_last", _jitted._Last()).start()
        self.addCleanup(unittest.mock.patch.stopall)
        self.jit = install(self.HOOK, jit=lambda function: lambda *values: function(*values)).jit
        super().setUp()

    @staticmethod
    def calls(name):
        domain = "jitted training step" if name.endswith("train_step") else "jitted"
        return [f"begin annotation {domain}:{name}", f"begin layer(5) {name}", f"end layer(5) {name}",
                f"end annotation {domain}:{name}"]

    def test_a_function_of_the_program_is_an_operation_in_layer_backend(self):
        def act(value):
            return value + 1
        self.assertEqual(self.jit(act)(1), 2)
        self.assert_recorded(*self.calls("act"))

    def test_a_partial_is_called_like_its_function(self):
        def train_step(first, second):
            return first + second
        step = self.jit(functools.partial(functools.partial(train_step, 1), 2))
        self.assertEqual([step(), step()], [3, 3])
        self.assertEqual(without_numbers(take()),
                         self.calls("train_step") + ["step"] + self.calls("train_step"))

    def test_an_object_that_holds_a_function_is_called_by_the_name_of_that(self):
        traced = []

        class Function:
            """Like tf.function's: what it calls is traced."""

            def __init__(self, function):
                self.python_function = function

            def __call__(self, *values):
                traced.append(self)
                try:
                    return self.python_function(*values)
                finally:
                    traced.pop()
        _failures._told.clear()
        with unittest.mock.patch.object(_loop, "is_traced", lambda: bool(traced), create=True):
            install({"class": "Function", "names": ["__call__"], "jitted": "called", "foreign": ["library"],
                     "turns": ["*train_step"], "unless": "gpubound._loop.is_traced"}, Function=Function)

        def act(value):
            return value + 1

        def train_step(value):
            return Function(act)(value) * 2

        def add(value):
            return Function(act)(value) - 1
        add.__module__ = "library.numpy"
        take()
        step = Function(functools.partial(train_step, 1))
        self.assertEqual([Function(act)(1), step(), step(), Function(add)(3), Function(act)(4)], [2, 4, 4, 3, 5])
        steps = ["begin annotation jitted training step:train_step", "end annotation jitted training step:train_step"]
        acts = ["begin annotation jitted:act", "end annotation jitted:act"]
        self.assertEqual(without_numbers(take()), [*acts, *steps, "step", *steps, *acts])
        with gpubound.operation("own"):
            self.assertEqual(Function(act)(1), 2)
        self.assertEqual(without_numbers(take()), scope("own"))
        with self.assertRaises(TypeError):
            Function(act)()
        self.assertEqual(take(), acts)
        self.assertEqual(Function(act)(1), 2)

    def test_what_cannot_be_wrapped_is_returned_as_it_was_made(self):
        _failures._told.clear()
        make = install(self.HOOK, jit=lambda function: 7).jit
        self.assertEqual(make(len), 7)
        self.assertRegex(take()[-1], "ledger hooks_failed 1 a jitted function is not hooked: TypeError")

    def test_a_function_of_a_library_is_only_a_layer(self):
        def add(value):
            return value
        add.__module__ = "library.numpy"
        self.jit(add)(1)
        self.assert_recorded("begin layer(5) add", "end layer(5) add")

    def test_an_operation_of_the_program_owns_what_it_calls(self):
        with gpubound.operation("own"):
            self.jit(lambda: None)()
        self.assert_recorded("begin operation own", "begin layer(5) <lambda>",
                             "end layer(5) <lambda>", "end operation own")

    def test_each_training_step_ends_the_one_before(self):
        def train_step():
            return None
        step = self.jit(train_step)
        step()
        step()
        self.assertEqual(without_numbers(take()),
                         self.calls("train_step") + ["step"] + self.calls("train_step"))
        _loop.end_iterations()
        self.assertEqual(without_numbers(take()), ["step"])

    def test_a_training_step_after_simulation_is_an_update(self):
        def train_step():
            return None
        _loop.enter_rollout()
        self.jit(train_step)()
        _loop.enter_rollout()
        self.assertEqual(without_numbers(take()),
                         scope("stage:rollout") + ["begin operation stage:update"] + self.calls("train_step") +
                         ["end operation stage:update", "step", "begin operation stage:rollout"])

    def test_waiting_for_results_belongs_to_the_function_called_last(self):
        wait = install({"names": ["wait"], "layer": "backend", "jitted": "awaited"},
                       wait=lambda: "done").wait
        self.assertEqual(wait(), "done")
        self.jit(lambda: None)()
        take()
        self.assertEqual(wait(), "done")
        self.assert_recorded("begin annotation jitted:jit", "begin layer(5) sample.wait",
                             "end layer(5) sample.wait", "end annotation jitted:jit")

    def test_reading_a_property_may_be_what_waits(self):
        class Array:
            """Of some numbers."""

            @property
            def value(self):
                return self.held

            @value.setter
            def value(self, held):
                self.held = held
        install({"class": "Array", "names": ["value"], "property": True, "layer": "backend", "jitted": "awaited"},
                Array=Array)
        self.jit(lambda: None)()
        take()
        array = Array()
        array.value = 3
        self.assertEqual(take(), [])
        self.assertEqual(array.value, 3)
        self.assert_recorded("begin annotation jitted:jit", "begin layer(5) Array.value",
                             "end layer(5) Array.value", "end annotation jitted:jit")
        with self.assertRaises(AttributeError):
            take(Array().value)

    def test_a_thread_waits_for_the_function_that_it_called_itself(self):
        def act():
            return None
        wait = install({"names": ["wait"], "layer": "backend", "jitted": "awaited"},
                       wait=lambda: "done").wait
        self.jit(lambda: None)()
        actor = threading.Thread(target=self.jit(act))
        actor.start()
        actor.join()
        take()
        wait()
        self.assertEqual(take()[0], "begin annotation jitted:jit")
        other = threading.Thread(target=wait)  # has called none
        other.start()
        other.join()
        self.assertEqual(take()[0], "begin annotation jitted:act")

    def test_the_step_of_an_environment_written_in_jax_is_simulation(self):
        class Env:
            def step(self, action):
                return action + 1

        class Own(Env):
            def reset(self, seed):
                return seed

        def physics_step(state):
            return state
        names = [f"{__name__}.{name}" for name in (f"{Env.__qualname__}.step", f"{Env.__qualname__}.reset",
                                                   "physics_step")]
        jit = install({**self.HOOK, "simulates": names}, jit=lambda function: lambda *values: function(*values)).jit
        mapped = functools.wraps(Own().step)(lambda *values: Own().step(*values))  # as jax.vmap does
        take()
        for step in (Own().step, Own().reset, mapped, physics_step):
            jit(step)(1)
            calls = take()
            self.assertEqual([call for call in calls if "operation simulation" in call], scope("simulation"), step)
            self.assertEqual(sum("layer(5)" in call for call in calls), 2)
        self.assertEqual(_loop._loop.threads["collector"], _core.thread_ident())
        jit(Env.step)(Env(), 1)  # of no object: whether it is that of a derived class is not known
        self.assertNotIn("simulation", str(take()))

    def test_what_asks_for_the_type_of_a_jitted_function_is_given_it_unwrapped(self):
        def jitted():
            return 1
        module = install(self.HOOK, jit=lambda _: jitted)
        ask = install({"names": ["ask"], "jitted": "asked"},
                      ask=lambda function, *values, **named: (function, values, named)).ask
        self.assertIsNot(module.jit(len), jitted)
        self.assertIs(ask(module.jit(len))[0], jitted)
        self.assertEqual(ask(len, 2, three=4), (len, (2,), {"three": 4}))
        self.assertEqual(ask(function=len)[0], len)


class MadeTest(RecordedTest):
    HOOK = {"names": ["make"], "makes": {"operation": "name"}}

    def test_each_call_of_what_is_made_is_an_operation_in_layer_python(self):
        made = install(self.HOOK, make=lambda name, method: method).make("play", lambda: 3)
        self.assertEqual(made(), 3)
        self.assert_recorded("begin operation play", "begin layer(1) play", "end layer(1) play",
                             "end operation play")

    def test_waits_inside_of_it_are_its_own_whatever_waits_for_calls(self):
        made = install(self.HOOK, make=lambda name, method: method)
        waiting = install({"names": ["main_loop", "sleep"], "layer": "wait"},
                          main_loop=lambda task: [task(), waiting.sleep()], sleep=lambda: None)
        waiting.main_loop(made.make("play", lambda: waiting.sleep()))
        sleep = ["begin layer(2) sample.sleep", "end layer(2) sample.sleep"]
        self.assert_recorded("begin layer(2) sample.main_loop", "begin operation play",
                             "begin layer(1) play", *sleep, "end layer(1) play",
                             "end operation play", "end layer(2) sample.main_loop")

    def test_what_has_no_name_stays_as_it_was_made(self):
        _failures._told.clear()
        make = install({"names": ["make"], "makes": {"operation": "gone"}},
                       make=lambda name, method: method).make
        find = install({"names": ["find"], "finds": {"function": "gone", "operation": "name"}},
                       find=lambda: (1, 2)).find
        take()
        self.assertEqual([make("play", len), find()], [len, (1, 2)])
        self.assertIsNone(_core.wrapped(make("play", len)))
        self.assertEqual([call.rpartition(":")[0].rpartition(":")[0] for call in take()],
                         ["ledger hooks_failed 1 <lambda>: what it made is no operation",
                          "ledger hooks_failed 1 <lambda>: what it found is no operation"])

    def test_what_is_internal_or_suspends_is_left_alone(self):
        make = install(self.HOOK, make=lambda name, method: method).make

        async def play():
            return None
        self.assertIs(make("play", play), play)
        self.assertIs(make("__ray_ready__", len), len)


class TurnTest(RecordedTest):
    def test_a_call_that_is_a_turn_ends_an_iteration_even_if_it_fails(self):
        run = install({"names": ["run"], "iteration": "turn"}, run=lambda n: 1 // n).run
        self.assertEqual(run(1), 1)
        with self.assertRaises(ZeroDivisionError):
            run(0)
        self.assertEqual(without_numbers(take()), ["step", "step"])


class RayTest(unittest.TestCase):
    def test_workers_get_what_records_this_process(self):
        variables = {"GPUBOUND_RUN": "/r", "LD_PRELOAD": "/lib/libgpubound.so", "OTHER": "x",
                     "CUDA_INJECTION64_PATH": "/other.so", "GPUBOUND_END_NS": "7"}
        with unittest.mock.patch.dict(os.environ, variables, clear=True):
            found = gpubound.ray_runtime_env({"pip": ["x"], "env_vars": {"GPUBOUND_RUN": "/own"}})
        self.assertEqual(found, {"pip": ["x"], "env_vars": {
            "GPUBOUND_RUN": "/own", "LD_PRELOAD": "/lib/libgpubound.so"}})

    def test_without_a_run_nothing_is_added(self):
        with unittest.mock.patch.dict(os.environ, {"GPUBOUND_LIBRARY": "/x"}, clear=True):
            self.assertEqual(gpubound.ray_runtime_env(), {})


class NamedScopeTest(RecordedTest):
    """jax.named_scope: nothing is opened by it, but its names become known."""

    def setUp(self):
        super().setUp()
        self.known = []
        patch = unittest.mock.patch.object(
            _jitted._core, "operation_label", lambda *key: self.known.append(key))
        patch.start()
        self.addCleanup(patch.stop)
        self.module = install({"names": ["named_scope"], "jitted": "named", "foreign": ["flax"]},
                              named_scope=named_scope)

    def test_a_name_becomes_known_once_as_an_operation_of_the_library(self):
        for _ in range(2):
            with self.module.named_scope("inference") as inside:
                self.assertEqual(inside, "inference")
        self.assertEqual(self.known, [("sample", "inference")])
        self.assertEqual(take(), [])

    def test_each_part_of_a_path_is_a_name(self):
        with self.module.named_scope("rollout/simulation/"):
            pass
        self.assertEqual(self.known, [("sample", "rollout"), ("sample", "simulation")])

    def test_scopes_of_a_library_s_own_layers_are_no_operations(self):
        caller = {"__name__": "flax.linen.module", "named_scope": self.module.named_scope}
        exec("with named_scope('Dense_0'): pass", caller)
        self.assertEqual(self.known, [])

    def test_what_is_no_name_is_the_library_s_to_refuse(self):
        for wrong in (None, 7, b"bytes"):
            with self.assertRaises(TypeError):
                self.module.named_scope(wrong)
        self.assertEqual(self.known, [])

    def test_names_without_end_do_not_pile_up(self):
        for number in range(_jitted._MAX_SCOPES + 10):
            self.module.named_scope(f"step {number}")
        self.assertEqual(len(self.known), _jitted._MAX_SCOPES)

    def test_it_stays_the_function_that_it_was(self):
        self.assertEqual(self.module.named_scope.__doc__, named_scope.__doc__)
        self.assertIs(self.module.named_scope.__wrapped__, named_scope)


if __name__ == "__main__":
    unittest.main()
