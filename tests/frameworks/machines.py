# SPDX-License-Identifier: Apache-2.0
"""Machines on this one, for tests: each has a host name, processes, mounts and a network of its own, whose one way out
is a link to an exchange (examples/studies/programs/links.py). Nothing listens on an address that two of them share. A
link can be slow, or cut. Needs to be root.

As a program: `machines.py RANK SOCKET CMD...` runs CMD on the link of that rank."""
import contextlib
import os
import pathlib
import signal
import socket
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.append(str(ROOT / "examples" / "studies" / "programs"))

import links  # noqa: E402

# NAME HOSTS OWN CMD...: a machine of that name, with /etc/hosts, and OWN as a disk of its own. What ends is started
# again, as by a service manager. CMD's first word may be a shell's.
MACHINE = """
hostname "$1" && mount --bind "$2" /etc/hosts && mount -t tmpfs none "$3" && mount -t tmpfs none /dev/shm || exit
shift 3
while :; do "$@"; sleep 1; done
"""


MOST_SECONDS = 3000  # of a machine, whatever happens


class Machines:
    """`names`: of all machines, which reach each other by these. `folder` takes files of theirs; of its subfolder
    `own` each machine sees what it has there itself. Output goes to `log`."""

    def __init__(self, names, folder, log):
        self._names, self._log = names, log
        self.own = os.path.join(folder, "own")
        os.mkdir(self.own)
        self._hosts = os.path.join(folder, "hosts")
        with open(self._hosts, "w", encoding="ascii") as file:
            file.write("127.0.0.1 localhost\n")
            file.writelines(f"{links.address(rank)} {name}\n" for rank, name in enumerate(names))
        self._delays_ns = [0] * len(names)
        self._exchange = links.Exchange(self._delays_ns)
        self._processes, self._programs = {}, []
        ended, self._end = os.pipe()
        self._carrying = threading.Thread(target=self._exchange.carry, args=([ended],), daemon=True)

    def start(self, name, *command, **environment):
        """Call connect() when all have been started."""
        rank = self._names.index(name)
        end = self._exchange.end_of(rank).fileno()
        # One process ends them all: what is 1 in a PID namespace takes the others along.
        self._processes[name] = subprocess.Popen(
            [sys.executable, __file__, str(rank), str(end), "unshare", "--uts", "--mount", "--pid", "--fork",
             "--kill-child", "--mount-proc", "bash", "-c", MACHINE, "machine", name, self._hosts, self.own, *command],
            stdout=self._log, stderr=self._log, stdin=subprocess.DEVNULL, pass_fds=[end],
            env={**os.environ, **environment})

    def connect(self):
        self._carrying.start()

    def popen(self, name, *command, **environment):
        """A program on that machine, whose stdin and stdout are pipes of text."""
        program = subprocess.Popen(
            ["nsenter", "--target", self._first_of(self._processes[name]), "--uts", "--mount", "--pid", "--net",
             *command], env={**os.environ, **environment}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=self._log, text=True)
        self._programs.append(program)
        return program

    @staticmethod
    def _first_of(process):
        while process.poll() is None:
            with open(f"/proc/{process.pid}/task/{process.pid}/children", encoding="ascii") as file:
                children = file.read().split()
            if children:
                return children[0]
            time.sleep(0.1)
        raise OSError("the machine did not start")

    def slow(self, name, delay_ns):
        """What its link takes from now on, in each direction."""
        self._delays_ns[self._names.index(name)] = delay_ns

    def cut(self, name):
        """Nothing comes or goes from now on, and nobody is told."""
        self._exchange.cut.add(self._names.index(name))

    def kill(self, name):
        process = self._processes[name]
        process.kill()
        process.wait()

    def close(self):
        for name in self._processes:
            with contextlib.suppress(ProcessLookupError):
                self.kill(name)
        for program in self._programs:
            with contextlib.suppress(BrokenPipeError), program:
                program.kill()
        os.close(self._end)
        if self._carrying.is_alive():
            self._carrying.join(10)  # for ever where a machine did not start


if __name__ == "__main__":
    links.enter(int(sys.argv[1]), socket.socket(fileno=int(sys.argv[2])))
    signal.alarm(MOST_SECONDS)
    os.execvp(sys.argv[3], sys.argv[3:])
