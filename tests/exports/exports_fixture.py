# SPDX-License-Identifier: Apache-2.0
"""What the tests of exports share: the command, runs to export, and files that go with the test. The
arguments of each are GPUBOUND EXAMPLE_RUN DATA: EXAMPLE_RUN writes a run; DATA is tests/data."""
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import unittest

from perfetto_trace import PerfettoTrace

GPUBOUND, EXAMPLE_RUN, DATA = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
ODD_NAME = "\"'<b>,\n\\\ufffd\ufffd;"


def gpubound(*words, status=0):
    done = subprocess.run([GPUBOUND, *map(str, words)], capture_output=True, check=False)
    if done.returncode != status:
        raise AssertionError(f"{words} ended with {done.returncode}: {done.stderr.decode()}")
    return done


class Exports(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.example = self.path("example.gpubound")
        subprocess.run([EXAMPLE_RUN, self.example], check=True)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def damaged(self):
        subprocess.run([EXAMPLE_RUN, self.path("damaged.gpubound"), "damaged"], check=True)
        return self.path("damaged.gpubound")

    def in_part(self):
        subprocess.run([EXAMPLE_RUN, self.path("in_part.gpubound"), "in_part"], check=True)
        return self.path("in_part.gpubound")

    def thinned(self):
        subprocess.run([EXAMPLE_RUN, self.path("thinned.gpubound"), "iterating"], check=True)
        gpubound("compact", self.path("thinned.gpubound"), "--window", "250ms", "--detail", "slow:3x")
        return self.path("thinned.gpubound")

    def asked(self):
        subprocess.run([EXAMPLE_RUN, self.path("asked.gpubound"), "asked"], check=True)
        return self.path("asked.gpubound")

    def imported(self, file):
        run = self.path(file.name + ".gpubound")
        gpubound("import", file, "-o", run)
        return run

    def runs(self):
        yield self.example
        yield self.damaged()
        yield self.imported(DATA / "kineto/h100_bert_small.json.gz")
        yield self.imported(DATA / "kineto/vllm_decode_graph.json.gz")
        yield self.imported(DATA / "import/several_processes.json")
        yield self.imported(DATA / "import/partial_overlaps.json")

    def export(self, run, form, name):
        gpubound("export", run, f"--{form}", self.path(name), "--force")
        return self.path(name)

    def database(self, run):
        return sqlite3.connect(self.export(run, "sqlite", "run.db"))

    def report(self, run):
        return json.loads(gpubound("report", run, "--json").stdout)

    def perfetto(self, run):
        return PerfettoTrace(pathlib.Path(self.export(run, "perfetto", "x.pftrace")).read_bytes())


def main():
    unittest.main(module="__main__", argv=sys.argv[:1] + sys.argv[4:])
