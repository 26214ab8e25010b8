# SPDX-License-Identifier: Apache-2.0
"""Calls of the standard library that block, in programs that know nothing of gpubound: each is one wait
and returns what it did before."""
import os
import pathlib
import subprocess
import sys
import unittest

import gpubound

STARTUP = pathlib.Path(gpubound.__file__).parent / "startup"
HERE = pathlib.Path(__file__).parent


class BlockingCallTest(unittest.TestCase):
    def calls_of(self, program, before=""):
        """What the collector is told by `program`, without what its preparation `before` tells."""
        text = (f"{before}\nimport multiprocessing, os, select, socket, sys\n"
                f"sys.path.append({str(HERE)!r})\nimport recorded\n"
                f"def started(code):\n  pid = os.fork()\n  return pid or os._exit(code)\n"
                f"recorded.take()\n{program}\nprint(*recorded.take(), sep='\\n')\n")
        done = subprocess.run([sys.executable, "-B", "-W", "ignore", "-c", text],
                              env={**os.environ, "PYTHONPATH": str(STARTUP)}, text=True,
                              capture_output=True, check=False, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        calls = done.stdout.splitlines()
        self.assertEqual([call for call in calls if "hooks_failed" in call], [])
        return calls

    def waits_of(self, program, before=""):
        """The waits of `program`, each begun and ended, without those of its preparation."""
        calls = self.calls_of(program, before)
        begun = [call[len("begin layer(2) "):] for call in calls if call.startswith("begin layer(2)")]
        ended = [call[len("end layer(2) "):] for call in calls if call.startswith("end layer(2)")]
        self.assertEqual(begun, ended)
        return begun

    def test_waiting_for_any_child(self):
        self.assertEqual(self.waits_of("assert os.wait() == (pid, 3 << 8)", "import os\n"
                                       "pid = os.fork() or os._exit(3)"), ["os.wait"])

    def test_waiting_for_a_child_with_its_usage(self):
        waits = self.waits_of("pid = started(3)\nassert os.wait4(pid, 0)[:2] == (pid, 3 << 8)\n"
                              "assert str(pid) in recorded.take()[0]\nos.wait4(started(0), 0)")
        self.assertEqual([wait.partition("[")[0] for wait in waits], ["channel:process:"])

    def test_a_shell_command(self):
        self.assertEqual(self.waits_of("assert os.system('exit 3') == 3 << 8"), ["os.system"])

    def test_reading_a_descriptor(self):
        self.assertEqual(self.waits_of("r, w = os.pipe()\nos.write(w, b'xy')\n"
                                       "assert os.read(r, 9) == b'xy'"), ["os.read"])

    if sys.version_info >= (3, 14):
        def test_reading_a_descriptor_into_a_buffer(self):
            self.assertEqual(self.waits_of("r, w = os.pipe()\nos.write(w, b'xy')\n"
                                           "assert os.readinto(r, bytearray(9)) == 2"),
                             ["os.readinto"])

    def test_polling_descriptors(self):
        self.assertEqual(self.waits_of(
            "r, w = os.pipe()\nos.write(w, b'x')\npoll = select.epoll()\npoll.register(r)\n"
            "assert poll.poll() == [(r, select.EPOLLIN)]"), ["epoll.poll"])

    def test_sockets(self):
        self.assertEqual(self.waits_of(
            "a, b = socket.socketpair()\na.sendall(b'xyz')\nbuffer = bytearray(1)\n"
            "assert b.recv(1) == b'x' and b.recv_into(buffer) == 1 and buffer == b'y'\n"
            "assert b.makefile('rb').read(1) == b'z'"),
            ["socket.recv", "socket.recv_into", "socket.recv_into"])

    def test_sockets_that_bring_descriptors_or_addresses(self):
        self.assertEqual(self.waits_of(
            "a, b = socket.socketpair()\na.sendall(b'xyz')\nbuffer = bytearray(1)\n"
            "assert b.recvmsg(1, 64)[0] == b'x' and b.recvfrom(1)[0] == b'y'\n"
            "assert b.recvmsg_into([buffer])[0] == 1 and buffer == b'z'"),
            ["socket.recvmsg", "socket.recvfrom", "socket.recvmsg_into"])

    def test_connections_over_a_network(self):
        self.assertEqual(self.waits_of(
            "server = socket.create_server(('127.0.0.1', 0))\nclient = socket.socket()\n"
            "client.connect(server.getsockname())\n"
            "assert server.accept()[1] == client.getsockname()"), ["socket.connect", "socket.accept"])

    def test_what_a_handler_of_a_signal_does_in_a_wait_is_none(self):
        calls = self.calls_of(
            "def save(*_): gpubound.phase('saved'); os.read(r, 1)\n"
            "signal.signal(signal.SIGALRM, save)\nsignal.setitimer(signal.ITIMER_REAL, 0.01)\n"
            "time.sleep(1)", "import gpubound, signal, time, os\nr, w = os.pipe()\nos.write(w, b'x')")
        self.assertEqual([call.replace("layer(2)", "wait").replace("layer(1)", "python") for call in calls], [
            "begin wait time.sleep", "begin python signal handler", "phase saved", "begin wait os.read",
            "end wait os.read", "end python signal handler", "end wait time.sleep"])

    def test_a_program_is_given_back_the_handlers_of_signals_that_it_set(self):
        self.waits_of(
            "def one(*_): raise OSError\ndef other(*_): pass\nalarm = signal.SIGALRM\n"
            "assert signal.signal(alarm, one) is signal.SIG_DFL and signal.getsignal(alarm) is one\n"
            "assert signal.signal(alarm, handler=other) is one and signal.getsignal(14) is other\n"
            "assert signal.signal(alarm, signal.SIG_IGN) is other\n"
            "assert signal.getsignal(alarm) is signal.SIG_IGN\n"
            "interrupt = signal.getsignal(signal.SIGINT)\nassert interrupt is signal.default_int_handler\n"
            "assert signal.signal(signal.SIGINT, interrupt) is interrupt is signal.getsignal(signal.SIGINT)\n"
            "try: signal.signal(999, one)\nexcept ValueError: pass\n"
            "signal.signal(alarm, one)\n"
            "try: signal.raise_signal(alarm)\nexcept OSError: pass\nelse: assert False\n", "import signal")

    def test_locks_between_processes(self):
        self.assertEqual(self.waits_of(
            "lock = multiprocessing.Lock()\nassert lock.acquire()\n"
            "assert not lock.acquire(False) and not lock.acquire(block=False)\nlock.release()\n"
            "with lock: pass\nassert multiprocessing.Semaphore(1).acquire(timeout=1)"),
            ["SemLock.acquire", "SemLock.__enter__", "SemLock.acquire"])

    def test_what_the_script_imported_by_name_before(self):
        self.assertEqual(self.waits_of("nap(0)\nassert nap.__name__ == 'sleep'",
                                       "from time import sleep as nap"), ["time.sleep"])


if __name__ == "__main__":
    unittest.main()
