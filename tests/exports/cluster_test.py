# SPDX-License-Identifier: Apache-2.0
"""gpubound.cluster: the report of a run whose parts an executor makes is that of the whole run, whoever fails
meanwhile. Environment: GPUBOUND_TEST_COMMAND, GPUBOUND_TEST_DATA. tests/frameworks/cluster_engines_test.py has Ray
and Dask."""
import concurrent.futures
import contextlib
import glob
import io
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock

import gpubound
from gpubound import cluster

_COMMAND = os.environ["GPUBOUND_TEST_COMMAND"]
HOSTS = ["node0", "node1", "node2"]


def make_run(folder, hosts=HOSTS):
    """A run of one process on each host: the same profile, as each of them would have recorded it."""
    run = os.path.join(folder, "train.gpubound")
    data = os.path.join(os.environ["GPUBOUND_TEST_DATA"], "kineto", "simple_add.json.gz")
    subprocess.run([_COMMAND, "import", "-q", data, "-o", run], check=True)
    (file,) = glob.glob(f"{run}/*.db")
    for host in hosts:
        copy = os.path.join(run, host + os.path.basename(file)[len("imported"):])
        shutil.copy(file, copy)
        database = sqlite3.connect(copy)
        database.execute("update meta set value = ? where key = 'host'", (host,))
        # In place of a row, since rows are counted.
        database.execute("update meta set key = 'boot_id', value = ? where key = 'parent_pid'", (f"boot-of-{host}",))
        database.execute("update device set uuid = 'GPU-' || ?", (host,))
        database.commit()
        database.close()
    os.remove(file)
    return run


def figures(report):
    """What does not say how the report was made."""
    report.pop("notes")
    for process in report["processes"]:
        process.pop("corrected_why_not")
    return report


class Flaky(concurrent.futures.ThreadPoolExecutor):
    """A worker that has `host` fails so many times, as one that is killed."""

    def __init__(self, host, times):
        super().__init__(2)
        self._host = host
        self._left = times

    def submit(self, function, *arguments):
        if arguments[1] == self._host and self._left > 0:
            self._left -= 1
            return super().submit(self._fail)
        return super().submit(function, *arguments)

    @staticmethod
    def _fail():
        raise OSError("the worker was killed")


class ClusterTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.run_path = make_run(holder.name)
        self.whole = figures(gpubound.open(self.run_path).report(replay=False))

    def test_any_executor_gives_the_report_of_the_whole_run(self):
        for make in (concurrent.futures.ThreadPoolExecutor, concurrent.futures.ProcessPoolExecutor):
            with make(2) as executor:
                self.assertEqual(figures(cluster.report(self.run_path, executor)), self.whole)
        self.assertEqual(len(self.whole["processes"]), len(HOSTS))

    def test_a_worker_that_is_killed_is_asked_again(self):
        with Flaky("node1", 2) as executor:
            self.assertEqual(figures(cluster.report(self.run_path, executor)), self.whole)

    def test_a_unit_that_never_comes_is_named_and_the_report_is_not_complete(self):
        with Flaky("node1", 99) as executor:
            report = cluster.report(self.run_path, executor)
        self.assertTrue(report["run"]["verdict"].startswith("incomplete"), report["run"]["verdict"])
        self.assertTrue(report["run"]["gpu_busy_is_lower_bound"])
        self.assertIn("Nothing came from node1: the worker was killed.", " ".join(report["notes"]))
        self.assertEqual({process["host"] for process in report["processes"]}, {"node0", "node2"})

    def test_a_unit_that_takes_too_long_is_named(self):
        class Slow(concurrent.futures.ThreadPoolExecutor):
            def submit(self, function, *arguments):
                if arguments[1] == "node2":
                    return super().submit(time.sleep, 3)
                return super().submit(function, *arguments)
        with Slow(3) as executor:
            report = cluster.report(self.run_path, executor, timeout=1, retries=0)
        self.assertIn("Nothing came from node2: nothing came within 1 s.", " ".join(report["notes"]))

    def test_a_part_that_comes_twice_counts_once(self):
        with concurrent.futures.ThreadPoolExecutor(2) as executor:
            once = cluster.merged_parts(self.run_path, executor)
        from gpubound import _reader
        self.assertEqual(_reader.merge([once, once]), once)

    def test_a_machine_that_never_came_is_not_asked_what_its_late_ranks_did(self):
        asked = []

        class Nodes(cluster.Placed):
            places = HOSTS

            def submit_at(self, place, function, path, host, operations, merged):
                asked.append((place, bool(merged)))
                if place == "node1":
                    raise OSError("no route to host")
                future = concurrent.futures.Future()
                future.set_result(function(path, place, operations, merged))
                return future

        with unittest.mock.patch.object(cluster._reader, "late_hosts", lambda merged: ["node0"]):
            report = cluster.report(self.run_path, Nodes(), retries=0)
        self.assertIn("Nothing came from node1: no route to host.", " ".join(report["notes"]))
        self.assertEqual(asked, [("node0", False), ("node1", False), ("node2", False), ("node0", True),
                                 ("node2", True)])

    def test_where_no_part_comes_it_raises(self):
        class Dead(concurrent.futures.ThreadPoolExecutor):
            def submit(self, function, *arguments):
                raise RuntimeError("no worker is left")
        with Dead(1) as executor, self.assertRaisesRegex(gpubound.RunError, "no worker is left"):
            cluster.report(self.run_path, executor)
        with self.assertRaises(gpubound.RunError):
            cluster.report(self.run_path + "-nowhere", executor)

    def test_a_reason_that_stands_in_the_second_line_is_said(self):
        for raised, said in (("The task cannot be scheduled:\n  its node is gone.\nSee the log.",
                              "The task cannot be scheduled: its node is gone$"),
                             ("The worker died.\nSee the log:", "The worker died$"), ("", "RuntimeError$")):
            class Nodes(cluster.Placed):
                places = ("node0",)

                def submit_at(self, place, function, *arguments, reason=raised):
                    def fail():
                        raise RuntimeError(reason)
                    return self.ask(fail)
            with self.assertRaisesRegex(gpubound.RunError, "node0: " + said):
                cluster.report(self.run_path, Nodes(), retries=0)

    def test_the_command_does_the_same(self):
        part = self.run_path + ".part"
        words = [sys.executable, "-m", "gpubound.cluster", self.run_path, "-o", part, "--on"]
        subprocess.run([*words, "local:2"], check=True)
        said = subprocess.run([_COMMAND, "report", part, "--json"], check=True, capture_output=True, text=True)
        self.assertEqual(figures(json.loads(said.stdout)), self.whole)
        refused = subprocess.run([*words, "spark"], capture_output=True, text=True)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("no engine is called 'spark'", refused.stderr)

    def test_the_command_says_what_keeps_it_from_an_engine(self):
        said = io.StringIO()
        with unittest.mock.patch.object(cluster, "ray", side_effect=ConnectionError("nobody answers at head:10001")), \
                unittest.mock.patch.object(sys, "argv", ["", self.run_path, "-o", "/dev/null", "--on", "ray"]), \
                contextlib.redirect_stderr(said):
            self.assertEqual(cluster.main(), 3)
        self.assertEqual(said.getvalue(), "gpubound: nobody answers at head:10001\n")


# Stand-ins: what Slurm itself does is not tried here.
SRUN = """#!/bin/sh
for word in "$@"; do case "$word" in --nodelist=*) node=${word#*=};; --*) ;; *) break;; esac; shift; done
[ "$node" = broken ] && { echo "srun: error: node broken is down" >&2; exit 1; }
exec "$@"
"""
SCONTROL = """#!/bin/sh
echo "$3" | tr , '\\n'
"""


class SlurmTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.run_path = make_run(holder.name)
        for name, script in (("srun", SRUN), ("scontrol", SCONTROL)):
            path = os.path.join(holder.name, name)
            with open(path, "w", encoding="utf-8") as file:
                file.write(script)
            os.chmod(path, 0o755)
        changed = {"PATH": holder.name + os.pathsep + os.environ["PATH"], "SLURM_JOB_NODELIST": "here"}
        for name, value in changed.items():
            before = os.environ.get(name)
            os.environ[name] = value
            self.addCleanup(os.environ.pop, name) if before is None else self.addCleanup(
                os.environ.__setitem__, name, before)

    def test_each_node_is_asked_through_srun(self):
        with cluster.slurm() as executor:
            report = cluster.report(self.run_path, executor)
        self.assertEqual(figures(report), figures(gpubound.open(self.run_path).report(replay=False)))

    def test_a_node_that_is_down_is_named(self):
        os.environ["SLURM_JOB_NODELIST"] = "here,broken"
        with cluster.slurm() as executor:
            report = cluster.report(self.run_path, executor)
        self.assertIn("Nothing came from broken: srun: error: node broken is down.", " ".join(report["notes"]))

    def test_outside_an_allocation_it_says_so(self):
        del os.environ["SLURM_JOB_NODELIST"]
        self.addCleanup(os.environ.__setitem__, "SLURM_JOB_NODELIST", "")
        with self.assertRaisesRegex(RuntimeError, "inside an allocation"):
            cluster.slurm()


if __name__ == "__main__":
    unittest.main()
