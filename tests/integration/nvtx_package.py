#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The nvtx package of PyPI in a profiled program: nvtx_package.py GPUBOUND SCRATCH.

Installs it into SCRATCH first. Ranges of the default domain and of one of the program's own, as
decorator, context manager and push/pop, must be rows of the report, as often as they were opened;
marks, and ranges that are started and ended, events of the trace.
"""
import json
import os
import pathlib
import subprocess
import sys

VERSION = "nvtx==0.2.13"
TURNS = 50
PROGRAM = f"""
import nvtx

@nvtx.annotate("simulation", domain="rl", color="blue")
def simulate():
    return sum(range(1000))

for turn in range({TURNS}):
    simulate()
    with nvtx.annotate("inference", category="net", payload=turn):
        sum(range(2000))
    nvtx.push_range("update")
    nvtx.mark("loss")
    nvtx.pop_range()
    handle = nvtx.start_range("background")
    nvtx.end_range(handle)
print("trained")
"""


def main():
    gpubound, scratch = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    packages = scratch / "packages"
    if not (packages / "nvtx").exists():
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--target", packages,
                        "--disable-pip-version-check", VERSION], check=True)
    environment = {**os.environ, "PYTHONPATH": str(packages)}
    run = scratch / "nvtx.gpubound"
    subprocess.run(["rm", "-rf", run], check=True)
    done = subprocess.run([gpubound, "run", "-q", "-o", run, "--", sys.executable, "-c", PROGRAM],
                          env=environment, text=True, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "trained\n", ""), done
    report = json.loads(subprocess.run([gpubound, "report", run, "--json"], text=True,
                                       stdout=subprocess.PIPE, check=True).stdout)
    (process,) = report["processes"]
    counts = {row["operation"]: row["count"] for row in process["operations"]}
    for name in ("simulation", "inference", "update"):
        assert counts.get(name) == TURNS, counts
    assert sum(row["wall_ns"] for row in process["operations"]) == process["span_ns"]
    assert not [entry for entry in report["ledger"] if entry["severity"] == "error"], report["ledger"]
    events = json.loads(subprocess.run(
        [gpubound, "sql", run, "--json", "SELECT kind, name, count(*) AS n FROM event WHERE kind IN "
         "('mark', 'range_start', 'range_end') GROUP BY 1, 2"],
        text=True, stdout=subprocess.PIPE, check=True).stdout)
    events = {(event["kind"], event["name"]): event["n"] for event in events}
    expected = (("mark", "loss"), ("range_start", "background"), ("range_end", "background"))
    assert events == {event: TURNS for event in expected}, events
    print("nvtx package:", counts)
    return 0


if __name__ == "__main__":
    sys.exit(main())
