#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What looking at Python stacks costs, side by side in one run: CPU time of the whole command (program, recorder,
profiler) and wall time of the program's loop, as ratios to the plain program. Modes: plain; recorded without looks
(--stacks 0); with a hundred a second; py-spy record at its default, a hundred a second, where it is installed
(pip install py-spy==0.4.3). Prints medians of interleaved rounds. Exits 1 where a hundred looks a second take more
than a hundredth of a core; --quick measures little and has no goal.
"""
import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

PROGRAM = """
import glob, sys, time
import gpubound
def recorder():
    for task in glob.glob("/proc/self/task/*"):
        if open(task + "/comm").read() == "gpubound\\n":
            return int(open(task + "/schedstat").read().split()[0]) / 1e9
    return 0.0
def leaf(n):
    total = 0
    for i in range(n):
        total += i * i
    return total
def deep(depth, n):
    return deep(depth - 1, n) if depth else leaf(n)
begin = time.perf_counter()
with gpubound.operation("work"):
    for _ in range(int(sys.argv[1])):
        deep(20, 2000)
print("loop", time.perf_counter() - begin, recorder())
"""
GOAL_CORE = 0.01


def children_cpu():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--command", required=True, help="path of gpubound")
    parser.add_argument("--package", required=True, help="folder of the package gpubound")
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    arguments.command = os.path.abspath(arguments.command)
    rounds, turns = (1, 3000) if arguments.quick else (7, 60_000)
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "program.py")
        with open(program, "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        plain = [sys.executable, program, str(turns)]

        def recorded(stacks):
            return [arguments.command, "run", "-q", "--no-calibrate", "--stacks", stacks, "--", *plain]

        modes = {"plain": plain, "recorded, no looks": recorded("0"), "100 looks a second": recorded("100")}
        if shutil.which("py-spy"):
            modes["py-spy record"] = ["py-spy", "record", "-o", os.path.join(folder, "spy.json"), "-f", "speedscope",
                                      "--", *plain]
        cpu, wall, recorder = ({mode: [] for mode in modes} for _ in range(3))
        for number in range(rounds):
            for mode, command in modes.items():
                settings = {**os.environ, "PYTHONPATH": os.path.abspath(arguments.package),
                            "GPUBOUND_RUN": os.path.join(folder, f"{mode} {number}.gpubound")}
                before = children_cpu()
                done = subprocess.run(command, check=True, capture_output=True, text=True, env=settings, cwd=folder)
                cpu[mode].append(children_cpu() - before)
                loop = next(line for line in done.stdout.splitlines() if line.startswith("loop "))
                wall[mode].append(float(loop.split()[1]))
                recorder[mode].append(float(loop.split()[2]))
        print(f"{'':22}{'CPU s':>10}{'x plain':>10}{'loop s':>10}{'x plain':>10}")
        result = {}
        for mode in modes:
            ratio = statistics.median(a / b for a, b in zip(cpu[mode], cpu["plain"]))
            slower = statistics.median(a / b for a, b in zip(wall[mode], wall["plain"]))
            result[mode] = statistics.median(cpu[mode])
            print(f"{mode:22}{result[mode]:10.2f}{ratio:10.3f}{statistics.median(wall[mode]):10.2f}{slower:10.3f}")
        run = os.path.join(folder, f"100 looks a second {rounds - 1}.gpubound")
        looks = json.loads(subprocess.run([arguments.command, "report", run, "--json"], check=True,
                                          capture_output=True, text=True).stdout)["processes"][0]["stacks"]
        extra = [a - b for a, b in zip(recorder["100 looks a second"], recorder["recorded, no looks"])]
        cores = statistics.median(a / b for a, b in zip(extra, wall["100 looks a second"]))
        count = sum(row["looks"] for row in looks)
        print(f"looks of the recorder: {count}; for them its thread took {cores:.4f} of a core")
        if not looks:
            return "no stack was looked at"
        return f"more than {GOAL_CORE} of a core" if not arguments.quick and cores > GOAL_CORE else None


if __name__ == "__main__":
    sys.exit(main())
