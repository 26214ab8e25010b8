# SPDX-License-Identifier: Apache-2.0
"""gpubound.cluster on Ray and on Dask: a head, three nodes and the machine of a user, each in namespaces of its own
(machines.py), so that each has an address and sees only its own files of the run. Needs to be root. Environment:
GPUBOUND_TEST_COMMAND, GPUBOUND_TEST_PACKAGE, GPUBOUND_TEST_DATA."""
import contextlib
import json
import os
import sys
import tempfile
import threading
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.environ["GPUBOUND_TEST_PACKAGE"], os.path.join(HERE, "..", "exports")]

import gpubound  # noqa: E402
from cluster_test import HOSTS, figures, make_run  # noqa: E402
from machines import Machines  # noqa: E402

BIN = os.path.dirname(sys.executable)
MS = 1_000_000
# RUN HERE CMD...: HERE has the files of RUN that this machine wrote.
KEEP = 'mkdir -p "$2" && cp "$1/$(hostname)".* "$2"; shift 2; exec "$@"'
# On every machine: does to a unit what the files of that folder ask for.
ORDERS = """
import os, signal, socket, time
from gpubound import _reader
make = _reader.part

def part(*arguments):
    order = os.path.join(os.environ["TEST_ORDERS"], socket.gethostname())
    if os.path.exists(order + ".kill"):
        os.remove(order + ".kill")
        os.kill(os.getpid(), signal.SIGKILL)
    if os.path.exists(order + ".hold"):
        os.rename(order + ".hold", order + ".held")
        while True:
            time.sleep(1)
    return make(*arguments)

_reader.part = part
"""
# ENGINE RUN SECONDS PLACE...: joins once all of these have, and makes a report for each line on stdin.
SESSION = """
import json, sys, time
from gpubound import _reader, cluster
engine, run, seconds, *places = sys.argv[1:]
end = time.monotonic() + float(seconds)
while True:
    try:
        executor = cluster._executor_for(engine)
        found = set(executor.places)
        if found >= set(places):
            break
        executor.shutdown()
    except (OSError, RuntimeError) as error:
        found = {str(error)}
    if time.monotonic() > end:
        sys.exit(f"found {found}")
    time.sleep(0.5)
print("joined", flush=True)
for line in sys.stdin:
    order = json.loads(line)
    if order.pop("twice", False):
        parts = [cluster.merged_parts(run, executor) for _ in range(2)]
        print(json.dumps(_reader.merge(parts + parts[:1]).hex()), flush=True)
    else:
        print(json.dumps(cluster.report(run, executor, **order)), flush=True)
executor.shutdown()
"""
# Of what is waited for, where the machine is busy.
LIMIT_S = 400


class EnginesTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = holder.name
        self.run_path = make_run(holder.name)
        self.whole = figures(gpubound.open(self.run_path).report(replay=False))
        os.mkdir(self.path("orders"))
        os.mkdir(self.path("site"))
        with open(self.path("site/sitecustomize.py"), "w", encoding="utf-8") as file:
            file.write(ORDERS)
        self.log = open(self.path("log"), "w+", encoding="utf-8", errors="replace")
        self.addCleanup(self.log.close)
        self.machines = Machines(["user", "head", *HOSTS], holder.name, self.log)
        self.addCleanup(self.machines.close)
        self.here = os.path.join(self.machines.own, "train.gpubound")
        self.environment = {
            "PATH": BIN + os.pathsep + os.environ["PATH"], "TEST_ORDERS": self.path("orders"),
            "PYTHONPATH": os.pathsep.join([self.path("site"), os.environ["GPUBOUND_TEST_PACKAGE"]])}

    def path(self, name):
        return os.path.join(self.folder, name)

    def start(self, engine, head, node, session=(), command=(), **environment):
        """A cluster, and a program on the user's machine that has joined it, which has `session` in its environment;
        commands there have `command`."""
        self.engine, self.of_commands = engine, dict(command)
        self.environment.update(environment)
        self.machines.start("user", "sleep", "infinity", **self.environment)
        self.machines.start("head", *head, **self.environment)
        for host in HOSTS:
            self.machines.start(host, "bash", "-c", KEEP, "keep", self.run_path, self.here, *node, **self.environment)
        self.machines.connect()
        self.session = self.machines.popen(
            "user", "python", "-c", SESSION, engine, self.here, str(LIMIT_S), *HOSTS,
            **{**self.environment, **dict(session)})
        if self.said() != "joined\n":
            self.log.seek(0)
            self.fail(f"no cluster: {self.log.read()[-9000:]}")

    @contextlib.contextmanager
    def limited(self):
        """What does not come to an end is ended with its machine, so that its output ends."""
        late = threading.Timer(LIMIT_S, self.machines.kill, ("user",))
        late.start()
        try:
            yield
        finally:
            late.cancel()

    def said(self):
        """The session's next line, empty where it has ended."""
        with self.limited():
            return self.session.stdout.readline()

    def in_session(self, **order):
        self.session.stdin.write(json.dumps(order) + "\n")
        self.session.stdin.flush()
        return json.loads(self.said())

    def by_command(self, times=1):
        words = [os.environ["GPUBOUND_TEST_COMMAND"], "report", self.here, "--json", "--on", self.engine]
        for _ in range(times):
            command = self.machines.popen("user", *words, **{**self.environment, **self.of_commands})
            with self.limited():
                said, _ = command.communicate()
            if command.returncode == 0:
                break
        self.assertEqual(command.returncode, 0)
        return json.loads(said)

    def order(self, host, what):
        with open(self.path(f"orders/{host}.{what}"), "w", encoding="ascii"):
            pass

    def taken(self, host, order):
        return not os.path.exists(self.path(f"orders/{host}.{order}"))

    def after_held(self, host, act):
        """Does that while the unit of that machine runs."""
        def _wait():
            while not os.path.exists(self.path(f"orders/{host}.held")):
                time.sleep(0.1)
            act(host)

        self.order(host, "hold")
        thread = threading.Thread(target=_wait, daemon=True)
        thread.start()
        return thread

    def check_without(self, report, *hosts):
        self.assertTrue(report["run"]["verdict"].startswith("incomplete"), report["run"]["verdict"])
        self.assertTrue(report["run"]["gpu_busy_is_lower_bound"])
        for host in hosts:
            self.assertIn(f"Nothing came from {host}: ", " ".join(report["notes"]))
        self.assertEqual({process["host"] for process in report["processes"]}, set(HOSTS) - set(hosts))

    def check(self, last_report):
        with self.subTest("the command on a machine that has no files and is none of the cluster"):
            self.assertEqual(figures(self.by_command(times=3)), self.whole)
        with self.subTest("a slow link"):
            self.machines.slow("node0", 150 * MS)
            self.assertEqual(figures(self.in_session()), self.whole)
            self.machines.slow("node0", 0)
        with self.subTest("units that run twice, and a part that comes twice"):
            part = self.path("twice.part")
            with open(part, "wb") as file:
                file.write(bytes.fromhex(self.in_session(twice=True)))
            self.assertEqual(figures(gpubound.open(part).report()), self.whole)
        with self.subTest("a worker that is killed in the middle of its unit is asked again"):
            self.order("node0", "kill")
            self.assertEqual(figures(self.in_session()), self.whole)
            self.assertTrue(self.taken("node0", "kill"))
        with self.subTest("a unit that never comes"):
            self.order("node0", "hold")
            self.check_without(self.in_session(timeout=15, retries=0), "node0")
        with self.subTest("a link that is cut and a machine that is killed, while their units run"):
            acts = [self.after_held("node1", self.machines.cut), self.after_held("node2", self.machines.kill)]
            self.check_without(last_report(), "node1", "node2")
            for act in acts:
                act.join(1)
                self.assertFalse(act.is_alive())

    def test_dask(self):
        self.start("dask://head:8786", ["dask", "scheduler", "--port", "8786", "--no-dashboard"],
                   ["dask", "worker", "tcp://head:8786", "--nthreads", "2", "--no-dashboard"],
                   # Where the scheduler has it, it is the scheduler that gives up.
                   session={"DASK_DISTRIBUTED__SCHEDULER__NO_WORKERS_TIMEOUT": f"{LIMIT_S}s"},
                   command={"DASK_DISTRIBUTED__SCHEDULER__NO_WORKERS_TIMEOUT": "15s"},
                   DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP="12s")
        self.check(self.by_command)

    def test_ray(self):
        ray = ["ray", "start", "--num-cpus", "1", "--object-store-memory", "100000000", "--block"]
        self.start("ray://head:10001",
                   [*ray, "--head", "--port", "6379", "--include-dashboard", "false", "--temp-dir",
                    os.path.join(self.machines.own, "ray")],
                   [*ray, "--address", "head:6379"], RAY_DISABLE_MEMORY_MONITOR="1",
                   RAY_health_check_period_ms="1000", RAY_health_check_timeout_ms="5000")
        self.check(self.in_session)  # a head that is busy may refuse a client that joins


if __name__ == "__main__":
    if os.geteuid() != 0:
        sys.exit(json.dumps("this test makes namespaces and has to be root"))
    unittest.main()
