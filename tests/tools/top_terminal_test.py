#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`gpubound top` in a terminal: top_terminal_test.py GPUBOUND EXAMPLE_RUN. EXAMPLE_RUN writes a run.
However it ends, the terminal is what it was before."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import unittest

GPUBOUND, EXAMPLE_RUN = sys.argv[1], sys.argv[2]
ENTERED = b"\x1b[?1049h\x1b[?25l"
LEFT = b"\x1b[?25h\x1b[?1049l"
END_OF_FRAME = b"\x1b[J"
SEQUENCE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Terminal:
    """A terminal of 80 columns with the command in it."""

    def __init__(self, *words, columns=80, **variables):
        self.ours, self.theirs = pty.openpty()
        fcntl.ioctl(self.theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self.before = termios.tcgetattr(self.theirs)
        environment = {**os.environ, "TERM": "xterm", "LC_ALL": "C.UTF-8", **variables}
        if "NO_COLOR" not in variables:
            environment.pop("NO_COLOR", None)
        environment.pop("COLUMNS", None)
        self.program = subprocess.Popen(
            [GPUBOUND, "top", *words], stdin=self.theirs, stdout=self.theirs, stderr=self.theirs,
            env=environment, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        self.shown = b""

    def read_until(self, mark, times=1):
        """Until |mark| has been shown so often, or the program has ended without."""
        while self.shown.count(mark) < times:
            ended = self.program.poll() is not None
            if select.select([self.ours], [], [], 0 if ended else 0.1)[0]:
                self.shown += os.read(self.ours, 65536)
            elif ended:
                raise AssertionError(f"ended before {mark} was shown: {self.shown[-200:]}")

    def press(self, key):
        os.write(self.ours, key)

    def finish(self):
        """The exit status, once everything that was written has been read."""
        self.read_until(LEFT)
        status = self.program.wait()
        while select.select([self.ours], [], [], 0)[0]:
            self.shown += os.read(self.ours, 65536)
        return status

    def after(self):
        return termios.tcgetattr(self.theirs)

    def close(self):
        if self.program.poll() is None:
            self.program.kill()
            self.program.wait()
        os.close(self.ours)
        os.close(self.theirs)


class Top(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.run_path = os.path.join(self.folder.name, "example.gpubound")
        subprocess.run([EXAMPLE_RUN, self.run_path], check=True)

    def terminal(self, **variables):
        terminal = Terminal(self.run_path, **variables)
        self.addCleanup(terminal.close)
        terminal.read_until(END_OF_FRAME)
        return terminal

    def expect_restored(self, terminal):
        self.assertEqual(terminal.finish(), 0)
        self.assertTrue(terminal.shown.startswith(ENTERED), terminal.shown[:40])
        self.assertTrue(terminal.shown.endswith(LEFT), terminal.shown[-40:])
        self.assertEqual(terminal.after(), terminal.before)

    def test_keys_are_taken_as_they_are_pressed_and_not_shown(self):
        terminal = self.terminal()
        flags = terminal.after()[3]
        self.assertFalse(flags & (termios.ICANON | termios.ECHO))
        self.assertTrue(flags & termios.ISIG)

    def test_q_ends_it_and_the_terminal_is_as_before(self):
        terminal = self.terminal()
        terminal.press(b"q")
        self.expect_restored(terminal)

    def test_control_c_ends_it_and_the_terminal_is_as_before(self):
        terminal = self.terminal()
        terminal.press(b"\x03")
        self.expect_restored(terminal)

    def test_control_d_ends_it_and_the_terminal_is_as_before(self):
        terminal = self.terminal()
        terminal.press(b"\x04")
        self.expect_restored(terminal)

    def test_signals_end_it_and_the_terminal_is_as_before(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number):
                terminal = self.terminal()
                terminal.program.send_signal(number)
                self.expect_restored(terminal)

    def test_any_other_key_changes_nothing(self):
        terminal = self.terminal()
        terminal.press(b"x")
        terminal.read_until(END_OF_FRAME, times=3)  # a second later it is still there
        terminal.press(b"q")
        self.assertEqual(terminal.finish(), 0)

    def test_no_line_is_wider_than_80_columns(self):
        frame = SEQUENCE.sub("", self.terminal().shown.decode())
        self.assertIn("GPU busy", frame)
        self.assertLessEqual(max(len(line) for line in frame.splitlines()), 80)

    def test_a_narrow_terminal_is_not_filled_beyond_its_width(self):
        terminal = Terminal(self.run_path, columns=60)
        self.addCleanup(terminal.close)
        terminal.read_until(END_OF_FRAME)
        frame = SEQUENCE.sub("", terminal.shown.decode())
        self.assertLessEqual(max(len(line) for line in frame.splitlines()), 60)

    def test_no_color_is_obeyed(self):
        shown = self.terminal(NO_COLOR="1").shown
        self.assertNotRegex(shown, rb"\x1b\[[0-9;]+m")

    def test_without_a_terminal_it_looks_once_and_ends(self):
        done = subprocess.run([GPUBOUND, "top", self.run_path], capture_output=True, check=True,
                              env={**os.environ, "COLUMNS": "80"})
        self.assertNotIn(b"\x1b", done.stdout)
        self.assertLessEqual(max(len(line) for line in done.stdout.decode().splitlines()), 80)

    def test_a_run_that_cannot_be_read_leaves_the_terminal_as_it_was(self):
        terminal = Terminal(os.path.join(self.folder.name, "none.gpubound"))
        self.addCleanup(terminal.close)
        self.assertEqual(terminal.finish(), 3)
        self.assertIn(b"none.gpubound", terminal.shown)
        self.assertEqual(terminal.after(), terminal.before)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
