# SPDX-License-Identifier: Apache-2.0
"""Compares what gpubound calls the time of a program's loop with what the program's own clocks say:

    compare.py [--gpubound COMMAND] [--markdown FILE] [--keep FOLDER] [--counts] [--clocks-alone] NAME...

runs a copy of each program that has clocks in it (marked.py) under `gpubound run`, so that both accounts are of one
run and a busy machine changes neither against the other, and prints each operation's and stage's share of the loop: by
the clocks, by the report, and the difference in points. More than 2 points are an error, and exit status 1. With
--counts the program itself runs under `gpubound run` too and what differs in how often each operation was there is
printed: nothing may, where one thread does all in the same order each time. With --clocks-alone the copy runs once
more without gpubound, which shows what the recording changes in the shares."""
import argparse
import dataclasses
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import marked
import programs

POINTS = 2.0
STAGES = ("rollout", "update")
# Operations of each stage, which are inside of it.
INSIDE = {"rollout": ("inference", "simulation"),
          "update": ("sample", "target", "forward", "backpropagation", "optimizer")}
SHARES = [name for stage in STAGES for name in (stage, *INSIDE[stage])]
LOOP = "truth loop"


class RunError(Exception):
    pass


@dataclasses.dataclass
class Share:
    """Of the loop of one process, in percent. What the clocks say is a span where it is open how far an operation
    goes: from the calls of modules alone to all that is computed of them before the next event."""
    program: str
    process: str
    name: str
    low: float
    high: float
    reported: float

    def points(self):
        return max(self.low - self.reported, self.reported - self.high, 0.0)

    def fails(self):
        return self.points() > POINTS

    def truth(self):
        return f"{self.low:.1f}" if self.high - self.low < 0.05 else f"{self.low:.1f} to {self.high:.1f}"


def copy_of(program, folder):
    """Writes the marked copy of `program` into `folder`: its script, and the folder to import libraries from."""
    script = program.script
    if program.checkout:
        checkout = os.environ.get(program.checkout)
        if not checkout:
            raise RunError(f"{program.name}: expected the folder of a checkout in ${program.checkout}")
        script = pathlib.Path(checkout) / script
    if program.marks:
        copy = folder / script.name
        copy.write_text(marked.marked(script.read_text(encoding="utf-8"), marks_of(program.marks), script.name),
                        encoding="utf-8")
        script = copy
    for library, files in program.libraries.items():
        place = subprocess.run([sys.executable, "-c", "import importlib.util, sys; "
                                "print(importlib.util.find_spec(sys.argv[1]).submodule_search_locations[0])",
                                library], check=True, capture_output=True, text=True).stdout.strip()
        copy = folder / "library" / library
        shutil.copytree(place, copy, copy_function=os.symlink, ignore=shutil.ignore_patterns("__pycache__"))
        for name, marks in files.items():
            file = copy / name
            text = marked.marked(file.read_text(encoding="utf-8"), marks_of(marks), name)
            file.unlink()  # a link into the installed package, which stays as it is
            file.write_text(text, encoding="utf-8")
    return script, folder / "library"


def marks_of(name):
    return (programs.HERE / "marks" / f"{name}.marks").read_text(encoding="utf-8")


def run(words, folder, imports, log):
    """Runs a command in `folder`, with what the clocks need in its environment."""
    environment = dict(os.environ, OMP_NUM_THREADS="1", JAX_PLATFORMS="cpu", CUDA_VISIBLE_DEVICES="",
                       MUJOCO_GL="disabled", XLA_FLAGS="--xla_cpu_multi_thread_eigen=false",
                       PYTHONDONTWRITEBYTECODE="1", HF_HUB_OFFLINE="1", RAY_worker_niceness="0",
                       GPUBOUND_TRUTH=str(folder))
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [*map(str, imports), environment.get("PYTHONPATH")]))
    with open(folder / log, "wb") as output:
        done = subprocess.run(words, cwd=folder, env=environment, stdout=output, stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        text = (folder / log).read_text(encoding="utf-8", errors="replace")
        raise RunError(f"'{' '.join(map(str, words))}' ended with {done.returncode}:\n{text[-3000:]}")


def report_of(command, trace):
    return json.loads(subprocess.run([command, "report", trace, "--json", "--no-replay"], check=True,
                                     capture_output=True, text=True).stdout)


def clocks_in(folder):
    found = [json.loads(file.read_text(encoding="utf-8")) for file in sorted(folder.glob("[0-9]*.json"))]
    if not found:
        raise RunError(f"{folder}: expected the clocks of a process, found none; did its loop come to its end?")
    return found


def span_of(clocks, name):
    """The least and the most that the clocks say of `name`, in ns."""
    total = clocks["total_ns"]
    most = total.get(name, 0)
    return total.get(f"{name}.call", most), most


def stages_of(command, trace, pid, begin_ns, end_ns):
    """How long each stage was open between two times, in ns: the report has that for the whole process only."""
    rows = json.loads(subprocess.run(
        [command, "sql", "--json", trace, f"SELECT s.name AS name, max(s.begin_ns, {begin_ns}) AS begin_ns, "
         f"min(s.end_ns, {end_ns}) AS end_ns FROM scope s JOIN process p USING (process) WHERE p.pid = {pid} AND "
         f"s.kind = 'operation' AND s.name IN {STAGES} AND s.begin_ns < {end_ns} AND s.end_ns > {begin_ns} "
         "ORDER BY s.begin_ns"], check=True, capture_output=True, text=True).stdout)
    total, until = dict.fromkeys(STAGES, 0), dict.fromkeys(STAGES, 0)
    for row in rows:  # one within one of its name counts once
        total[row["name"]] += max(row["end_ns"] - max(row["begin_ns"], until[row["name"]]), 0)
        until[row["name"]] = max(until[row["name"]], row["end_ns"])
    return total


def reported_of(process, name):
    """What the report says of the operation `name` within the loop, in ns."""
    return sum(cell["ns"] for cell in process["cells"] if cell["operation"] == name and cell["phase"] == LOOP)


def explained(report, pid):
    """What the report says of how much of the loop names explain."""
    iterations = next((row["iterations"] for row in report["processes"] if row["pid"] == pid), None)
    naming = iterations and iterations["naming"]
    total = naming and sum(naming.values())
    if not total:
        return "no iterations"
    return ", ".join(f"{name.removesuffix('_ns')} {100 * value / total:.1f} %" for name, value in naming.items())


def shares_of(program, clocks, report, stages):
    """`stages`: what stages_of() says of the process of each clocks."""
    result = []
    for index, own in enumerate(clocks):
        process = next((row for row in report["processes"] if row["pid"] == own["pid"]), None)
        if process is None:
            raise RunError(f"{program.name}: process {own['pid']} has clocks and is not in the report")
        loop_ns = own["end_ns"] - own["begin_ns"]
        seen_ns = sum(cell["ns"] for cell in process["cells"] if cell["phase"] == LOOP)
        if abs(seen_ns - loop_ns) > loop_ns / 100:
            raise RunError(f"{program.name}: the loop took {loop_ns} ns by its clocks and {seen_ns} by the report")
        label = own["loop"] + (f" {index}" if sum(other["loop"] == own["loop"] for other in clocks) > 1 else "")
        for name in SHARES:
            low, high = span_of(own, name)
            reported = stages[index][name] if name in STAGES else reported_of(process, name)
            if high or reported:
                result.append(Share(program.name, label, name, 100 * low / loop_ns, 100 * high / loop_ns,
                                    100 * reported / loop_ns))
    return result


def table_of(shares):
    rows = [["program", "process", "share", "truth %", "gpubound %", "points", ""]]
    for share in shares:
        rows.append([share.program, share.process, share.name, share.truth(), f"{share.reported:.1f}",
                     f"{share.points():.1f}", "WRONG" if share.fails() else ""])
    return rows


def text_of(rows):
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)


def markdown_of(rows):
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]]) + "\n"


def counts_of(report):
    """How often each operation was there, of all processes together."""
    counts = {}
    for process in report["processes"]:
        for row in process["operations"]:
            if row["count"]:
                counts[row["operation"]] = counts.get(row["operation"], 0) + row["count"]
    return counts


def compare(program, command, folder, counts, clocks_alone):
    """The shares of `program`, with its runs in `folder`."""
    script, library = copy_of(program, folder)
    checkout = [os.environ[program.checkout]] if program.checkout else []
    imports = [library, programs.HERE, *checkout]
    recorded = [command, "run", "-q", "-o", "copy.gpubound", "--", sys.executable, "-W", "ignore"]
    run([*recorded, script, *program.arguments], folder, imports, "copy.log")
    report = report_of(command, folder / "copy.gpubound")
    clocks = clocks_in(folder)
    if counts:
        recorded[recorded.index("copy.gpubound")] = "plain.gpubound"
        original = pathlib.Path(checkout[0]) / program.script if checkout else program.script
        run([*recorded, original, *program.arguments], folder, checkout, "plain.log")
        with_clocks, without = counts_of(report), counts_of(report_of(command, folder / "plain.gpubound"))
        print(f"{program.name}: operations of the program itself "
              f"{'as of its copy' if without == with_clocks else f'{without}, of its copy {with_clocks}'}")
    if clocks_alone:
        alone = folder / "alone"
        alone.mkdir()
        run([sys.executable, "-W", "ignore", script, *program.arguments], alone, imports, "alone.log")
        for own in clocks_in(alone):
            loop_ns = own["end_ns"] - own["begin_ns"]
            print(f"{program.name}, {own['loop']}, without gpubound, {loop_ns / 1e9:.1f} s:", ", ".join(
                f"{name} {100 * value / loop_ns:.1f} %" for name, value in sorted(own["total_ns"].items())))
    for own in clocks:
        loop_ns = own["end_ns"] - own["begin_ns"]
        others = {name: value for name, value in own["total_ns"].items() if name.partition(".")[0] not in SHARES}
        print(f"{program.name}, {own['loop']}: {loop_ns / 1e9:.1f} s, {sum(own['count'].values())} clocks",
              *(f"{name} {100 * value / loop_ns:.1f} %" for name, value in sorted(others.items())),
              sep=", ", flush=True)
        print(f"{program.name}, {own['loop']}: named by", explained(report, own["pid"]), flush=True)
    stages = [stages_of(command, folder / "copy.gpubound", own["pid"], own["begin_ns"], own["end_ns"])
              for own in clocks]
    return shares_of(program, clocks, report, stages)


def main():
    parser = argparse.ArgumentParser(description="Compares operations with a program's own clocks.")
    parser.add_argument("--gpubound", default=os.environ.get("GPUBOUND_TEST_COMMAND", "gpubound"))
    parser.add_argument("--markdown", help="write the table here")
    parser.add_argument("--keep", help="keep copies and traces here")
    parser.add_argument("--counts", action="store_true")
    parser.add_argument("--clocks-alone", action="store_true")
    parser.add_argument("names", nargs="+", choices=[*programs.PROGRAMS], metavar="NAME")
    options = parser.parse_args()
    shares = []
    with tempfile.TemporaryDirectory() as scratch:
        for name in options.names:
            folder = pathlib.Path(options.keep or scratch).resolve() / name
            folder.mkdir(parents=True)
            shares += compare(programs.PROGRAMS[name], options.gpubound, folder, options.counts, options.clocks_alone)
    rows = table_of(shares)
    print(text_of(rows))
    if options.markdown:
        pathlib.Path(options.markdown).write_text(markdown_of(rows), encoding="utf-8")
    wrong = sum(share.fails() for share in shares)
    print(f"{wrong} of {len(shares)} shares are more than {POINTS:g} points off" if wrong else
          f"all {len(shares)} shares are within {POINTS:g} points")
    return 1 if wrong else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (RunError, marked.MarkError) as error:
        sys.exit(f"compare.py: {error}")
