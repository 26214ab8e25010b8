# SPDX-License-Identifier: Apache-2.0
"""gpubound.cluster on Ray and on Dask: three workers, each in a UTS and a mount namespace of its own, so that each is
a machine that sees only its own files of the run. Needs to be root. Environment: GPUBOUND_TEST_COMMAND,
GPUBOUND_TEST_PACKAGE, GPUBOUND_TEST_DATA."""
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.environ["GPUBOUND_TEST_PACKAGE"], os.path.join(HERE, "..", "exports")]

import gpubound  # noqa: E402
from cluster_test import HOSTS, figures, make_run  # noqa: E402
from gpubound import cluster  # noqa: E402

BIN = os.path.dirname(sys.executable)
# NAME RUN HERE CMD...: a machine called NAME, on which HERE has the files of RUN that NAME wrote.
MACHINE = """
set -e
name=$1; run=$2; here=$3; shift 3
hostname "$name"
kept=$(mktemp -d)
mount --bind "$run" "$kept"
mount -t tmpfs none "$here"
cp "$kept/$name".* "$here" 2>/dev/null || true
exec "$@"
"""


def free_port():
    """Below those that Ray gives its workers."""
    for port in range(6400, 10000):
        with socket.socket() as listener:
            try:
                listener.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise OSError("no port is free")


class EnginesTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.run_path = make_run(holder.name)
        self.whole = figures(gpubound.open(self.run_path).report(replay=False))
        self.here = os.path.join(holder.name, "here.gpubound")
        os.mkdir(self.here)
        self.log = open(os.path.join(holder.name, "log"), "w+")
        self.addCleanup(self.log.close)

    def machine(self, name, *command):
        process = subprocess.Popen(
            ["unshare", "--uts", "--mount", "bash", "-c", MACHINE, "machine", name, self.run_path, self.here, *command],
            stdout=self.log, stderr=self.log, start_new_session=True,
            env={**os.environ, "PYTHONPATH": os.environ["GPUBOUND_TEST_PACKAGE"], "RAY_DISABLE_MEMORY_MONITOR": "1"})
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        with contextlib.suppress(ProcessLookupError):  # it has ended
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)

    def wait_for(self, places, join):
        """An executor once it has `places`."""
        for _ in range(60):
            try:
                executor = join()
                if set(places) <= set(executor.places):
                    return executor
                executor.shutdown()
            except Exception:  # the engine is not up yet
                pass
            time.sleep(2)
        self.log.seek(0)
        self.fail(f"no cluster with {places}: {self.log.read()[-3000:]}")

    def check(self, executor, engine, **environment):
        with executor:
            self.assertEqual(figures(cluster.report(self.here, executor, timeout=120)), self.whole)
        part = self.here + ".part"
        words = [sys.executable, "-m", "gpubound.cluster", self.here, "-o", part, "--on", engine]
        subprocess.run(words, check=True, timeout=300, env={
            **os.environ, **environment, "PYTHONPATH": os.environ["GPUBOUND_TEST_PACKAGE"]})
        self.assertEqual(figures(gpubound.open(part).report()), self.whole)

    def test_dask(self):
        port = free_port()
        self.machine("scheduler", f"{BIN}/dask", "scheduler", "--host", "127.0.0.1", "--port", str(port),
                     "--no-dashboard")
        for host in HOSTS:
            self.machine(host, f"{BIN}/dask", "worker", f"tcp://127.0.0.1:{port}", "--nthreads", "1", "--no-dashboard")
        self.check(self.wait_for(HOSTS, lambda: cluster.dask(f"tcp://127.0.0.1:{port}")),
                   f"dask://127.0.0.1:{port}")

    def test_dask_without_one_of_the_machines(self):
        port = free_port()
        self.machine("scheduler", f"{BIN}/dask", "scheduler", "--host", "127.0.0.1", "--port", str(port),
                     "--no-dashboard")
        workers = [self.machine(host, f"{BIN}/dask", "worker", f"tcp://127.0.0.1:{port}", "--nthreads", "1",
                                "--no-nanny", "--no-dashboard") for host in HOSTS]
        executor = self.wait_for(HOSTS, lambda: cluster.dask(f"tcp://127.0.0.1:{port}"))
        os.killpg(workers[1].pid, signal.SIGKILL)
        with executor:
            report = cluster.report(self.here, executor, timeout=15, retries=1)
        self.assertTrue(report["run"]["verdict"].startswith("incomplete"), report["run"]["verdict"])
        self.assertIn("Nothing came from node1", " ".join(report["notes"]))

    def test_ray(self):
        port = free_port()
        ray = [f"{BIN}/ray", "start", "--node-ip-address", "127.0.0.1", "--num-cpus", "1", "--object-store-memory",
               "100000000", "--block"]
        self.machine("head", *ray, "--head", "--port", str(port), "--include-dashboard", "false")
        self.wait_until_listened_to(port)
        nodes = {}

        def join():
            # A node gives up where the machine is busy.
            for host in HOSTS:
                if host not in nodes or nodes[host].poll() is not None:
                    nodes[host] = self.machine(host, *ray, "--address", f"127.0.0.1:{port}")
                    time.sleep(5)
            return cluster.ray(f"127.0.0.1:{port}")

        self.check(self.wait_for(HOSTS, join), "ray", RAY_ADDRESS=f"127.0.0.1:{port}")

    def wait_until_listened_to(self, port):
        for _ in range(60):
            with socket.socket() as client:
                if client.connect_ex(("127.0.0.1", port)) == 0:
                    return
            time.sleep(1)
        self.fail("the head did not start")


if __name__ == "__main__":
    if os.geteuid() != 0:
        sys.exit(json.dumps("this test makes namespaces and has to be root"))
    unittest.main()
