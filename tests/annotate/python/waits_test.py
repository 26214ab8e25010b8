# SPDX-License-Identifier: Apache-2.0
"""What is said of connections and of those who are waited for. Runs in a process of its own, in which
the hooks of multiprocessing are installed for good."""
import inspect
import multiprocessing.connection
import multiprocessing.pool
import os
import pathlib
import pickle
import queue
import subprocess
import sys
import threading
import types
import unittest

import recorded
from gpubound import _core, _hooks, _waits


def setUpModule():
    folder = pathlib.Path(_hooks.__file__).parent / "hooks"
    for library in _hooks.load_libraries(str(folder)):
        for name in set(library.modules):
            if name in sys.modules and name.partition(".")[0] == "multiprocessing":
                library.install(sys.modules[name])


def name_of(connection):
    """As /proc/self/fd spells it."""
    return os.readlink(f"/proc/self/fd/{connection.fileno()}")


def in_wait(words):
    return [f"begin layer(2) channel:{words}", f"end layer(2) channel:{words}"]


def holder(connection):
    return f"fact channel holder:{os.getpid()} {name_of(connection)}"


class ConnectionTest(recorded.RecordedTest):
    def setUp(self):
        super().setUp()
        self.ours, self.theirs = self.pipe()

    def pipe(self, duplex=True):
        ends = multiprocessing.connection.Pipe(duplex)
        for end in ends:
            self.addCleanup(end.close)
        return ends

    def exchange(self):
        self.theirs.send("x")
        self.assertEqual(self.ours.recv(), "x")

    def test_a_pair_says_which_ends_belong_together(self):
        self.assert_recorded(f"fact channel ends:{name_of(self.ours)} {name_of(self.theirs)}")

    def test_of_a_one_way_pipe_there_is_nothing_to_tell(self):
        recorded.take()
        reader, writer = self.pipe(duplex=False)
        self.assertEqual(name_of(reader), name_of(writer))
        self.assert_recorded()

    def test_to_receive_is_to_wait_on_ones_own_end(self):
        recorded.take()
        self.exchange()
        self.assert_recorded(holder(self.theirs), holder(self.ours), *in_wait(name_of(self.ours)))

    def test_an_end_is_announced_once(self):
        self.exchange()
        recorded.take()
        self.exchange()
        self.assert_recorded(*in_wait(name_of(self.ours)))

    def test_who_reads_from_a_pipe_is_not_who_is_waited_for(self):
        reader, writer = self.pipe(duplex=False)
        recorded.take()
        writer.send("x")
        reader.recv()
        self.assert_recorded(holder(writer), *in_wait(name_of(reader)))

    def test_a_fork_child_announces_itself(self):
        self.exchange()
        child = os.fork()
        if child == 0:
            _core.after_fork_in_child()
            recorded.take()
            self.exchange()
            told = recorded.take()
            expected = [holder(self.theirs), holder(self.ours), *in_wait(name_of(self.ours))]
            os._exit(0 if told == expected else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)

    def test_a_descriptor_that_is_used_again_is_looked_at_again(self):
        self.exchange()
        before = name_of(self.ours), self.ours.fileno()
        self.ours.close()
        self.theirs.close()
        self.ours, self.theirs = self.pipe()
        self.assertNotEqual(name_of(self.ours), before[0])
        self.assertEqual(self.ours.fileno(), before[1])
        recorded.take()
        self.exchange()
        self.assert_recorded(holder(self.theirs), holder(self.ours), *in_wait(name_of(self.ours)))

    def test_a_poll_is_one_wait_whatever_it_is_made_of(self):
        self.theirs.send("x")
        recorded.take()
        self.assertTrue(self.ours.poll(1))
        self.assert_recorded(holder(self.ours), *in_wait(name_of(self.ours)))

    def test_of_a_socket_that_was_connected_by_a_name_it_is_known_who_did_and_who_listened(self):
        listener = multiprocessing.connection.Listener(family="AF_UNIX")
        self.addCleanup(listener.close)
        child = os.fork()
        if child == 0:
            _core.after_fork_in_child()
            connection = multiprocessing.connection.Client(listener.address)
            recorded.take()
            connection.recv()
            told = recorded.take()
            connection.send("x")
            os._exit(0 if told == in_wait(f"process:[{os.getppid()}]") else 1)
        connection = listener.accept()
        self.addCleanup(connection.close)
        recorded.take()
        connection.send("x")
        connection.recv()
        self.assert_recorded(*in_wait(f"process:[{child}]"))
        self.assertEqual(os.waitpid(child, 0)[1], 0)

    def test_a_process_that_is_connected_to_itself_waits_for_nobody_else(self):
        listener = multiprocessing.connection.Listener(family="AF_UNIX")
        self.addCleanup(listener.close)
        client = multiprocessing.connection.Client(listener.address)
        self.addCleanup(client.close)
        with listener.accept() as connection:
            connection.send("x")
        recorded.take()
        client.recv()
        self.assert_recorded(holder(client), *in_wait(name_of(client)))

    def test_an_error_ends_the_wait(self):
        self.theirs.close()
        recorded.take()
        with self.assertRaises(EOFError):
            self.ours.recv()
        self.assert_recorded(holder(self.ours), *in_wait(name_of(self.ours)))

    def test_a_closed_connection_raises_as_before(self):
        self.ours.close()
        recorded.take()
        with self.assertRaisesRegex(OSError, "handle is closed"):
            self.ours.recv()
        self.assert_recorded()

    def test_a_wait_for_several_names_all(self):
        others = self.pipe()
        self.theirs.send("x")
        recorded.take()
        ready = multiprocessing.connection.wait([others[0], self.ours])
        self.assertEqual(ready, [self.ours])
        self.assert_recorded(*in_wait(" ".join(sorted([name_of(others[0]), name_of(self.ours)]))))

    def test_an_iterator_is_the_programs_to_consume(self):
        self.theirs.send("x")
        recorded.take()
        self.assertEqual(multiprocessing.connection.wait(iter([self.ours])), [self.ours])
        self.assert_recorded("begin layer(2) multiprocessing.connection.wait",
                             "end layer(2) multiprocessing.connection.wait")

    def test_more_than_fits_into_a_name_has_none(self):
        self.theirs.send("x")
        many = [self.pipe()[0] for _ in range(200)]
        recorded.take()
        self.assertEqual(multiprocessing.connection.wait([self.ours, *many]), [self.ours])
        self.assert_recorded("ledger waits_unnamed 1 ",
                             "begin layer(2) multiprocessing.connection.wait",
                             "end layer(2) multiprocessing.connection.wait")

    def test_wrapped_functions_are_what_they_were(self):
        pipe = multiprocessing.connection.Pipe
        self.assertEqual(str(inspect.signature(pipe)), "(duplex=True)")
        self.assertIs(pickle.loads(pickle.dumps(pipe)), pipe)


class PeerTest(recorded.RecordedTest):
    def watch(self, function, peer):
        return _waits.watch(function, "f", False, {"layer": "wait", "peer": peer})

    def test_a_process_that_is_joined_is_named(self):
        process = types.SimpleNamespace(pid=17)
        self.watch(lambda process: None, "process")(process)
        self.assert_recorded(*in_wait("process:[17]"))

    def test_a_process_that_was_never_started_has_no_name(self):
        self.watch(lambda process: None, "process")(types.SimpleNamespace(pid=None))
        self.assert_recorded("begin layer(2) f", "end layer(2) f")

    def test_what_cannot_be_found_out_is_a_wait_without_a_name(self):
        self.assertEqual(self.watch(lambda process: 3, "process")(object()), 3)
        self.assert_recorded("begin layer(2) f", "end layer(2) f")

    def test_to_ask_whether_a_child_has_ended_is_no_wait(self):
        waitpid = self.watch(lambda pid, options: pid, "pid")
        waitpid(17, os.WNOHANG)
        self.assert_recorded()
        waitpid(17, 0)
        self.assert_recorded(*in_wait("process:[17]"))
        waitpid(-1, 0)
        self.assert_recorded("begin layer(2) f", "end layer(2) f")

    def test_of_nested_waits_the_outermost_knows_for_whom(self):
        inner = _waits.watch(lambda: None, "inner", False, {"layer": "wait"})
        self.watch(lambda process: inner(), "process")(types.SimpleNamespace(pid=17))
        self.assert_recorded(*in_wait("process:[17]"))
        inner()
        self.assert_recorded("begin layer(2) inner", "end layer(2) inner")

    def test_another_threads_wait_is_its_own(self):
        inner = _waits.watch(lambda: None, "inner", False, {"layer": "wait"})

        def start_and_join(_):
            thread = threading.Thread(target=inner)
            thread.start()
            thread.join()
        self.watch(start_and_join, "process")(types.SimpleNamespace(pid=17))
        begin, end = in_wait("process:[17]")
        self.assert_recorded(begin, "begin layer(2) inner", "end layer(2) inner", end)

    def test_a_pool_names_its_workers(self):
        workers = [types.SimpleNamespace(pid=pid) for pid in (9, 8)]
        result = types.SimpleNamespace(_pool=types.SimpleNamespace(_pool=workers))
        self.watch(lambda result: None, "pool")(result)
        self.assert_recorded(*in_wait("process:[8] process:[9]"))

    def test_a_pool_of_threads_has_no_processes(self):
        with multiprocessing.pool.ThreadPool(1) as pool:
            recorded.take()
            pool.map(abs, [1])
        self.assertFalse([call for call in recorded.take() if "process:[" in call])

    def test_the_thread_that_hands_out_a_pools_tasks_waits_for_them(self):
        tasks, outputs, inputs = (queue.SimpleQueue() for _ in range(3))
        tasks.put(([], None))
        tasks.put(None)
        recorded.take()
        multiprocessing.pool.Pool._handle_tasks(tasks, inputs.put, outputs, [None], {})
        wait = ["begin layer(2) Pool._handle_tasks", "end layer(2) Pool._handle_tasks"]
        self.assert_recorded(*wait, *wait)
        self.assertEqual((inputs.get_nowait(), outputs.get_nowait()), (None, None))

    def test_roles_are_checked(self):
        with self.assertRaisesRegex(ValueError, "no such role"):
            _core.watch(len, 1, False, 99, None)
        with self.assertRaises(TypeError):
            _core.note_channel_ends(1)


class HelperTest(unittest.TestCase):
    """What multiprocessing starts beside a program, told by its command."""

    def run_python(self, program):
        startup = pathlib.Path(_hooks.__file__).parent / "startup"
        done = subprocess.run([sys.executable, "-B", "-W", "ignore", "-c", program],
                              env={**os.environ, "PYTHONPATH": str(startup)},
                              capture_output=True, text=True, check=True, timeout=60)
        self.assertEqual(done.stderr, "")
        return done.stdout

    def test_a_program_that_imports_multiprocessing_is_hooked(self):
        self.assertEqual(self.run_python("import multiprocessing.connection, sys\n"
                                         "print('gpubound' in sys.modules)"), "True\n")

    def test_the_resource_tracker_is_left_alone(self):
        for command in ("from multiprocessing.resource_tracker import main\n",
                        "if False: from joblib.externals.loky.backend.resource_tracker import main\n"
                        "import multiprocessing.connection\n"):
            self.assertEqual(self.run_python(f"{command}import sys; print('gpubound' in sys.modules)"),
                             "False\n")

    def test_of_a_fork_server_only_the_children_are_hooked(self):
        self.assertEqual(self.run_python(
            "from multiprocessing.forkserver import main\n"
            "import multiprocessing.connection as connection, os, sys\n"
            "print('gpubound' in sys.modules, flush=True)\n"
            "if os.fork() == 0:\n"
            "    print(type(connection.Pipe).__name__, flush=True)\n"
            "    os._exit(0)\n"
            "os.wait()"), "False\nFunctionWrapper\n")

    def test_a_fork_server_may_import_the_package_for_its_children(self):
        """As it does where the program's main module imports it."""
        self.assertEqual(self.run_python(
            "from multiprocessing.forkserver import main\n"
            "import gpubound, multiprocessing.connection as connection, os\n"
            "print(type(connection.Pipe).__name__, flush=True)\n"
            "if os.fork() == 0:\n"
            "    print(type(connection.Pipe).__name__, flush=True)\n"
            "    os._exit(0)\n"
            "os.wait()"), "function\nFunctionWrapper\n")


if __name__ == "__main__":
    unittest.main()
