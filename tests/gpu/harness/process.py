# SPDX-License-Identifier: Apache-2.0
"""Runs one command under a deadline. One that hangs is killed with all that it started, and what its
threads were doing is kept."""
import dataclasses
import os
import pathlib
import signal
import subprocess
import time


@dataclasses.dataclass
class Outcome:
    command: list
    status: int  # 128 + n when signal n ended it
    out: str
    err: str
    seconds: float
    hung: bool
    stacks: str

    def describe(self):
        words = " ".join(str(word) for word in self.command)
        text = f"{words}: status {self.status} after {self.seconds:.1f} s"
        if self.hung:
            text = f"{words}: still running after {self.seconds:.1f} s\n{self.stacks}"
        return f"{text}; stderr: {self.err[-1500:].strip()}"


def _read(path):
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return "?"


def _stacks(group):
    """Where each thread of the process group |group| waits, as far as /proc tells."""
    lines = []
    for process in pathlib.Path("/proc").iterdir():
        if not process.name.isdigit():
            continue
        try:
            if os.getpgid(int(process.name)) != group:
                continue
        except OSError:
            continue
        for task in sorted((process / "task").iterdir()):
            lines.append(f"  {process.name}/{task.name} {_read(task / 'comm')}: "
                         f"{_read(task / 'wchan')} {_read(task / 'syscall')[:60]}")
            lines.extend(f"    {line}" for line in _read(task / "stack").splitlines()[:8])
    return "\n".join(lines)


def run(command, variables, timeout_s, folder):
    """Runs |command| with exactly the environment |variables|, in |folder|."""
    begin = time.monotonic()
    child = subprocess.Popen([str(word) for word in command], env=variables, cwd=folder, text=True,
                             errors="replace", stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             start_new_session=True)
    hung, stacks = False, ""
    try:
        out, err = child.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        hung, stacks = True, _stacks(child.pid)
        os.killpg(child.pid, signal.SIGKILL)
        out, err = child.communicate()
    except BaseException:  # the part is at its end: nothing of it goes on beside the next one
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        raise
    status = child.returncode if child.returncode >= 0 else 128 - child.returncode
    return Outcome(list(command), status, out, err, time.monotonic() - begin, hung, stacks)
