# SPDX-License-Identifier: Apache-2.0
"""Many threads at once. Where the interpreter has a global lock they take turns, as often as they can;
on a free-threaded one they race."""
import asyncio
import collections
import contextlib
import os
import socket
import subprocess
import sys
import threading
import types
import unittest

import gpubound
from gpubound import _core, _hooks, _loop, _startup, _waits
from recorded import RecordedTest, take

THREADS = 8
ROUNDS = 200


def in_threads(function, count=THREADS):
    """What function(0), function(1), ... return or raise, each called on a thread of its own, all at
    the same moment."""
    results = [None] * count
    start = threading.Barrier(count)

    def run(index):
        start.wait()
        try:
            results[index] = function(index)
        except BaseException as error:  # pylint: disable=broad-except
            results[index] = error
    threads = [threading.Thread(target=run, args=(index,)) for index in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return results


class ThreadsTest(RecordedTest):
    def setUp(self):
        self.addCleanup(sys.setswitchinterval, sys.getswitchinterval())
        sys.setswitchinterval(1e-4)
        super().setUp()

    def counts(self):
        return collections.Counter(take())

    def assert_counts(self, **counts):
        """Each scope, by its name, was begun and ended that often; `_` stands for a blank."""
        expected = collections.Counter()
        for name, count in counts.items():
            kind = name.replace("_", " ")
            expected[f"begin {kind}"] = expected[f"end {kind}"] = count
        self.assertEqual(self.counts(), expected)


class ScopeTest(ThreadsTest):
    def test_a_new_name_is_one_scope_whoever_asks_first(self):
        for number in range(ROUNDS):
            scopes = in_threads(lambda _, text=f"fresh {number}": _core.operation("".join(text)))
            self.assertEqual(len(set(map(id, scopes))), 1)

    def test_names_made_anew_by_many_threads_keep_their_scopes_apart(self):
        def use(_):
            for number in range(ROUNDS):
                with gpubound.operation(f"name {number}") as opened:
                    self.assertEqual(opened.name, f"name {number}")
        in_threads(use)
        self.assert_counts(**{f"operation_name_{number}": THREADS for number in range(ROUNDS)})

    def test_a_kept_scope_is_opened_by_all(self):
        kept = gpubound.operation("kept")

        def use(_):
            for _ in range(ROUNDS):
                with kept, gpubound.operation("literal"), gpubound.layer("wait", "reason"):
                    self.assertEqual(_core.depth(), 3)
            self.assertEqual(_core.depth(), 0)
        in_threads(use)
        calls = self.counts()
        for name in ("operation kept", "operation literal", "layer(2) reason"):
            self.assertEqual(calls[f"begin {name}"], THREADS * ROUNDS)
            self.assertEqual(calls[f"end {name}"], THREADS * ROUNDS)

    def test_scopes_that_nobody_keeps_come_and_go(self):
        def use(index):
            for number in range(ROUNDS):
                with gpubound.operation(f"{index} {number} " + "x" * 600):
                    pass
        in_threads(use)
        self.assertEqual(sum(self.counts().values()), 2 * THREADS * ROUNDS)

    def test_decorated_generators_and_coroutines_are_their_threads_own(self):
        @gpubound.operation("generator")
        def generate():
            for number in range(10):
                yield number

        @gpubound.operation("coroutine")
        async def wait():
            await asyncio.sleep(0)
            self.assertEqual(_core.depth(), 1)
            return 3

        def use(_):
            self.assertEqual(sum(generate()), 45)
            self.assertEqual(asyncio.run(wait()), 3)
            self.assertEqual(_core.depth(), 0)
        in_threads(use)


class EventTest(ThreadsTest):
    def test_no_iteration_has_the_number_of_another(self):
        gpubound.step(0)
        take()
        in_threads(lambda _: [gpubound.step() for _ in range(10 * ROUNDS)])
        self.assertEqual(self.counts(), {f"step {number}": 1
                                         for number in range(1, 10 * THREADS * ROUNDS + 1)})

    def test_counters_and_notes_of_all_threads_arrive(self):
        def use(index):
            for number in range(ROUNDS):
                gpubound.counter(f"counter {number}", index)
                gpubound.metadata({"thread": index})
        in_threads(use)
        self.assertEqual(sum(self.counts().values()), 2 * THREADS * ROUNDS)


class WrapperTest(ThreadsTest):
    def test_a_wrapper_is_called_copied_and_let_go_by_all(self):
        label = gpubound.layer("simulator", "shared").label
        shared = _core.wrap(lambda value: value + 1, label, False)
        held = types.SimpleNamespace()

        def use(index):
            for _ in range(ROUNDS):
                held.call = _core.wrap(shared, label, False)
                self.assertEqual(held.call(index), index + 1)
                self.assertEqual(shared(index), index + 1)
        in_threads(use)
        self.assert_counts(**{"layer(4)_shared": 3 * THREADS * ROUNDS})

    def test_who_intercepts_at_the_same_time_wraps_once(self):
        for _ in range(ROUNDS):
            module = types.ModuleType("sample")
            module.measure = len
            interceptions = in_threads(lambda _, module=module: gpubound.intercept(
                module, layer="backend"), 2)
            take()
            self.assertEqual(module.measure("ab"), 2)
            self.assert_counts(**{"layer(5)_sample.measure": 1})
            in_threads(lambda index, interceptions=interceptions: interceptions[index].restore(), 2)
            self.assertIs(module.measure, len)

    def test_an_interception_is_restored_once(self):
        for _ in range(ROUNDS):
            module = types.ModuleType("sample")
            names = [f"f{number}" for number in range(10)]
            vars(module).update(dict.fromkeys(names, len))
            interception = gpubound.intercept(module, layer="backend", names=names)
            in_threads(lambda _, interception=interception: interception.restore())
            self.assertEqual([vars(module)[name] for name in names], [len] * 10)
            self.assertEqual(len(interception), 0)


class HookTest(ThreadsTest):
    def test_each_thread_has_its_own_innermost_hook(self):
        label = gpubound.operation("hooked").label
        inner = _core.hook(lambda: None, label, False, 0, False, None, False)
        outer = _core.hook(inner, label, False, 0, False, None, False)
        in_threads(lambda _: [(inner(), outer()) for _ in range(ROUNDS)])
        self.assert_counts(operation_hooked=2 * THREADS * ROUNDS)

    def test_each_thread_has_its_own_outermost_wait(self):
        inner = _waits.watch(lambda: None, "inner", False, {"layer": "wait"})
        outer = _waits.watch(inner, "outer", False, {"layer": "wait"})
        in_threads(lambda _: [(inner(), outer()) for _ in range(ROUNDS)])
        self.assert_counts(**{"layer(2)_inner": THREADS * ROUNDS, "layer(2)_outer": THREADS * ROUNDS})

    def test_classes_derived_while_their_base_is_hooked_are_hooked(self):
        for _ in range(ROUNDS):
            module = types.ModuleType("sample")
            exec("class Env:\n  def step(self): pass", vars(module))
            library = _hooks.Library({
                "library": "python", "versions": ">=3", "hooks": [
                    {"module": "sample", "class": "Env", "names": ["step"], "subclasses": True,
                     "operation": "simulation"}]})

            def derive(index, module=module, library=library):
                if index == 0:
                    return library.install(module)
                return type("Own", (module.Env,), {"step": lambda self: None})
            derived = in_threads(derive, 3)[1:]
            take()
            for cls in derived:
                cls().step()
            self.assert_counts(operation_simulation=2)

    def test_one_thread_has_the_loop(self):
        self.addCleanup(_loop.forget_in_fork_child)
        for _ in range(ROUNDS):
            _loop.forget_in_fork_child()

            def collect(_):
                _loop.enter_rollout()
                _loop._loop.leave(threading.get_ident())
            in_threads(collect)
            self.assert_counts(**{"operation_stage:rollout": 1})

    def test_each_turn_that_begins_ends_once(self):
        def turn(_):
            for _ in range(ROUNDS):
                _loop.begin_iteration()
        in_threads(turn)
        in_threads(lambda _: _loop.end_iterations())
        counts = self.counts()
        self.assertGreaterEqual(counts.pop("iterations begin"), 1)  # more where threads begin the loop at once
        self.assertEqual(sum(counts.values()), THREADS * ROUNDS)

    def test_who_imports_while_modules_are_looked_at_again_sees_no_error(self):
        for _ in range(ROUNDS):
            finder = _startup.Finder(contextlib.nullcontext)
            told = []
            modules = [types.ModuleType(f"gpubound_sample_{number}") for number in range(10)]
            for module in modules:
                module.__spec__ = types.SimpleNamespace(_initializing=True)
                sys.modules[module.__name__] = module
                self.addCleanup(sys.modules.pop, module.__name__, None)
                finder.when_imported(module.__name__, told.append)
            for module in modules:
                module.__spec__._initializing = False
            in_threads(lambda _, finder=finder: finder.find_spec("gpubound_nothing"))
            self.assertEqual(sorted(map(id, told)), sorted(map(id, modules)))


class ChannelTest(ThreadsTest):
    def setUp(self):
        super().setUp()
        self.write = _waits.watch(lambda connection: None, "write", False, {"channel": "written"})
        self.read = _waits.watch(lambda connection: None, "read", False,
                                 {"layer": "wait", "peer": "connection"})
        self.make = _waits.watch(lambda connection: None, "make", False, {"channel": "made"})

    def test_an_end_that_all_use_is_announced_once(self):
        for _ in range(ROUNDS):
            end, other = socket.socketpair()
            connection = types.SimpleNamespace(_handle=end.fileno())
            self.make(connection)
            take()
            in_threads(lambda index, connection=connection: (
                self.read if index % 2 else self.write)(connection))
            name = os.readlink(f"/proc/self/fd/{end.fileno()}")
            end.close()
            other.close()
            calls = self.counts()
            self.assertEqual(calls.pop(f"fact channel holder:{os.getpid()} {name}"), 1)
            self.assertEqual(calls, {f"begin layer(2) channel:{name}": THREADS // 2,
                                     f"end layer(2) channel:{name}": THREADS // 2})


if sys.version_info >= (3, 14):
    from concurrent import interpreters

    class InterpreterTest(ThreadsTest):
        def test_interpreters_of_one_process_record_side_by_side(self):
            program = (f"import gpubound\nfor number in range({ROUNDS}):\n"
                       "  with gpubound.operation(f'name {number}'): gpubound.step()\n")
            gpubound.step(0)
            take()

            def use(_):
                interpreter = interpreters.create()
                interpreter.exec(program)
                interpreter.close()
            in_threads(use, 4)
            calls = self.counts()
            for number in range(ROUNDS):
                self.assertEqual(calls[f"begin operation name {number}"], 4)
                self.assertEqual(calls[f"end operation name {number}"], 4)
            for number in range(1, 4 * ROUNDS + 1):
                self.assertEqual(calls[f"step {number}"], 1)


class GlobalLockTest(unittest.TestCase):
    def test_importing_the_package_does_not_switch_the_lock_on(self):
        asked = "getattr(sys, '_is_gil_enabled', lambda: True)()"
        done = subprocess.run([sys.executable, "-B", "-W", "error", "-c",
                               f"import sys; before = {asked}\n"
                               "import gpubound, gpubound._startup\n"
                               f"print(before, {asked})"],
                              capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        before, after = done.stdout.split()
        self.assertEqual(before, after)


if __name__ == "__main__":
    unittest.main()
