# SPDX-License-Identifier: Apache-2.0
"""Programs that take turns: of several there is one that works at a time, the others are stopped by
SIGSTOP, so that whatever the machine does meanwhile meets all alike."""
import json
import os
import pathlib
import signal
import statistics
import subprocess
import tempfile
import threading
import time

from harness.process import Outcome

POLL_S = 0.0002
BACKWARD_THREAD = "pt_autograd"  # PyTorch's
PATIENCE_S = 0.02  # a thread within vfork() does not stop at once


class PausingProgram:
    """One that says, in a line of JSON with `paused_before` and its `pid`, that it stops itself; then and
    whenever it has no turn its whole process group is stopped."""

    def __init__(self, command, variables, folder):
        self.command = [str(word) for word in command]
        self.turns_ns = []  # begin and end of each
        self.pauses = 0
        self._pid = None  # the leader of the group may be what has started it
        self._lines = []
        self._began = time.monotonic()
        self._errors = tempfile.TemporaryFile("w+", errors="replace")
        self._child = subprocess.Popen(self.command, env=variables, cwd=folder, text=True, errors="replace",
                                       stdout=subprocess.PIPE, stderr=self._errors, start_new_session=True)
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self):
        for line in self._child.stdout:
            self._lines.append(line)
            if line.startswith("{") and "paused_before" in json.loads(line):
                self._pid = json.loads(line)["pid"]
                self.pauses += 1

    def wait_for_pause(self, number, timeout_s):
        """Until it has stopped itself for the |number|th time. False: it has ended, or takes too long."""
        deadline = time.monotonic() + timeout_s
        while self.pauses < number:
            if self._child.poll() is not None or time.monotonic() > deadline:
                return False
            time.sleep(0.01)
        self.stop()
        return True

    @property
    def has_ended(self):
        return self._child.poll() is not None

    def go_on(self):
        os.killpg(self._child.pid, signal.SIGCONT)

    def stop(self):
        """Returns when the program has stopped, or does not do so at once."""
        if self.has_ended:
            return
        os.killpg(self._child.pid, signal.SIGSTOP)
        deadline = time.monotonic() + PATIENCE_S
        while self._state() != "T" and time.monotonic() < deadline:
            time.sleep(POLL_S)

    def _state(self):
        try:
            text = pathlib.Path(f"/proc/{self._pid}/stat").read_text(encoding="utf-8", errors="replace")
        except OSError:
            return "T"  # it has ended
        return text.rpartition(")")[2].split()[0]

    def stay_on(self, processor):
        """Its main thread and those of the backward pass work on |processor| from here on, the others of
        the process where they like."""
        for task in pathlib.Path(f"/proc/{self._pid}/task").iterdir():
            try:
                name = (task / "comm").read_text(encoding="utf-8", errors="replace")
                if task.name == str(self._pid) or name.startswith(BACKWARD_THREAD):
                    os.sched_setaffinity(int(task.name), {processor})
            except OSError:
                pass  # the thread has ended

    def take_turn(self, seconds, pauses):
        """Works for |seconds|, or until it has paused for the |pauses|th time."""
        begin_ns = time.monotonic_ns()
        end = time.monotonic() + seconds
        self.go_on()
        while self.pauses < pauses and not self.has_ended and time.monotonic() < end:
            time.sleep(min(0.002, max(0, end - time.monotonic())))
        self.stop()
        self.turns_ns.append((begin_ns, time.monotonic_ns()))

    def worked_ns(self, begin_ns, end_ns):
        """How much of its turns lies between two instants."""
        return sum(max(0, min(end, end_ns) - max(begin, begin_ns)) for begin, end in self.turns_ns)

    def work_ns(self, begins_ns):
        """What each of the iterations between these begins took, without the time of others' turns."""
        return [self.worked_ns(begin, end) for begin, end in zip(begins_ns, begins_ns[1:])]

    def finish(self, timeout_s):
        """Lets it go on to its end."""
        if not self.has_ended:
            self.go_on()
        hung = False
        try:
            self._child.wait(timeout_s)
        except subprocess.TimeoutExpired:
            hung = True
        self.kill()
        self._errors.seek(0)
        status = self._child.returncode
        return Outcome(self.command, status if status >= 0 else 128 - status, "".join(self._lines),
                       self._errors.read(), time.monotonic() - self._began, hung, "")

    def kill(self):
        if not self.has_ended:
            os.killpg(self._child.pid, signal.SIGKILL)
            self._child.wait()
        self._reader.join()


def take_turns(programs, seconds, pauses, random, timeout_s):
    """Turns of |seconds|, give or take a quarter, in random order, until each of |programs| has paused for
    the |pauses|th time. False: that took too long, or one has ended. Each time round all are on the same
    processor, drawn anew: on a virtual machine some are two fifths slower than others, for seconds."""
    deadline = time.monotonic() + timeout_s
    processors = sorted(os.sched_getaffinity(0))
    while waiting := [one for one in programs if one.pauses < pauses]:
        if time.monotonic() > deadline or any(one.has_ended for one in waiting):
            return False
        processor = random.choice(processors)
        for one in random.sample(waiting, len(waiting)):
            one.stay_on(processor)
            one.take_turn(seconds * random.uniform(0.75, 1.25), pauses)
    return True


def compared(ones, others):
    """What processes of one kind did against those of another, and the standard error by what processes of a
    kind differ by."""
    ones, others = list(ones), list(others)
    ratio = statistics.fmean(ones) / statistics.fmean(others)
    error = sum(statistics.variance(these) / len(these) / statistics.fmean(these) ** 2
                for these in (ones, others)) ** 0.5
    return f"{ratio - 1:+.2%} +/- {ratio * error:.2%}"
