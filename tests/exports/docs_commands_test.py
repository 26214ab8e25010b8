# SPDX-License-Identifier: Apache-2.0
"""Every command of docs/many_machines.md, in its order, on one machine: what the page says to type works, and a
command that the page gets is run without a change here. Slurm's and Kubernetes' own parts are stand-ins.
Environment: GPUBOUND_TEST_COMMAND, GPUBOUND_TEST_DOCS; the package is on PYTHONPATH."""
import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

import gpubound

PAGE = pathlib.Path(os.environ["GPUBOUND_TEST_DOCS"], "many_machines.md")
# What needs an engine is tried where engines are installed.
ELSEWHERE = ("ray://", "dask://")
ENGINES_TEST = PAGE.parent.parent / "tests" / "frameworks" / "cluster_engines_test.py"
RANKS = 2

# The training has a task on each of two nodes; of what reduces the files, the one node that is here has a task.
SRUN = f"""#!/bin/bash
tasks=1
while [[ "$1" == --* ]]; do [[ "$2" == bash ]] && tasks={RANKS}; shift; done
for ((i = 0; i < tasks; i++)); do SLURM_PROCID=$i SLURM_STEP_NUM_TASKS=$tasks "$@" || exit; done
"""
SCONTROL = "#!/bin/sh\necho here\n"
TRAIN = """
import gpubound
for i in range(20):
    with gpubound.operation("backpropagation"):
        sum(range(20000))
    gpubound.step()
"""


class Receiver(http.server.BaseHTTPRequestHandler):
    got = 0

    def do_POST(self):
        Receiver.got += len(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


def commands():
    """Lines of the page's blocks that are typed, without what is said after them."""
    text = PAGE.read_text(encoding="utf-8")
    blocks = re.findall(r"^    (\S.*)$", text, re.M)
    inline = re.findall(r"`(gpubound \w+ /[^`]*)`", text)
    typed = re.compile(r"(srun|gpubound|python3?) ")
    return [re.sub(r"  +#.*", "", line) for line in blocks if typed.match(line)] + inline


class DocsCommandsTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = holder.name
        for name in ("shared", "local", "results", "bin"):
            os.mkdir(self.path(name))
        for name, script in (("srun", SRUN), ("scontrol", SCONTROL)):
            self.write(f"bin/{name}", script)
        self.write("train.py", TRAIN)
        for name, target in (("gpubound", os.environ["GPUBOUND_TEST_COMMAND"]), ("python", sys.executable),
                             ("python3", sys.executable)):
            self.write(f"bin/{name}", f'#!/bin/sh\nexec "{target}" "$@"\n')
        collector = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
        threading.Thread(target=collector.serve_forever, daemon=True).start()
        self.addCleanup(collector.server_close)
        self.addCleanup(collector.shutdown)
        self.here = {"/shared/": self.path("shared/"), "/local/": self.path("local/"),
                     "/results/": self.path("results/"), "prometheus:9400": "prometheus:0",
                     "collector:4318": f"127.0.0.1:{collector.server_address[1]}"}

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(self.path(name), 0o755)

    def run_line(self, line, expected=0):
        for said, is_here in self.here.items():
            line = line.replace(said, is_here)
        environment = {**os.environ, "PATH": self.path("bin") + os.pathsep + os.environ["PATH"],
                       "SLURM_JOB_NODELIST": "here", "HOSTNAME": "here", "GPUBOUND_CALIBRATE": "0",
                       "XDG_CACHE_HOME": self.path("cache")}
        if "GPUBOUND_RUN" in line:
            environment["GPUBOUND_RUN"] = self.path("local/train.gpubound")
        done = subprocess.run(["bash", "-c", line], cwd=self.folder, env=environment, capture_output=True, text=True,
                              timeout=250, check=False)
        self.assertEqual(done.returncode, expected, f"{line}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def test_what_the_page_says_to_type_works(self):
        elsewhere = ENGINES_TEST.read_text(encoding="utf-8")
        said = {}
        for line in commands():
            engine = next((name for name in ELSEWHERE if name in line), None)
            if engine:
                self.assertIn(f'"{engine}', elsewhere)
                continue
            # A training without a GPU: the requirement is not met, which is said.
            said[line] = self.run_line(line, expected=1 if line.startswith("gpubound check") else 0)
            if "gpubound env" in line:  # the files of each node's own disk
                shutil.copytree(self.path("shared/train.gpubound"), self.path("local/train.gpubound"))
            if line.startswith("gpubound merge"):
                for name in ("before", "after"):
                    shutil.copy(self.path("train.part"), self.path(f"{name}.part"))
        self.assertGreater(len(said), 15)
        self.assertGreater(Receiver.got, 0)

        whole = json.loads(self.run_line("gpubound report /shared/train.gpubound --json --no-replay"))
        ranks = gpubound.open(self.path("shared/train.gpubound")).table("process", ["rank"]).values()["rank"]
        self.assertEqual(sorted(ranks), list(range(RANKS)))
        for made in ("/shared/parts/", "/shared/late/", "train.part", "/results/here.part"):
            report = json.loads(self.run_line(f"gpubound report {made} --json"))
            self.assertEqual(report["processes"][1]["operations"], whole["processes"][1]["operations"], made)
        self.assertTrue(list(pathlib.Path(self.path("tables")).rglob("*.parquet")))
        reports = [text for line, text in said.items() if line.startswith("gpubound report")]
        self.assertTrue(all("backpropagation" in text for text in reports), reports)


if __name__ == "__main__":
    unittest.main()
