# SPDX-License-Identifier: Apache-2.0
"""Sets what RL frameworks print of their own timers beside what gpubound measured and what clocks in the program say:

    timers.py [--gpubound COMMAND] [--page FILE] [--keep FOLDER] NAME...

Each program runs twice under `gpubound run`: as it is, and as the copy with clocks in it that compare.py makes. Both
times the framework's own numbers are read where a user finds them, in what the program prints or in the tracker that it
logs to, and gpubound's from the report and from the scopes of the same iterations. With --page the table is written
into FILE, between its two comments of this script. docs/results/framework_timers.md says what the rows mean."""
import argparse
import dataclasses
import datetime
import importlib.metadata
import json
import os
import pathlib
import platform
import re
import sqlite3
import subprocess
import sys
import tempfile

import compare
import programs

BEGIN, END = "<!-- timers.py begins -->", "<!-- timers.py ends -->"
NOTED = 2.0  # percent, from which on a difference is set in bold
SAME, MORE, LESS, ANY = "the same", "more", "less", "anything"


class Recorded:
    """What gpubound says of the process that iterates, in seconds, of all of its iterations."""

    def __init__(self, command, trace):
        self.command, self.trace = command, trace
        report = compare.report_of(command, trace)
        process = max((row for row in report["processes"] if row["iterations"]), default=None,
                      key=lambda row: row["iterations"]["count"])
        if process is None:
            raise compare.RunError(f"{trace}: expected a process with iterations")
        self.pid = process["pid"]
        rows = self.rows("SELECT min(i.begin_ns) AS begin_ns, max(i.end_ns) AS end_ns, count(*) AS number, "
                         "max(i.number = 0) AS has_first FROM iteration i JOIN process p USING (process) "
                         f"WHERE p.pid = {self.pid}")
        self.begin_ns, self.end_ns, self.iterations = (rows[0][name] for name in ("begin_ns", "end_ns", "number"))
        self.loop = (self.end_ns - self.begin_ns) / 1e9
        self.without_warm_up = process["iterations"]["mean_ns"] / 1e9

    def rows(self, query):
        return json.loads(subprocess.run([self.command, "sql", "--json", self.trace, query], check=True,
                                         capture_output=True, text=True).stdout)

    def spans(self, *names):
        """Of the operations of these names, with what is nested in them, in turn; one within another counts once."""
        chosen = ", ".join(f"'{name}'" for name in names)
        merged = []
        for row in self.rows(
                "SELECT s.begin_ns AS begin_ns, s.end_ns AS end_ns FROM scope s JOIN process p USING (process) "
                f"WHERE p.pid = {self.pid} AND s.kind = 'operation' AND s.name IN ({chosen}) AND "
                f"s.begin_ns < {self.end_ns} AND s.end_ns > {self.begin_ns} ORDER BY s.begin_ns"):
            begin_ns, end_ns = max(row["begin_ns"], self.begin_ns), min(row["end_ns"], self.end_ns)
            if merged and begin_ns <= merged[-1][1]:
                merged[-1][1] = max(merged[-1][1], end_ns)
            else:
                merged.append([begin_ns, end_ns])
        return [(end_ns - begin_ns) / 1e9 for begin_ns, end_ns in merged]

    def total(self, *names):
        return sum(self.spans(*names))

    def mean(self, *names):
        return self.total(*names) / self.iterations

    def arrival(self, sent, taken):
        """From the begin of an operation `sent` until the last other process has ended its first `taken` after it."""
        rows = self.rows("SELECT s.name AS name, p.pid AS pid, s.begin_ns AS begin_ns, s.end_ns AS end_ns FROM scope s "
                         f"JOIN process p USING (process) WHERE s.kind = 'operation' AND s.begin_ns > {self.begin_ns} "
                         f"AND s.name IN ('{sent}', '{taken}') ORDER BY s.begin_ns")
        begins = [row["begin_ns"] for row in rows if row["name"] == sent and row["pid"] == self.pid]
        waited = []
        for begin_ns, until_ns in zip(begins, [*begins[1:], self.end_ns]):
            first = {}
            for row in rows:
                if row["name"] == taken and row["pid"] != self.pid and begin_ns < row["begin_ns"] < until_ns:
                    first.setdefault(row["pid"], row["end_ns"])
            if first:
                waited.append((max(first.values()) - begin_ns) / 1e9)
        return mean(waited)


class Clocks:
    """What the clocks of the copy say of its loop, in seconds."""

    def __init__(self, folder):
        own = max(compare.clocks_in(folder), key=lambda clocks: clocks["end_ns"] - clocks["begin_ns"])
        self.loop = (own["end_ns"] - own["begin_ns"]) / 1e9
        self.own = own

    def total(self, name):
        return self.own["total_ns"].get(name, 0) / 1e9

    def mean(self, name):
        return self.total(name) / self.own["count"][name]


@dataclasses.dataclass
class Timer:
    """A number of a framework. `printed` reads it from Printed, the other two compute their like (None: no clock)."""
    name: str
    unit: str
    printed: object
    measured: object
    clocked: object
    says: str = SAME  # against what gpubound measures of the same time


class Printed:
    """What one run of a program printed and logged."""

    def __init__(self, folder, log):
        self.folder = folder
        self.text = (folder / log).read_text(encoding="utf-8", errors="replace")

    def numbers(self, pattern):
        found = [float(number) for number in re.findall(pattern, self.text)]
        if not found:
            raise compare.RunError(f"{self.folder}: expected '{pattern}' in what the program printed")
        return found

    def objects(self):
        """The lines that are JSON."""
        return [json.loads(line) for line in self.text.splitlines() if line.startswith("{\"")]

    def logged(self, name):
        """All values of a metric in the database of trackio."""
        with sqlite3.connect(next((self.folder / "trackio").glob("*.db"))) as database:
            rows = [json.loads(row[0]) for row in database.execute("SELECT metrics FROM metrics ORDER BY id")]
        found = [row[name] for row in rows if name in row]
        if not found:
            raise compare.RunError(f"{self.folder}: expected '{name}' in what the program logged")
        return found


def mean(values):
    return sum(values) / len(values)


def rate(steps, rates):
    """The rate of all that was done at these rates, `steps` each time."""
    return len(rates) / sum(1 / each for each in rates) if steps else 0.0


def sb3(arguments):
    steps = int(arguments[0])
    fps = r"\|\s+fps\s+\|\s+(\d+)"
    return [Timer("`time/fps`, the first", "steps/s", lambda log: log.numbers(fps)[0],
                  lambda run: steps / run.loop, lambda clocks: steps / clocks.loop, says=MORE),
            Timer("`time/fps`, the last", "steps/s", lambda log: log.numbers(fps)[-1],
                  lambda run: steps / run.loop, lambda clocks: steps / clocks.loop, says=MORE)]


def rsl_rl(arguments):
    steps = 64 * 8 * int(arguments[0])
    return [Timer("`Collection time`", "s", lambda log: sum(log.numbers(r"Collection time: ([\d.]+)s")),
                  lambda run: run.total("rollout"), lambda clocks: clocks.total("rollout")),
            Timer("`Learning time`", "s", lambda log: sum(log.numbers(r"Learning time: ([\d.]+)s")),
                  lambda run: run.total("update") - run.total("logging"), lambda clocks: clocks.total("update")),
            Timer("`Steps per second`", "steps/s", lambda log: rate(steps, log.numbers(r"Steps per second: (\d+)")),
                  lambda run: steps / run.loop, lambda clocks: steps / clocks.loop, says=MORE)]


def rl_games(arguments):
    steps = 64 * 8 * int(arguments[0])
    def fps(name):
        return lambda log: rate(steps, log.numbers(rf"fps {name}: (\d+)"))
    return [Timer("`fps step`", "steps/s", fps("step"), lambda run: steps / run.total("simulation"),
                  lambda clocks: steps / clocks.total("simulation"), says=LESS),
            Timer("`fps step and policy inference`", "steps/s", fps("step and policy inference"),
                  lambda run: steps / run.total("rollout"), lambda clocks: steps / clocks.total("rollout")),
            Timer("`fps total`", "steps/s", fps("total"), lambda run: steps / run.loop,
                  lambda clocks: steps / clocks.loop, says=MORE)]


def tianshou(arguments):
    steps = int(arguments[1])
    def of(name):
        return lambda log: log.objects()[-1][name]
    def trained(clocks):
        return clocks.loop - clocks.total("test")
    return [Timer("`train_time_collect`", "s", of("train_time_collect"), lambda run: run.total("rollout"),
                  lambda clocks: clocks.total("rollout.call") - clocks.total("test"), says=LESS),
            Timer("`train_time_update`", "s", of("train_time_update"), lambda run: run.total("update"),
                  lambda clocks: clocks.total("update.call")),
            Timer("`train_time`", "s", of("train_time"), lambda run: run.loop, trained, says=MORE),
            Timer("`update_speed`", "steps/s", of("update_speed"), lambda run: steps / run.loop,
                  lambda clocks: steps / trained(clocks), says=ANY)]


def rllib(_):
    def of(name):
        return lambda log: 1e3 * log.objects()[-1][name]
    return [Timer("`env_runner_sampling_timer`", "ms", of("env_runner_sampling_timer"),
                  lambda run: 1e3 * run.mean("rollout"), lambda clocks: 1e3 * clocks.mean("rollout"), says=ANY),
            Timer("`learner_update_timer`", "ms", of("learner_update_timer"),
                  lambda run: 1e3 * run.mean("update"), lambda clocks: 1e3 * clocks.mean("update"), says=ANY),
            Timer("`synch_weights`", "ms", of("synch_weights"),
                  lambda run: 1e3 * run.mean("weight_sync"), lambda clocks: 1e3 * clocks.mean("weight_sync"), says=ANY),
            Timer("`synch_weights`, against when all runners have them", "ms", of("synch_weights"),
                  lambda run: 1e3 * run.arrival("weight_sync", "set_state"), lambda clocks: None, says=LESS),
            Timer("`training_iteration`", "ms", of("training_iteration"), lambda run: 1e3 * run.loop / run.iterations,
                  lambda clocks: 1e3 * clocks.loop / clocks.own["count"]["rollout"], says=ANY)]


def trl(_):
    """The step without the first one, which the report leaves out as warm-up and the clock has not seen begin."""
    def of(name):
        return lambda log: 1e3 * mean(log.logged(f"profiling/Time taken: GRPOTrainer.{name}"))
    return [Timer("`transformers.generate`", "ms", of("transformers.generate"), lambda run: 1e3 * run.mean("inference"),
                  lambda clocks: 1e3 * clocks.mean("inference")),
            Timer("`_prepare_inputs`", "ms", of("_prepare_inputs"), lambda run: 1e3 * run.mean("rollout"),
                  lambda clocks: 1e3 * clocks.mean("rollout")),
            Timer("`compute_loss`", "ms", of("compute_loss"), lambda run: 1e3 * run.mean("GRPOTrainer.compute_loss"),
                  lambda clocks: 1e3 * clocks.mean("forward")),
            Timer("`step_time`", "ms", lambda log: 1e3 * mean(log.logged("train/step_time")[1:]),
                  lambda run: 1e3 * run.without_warm_up, lambda clocks: 1e3 * clocks.mean("turn"), says=LESS)]


@dataclasses.dataclass
class Framework:
    package: str
    program: str
    arguments: list
    timers: object


FRAMEWORKS = {name: Framework(*of) for name, of in {
    "sb3": ("stable-baselines3", "sb3_fps", ["8192"], sb3),
    "rsl_rl": ("rsl-rl-lib", "rsl_rl_ppo", ["30"], rsl_rl),
    "rl_games": ("rl-games", "rl_games_ppo", ["20"], rl_games),
    "tianshou": ("tianshou", "tianshou_dqn", ["DQN", "6000"], tianshou),
    "rllib": ("ray", "rllib_ppo", ["12"], rllib),
    "trl": ("trl", "trl_grpo", ["40", "trackio"], trl)}.items()}


@dataclasses.dataclass
class Row:
    framework: str
    timer: Timer
    plain: tuple   # what the framework prints, what gpubound measures
    copied: tuple  # the same of the copy, and its clocks


def run(framework, command, folder, trace):
    """Runs the program, or its copy, in `folder`, if that was not done yet."""
    done = folder / f"{trace}.done"
    if not done.exists():
        run_in(framework, command, folder, trace)
        done.touch()
    return Printed(folder, f"{trace}.log"), Recorded(command, folder / f"{trace}.gpubound")


def run_in(framework, command, folder, trace):
    folder.mkdir(parents=True)
    program = dataclasses.replace(programs.PROGRAMS[framework.program], arguments=framework.arguments)
    script, imports = program.script, []
    if trace == "copy":
        script, library = compare.copy_of(program, folder)
        imports = [library, programs.HERE]
    os.environ["TRACKIO_DIR"] = str(folder / "trackio")
    compare.run([command, "run", "-q", "-o", f"{trace}.gpubound", "--", sys.executable, "-W", "ignore", script,
                 *program.arguments], folder, imports, f"{trace}.log")


def rows_of(name, command, folder):
    framework = FRAMEWORKS[name]
    log, recorded = run(framework, command, folder / name / "plain", "plain")
    log_of_copy, recorded_copy = run(framework, command, folder / name / "copy", "copy")
    clocks = Clocks(folder / name / "copy")
    return [Row(name, timer, (timer.printed(log), timer.measured(recorded)),
                (timer.printed(log_of_copy), timer.measured(recorded_copy), timer.clocked(clocks)))
            for timer in framework.timers(framework.arguments)]


def off(value, reference):
    """By how much percent `value` is more."""
    return 100 * (value / reference - 1)


def figure(value, unit):
    if value is None:
        return "-"
    return f"{value:,.0f}" if unit == "steps/s" else f"{value:.1f}" if unit == "ms" else f"{value:.2f}"


def difference(value, reference):
    if reference is None:
        return "-"
    text = f"{off(value, reference):+.1f} %"
    return f"**{text}**" if abs(off(value, reference)) > NOTED else text


def table_of(rows):
    lines = ["| program | the framework's timer | framework / gpubound | difference | copy: framework / gpubound / "
             "clocks | framework is off by | gpubound is off by |", "|---|---|---|---|---|---|---|"]
    for row in rows:
        unit = row.timer.unit
        printed, measured, clocked = row.copied
        lines.append("| " + " | ".join([
            row.framework, row.timer.name, " / ".join(figure(value, unit) for value in row.plain) + f" {unit}",
            difference(*row.plain), " / ".join(figure(value, unit) for value in row.copied) + f" {unit}",
            difference(printed, clocked), difference(measured, clocked)]) + " |")
    return "\n".join(lines) + "\n"


def summary_of(rows):
    clocked = [row.copied for row in rows if row.copied[2] is not None]
    near = [sum(abs(off(copied[which], copied[2])) <= NOTED for copied in clocked) for which in (0, 1)]
    return (f"Of {len(clocked)} rows that clocks decide, {near[1]} of gpubound and {near[0]} of the frameworks are "
            f"within {NOTED:g} %.\n")


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        models = re.findall(r"model name\s*: (.*)", file.read())
    return f"{len(models)} cores of a shared virtual machine ({models[0] if models else platform.machine()})"


def provenance(names):
    versions = ", ".join(f"{package} {importlib.metadata.version(package)}" for package in
                         ["torch", *(FRAMEWORKS[name].package for name in names)])
    today = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    return f"Measured on {today} on {machine()}, without a GPU. Python {platform.python_version()}, {versions}.\n"


def write_page(page, names, rows):
    text = page.read_text(encoding="utf-8")
    before, found, rest = text.partition(BEGIN)
    _, ended, after = rest.partition(END)
    if not found or not ended:
        raise compare.RunError(f"{page}: expected the lines '{BEGIN}' and '{END}'")
    written = "\n".join([f"{BEGIN}\n{provenance(names)}", table_of(rows), summary_of(rows)])
    page.write_text(f"{before}{written}{END}{after}", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description="Compares frameworks' own timers with gpubound and with clocks.")
    parser.add_argument("--gpubound", default=os.environ.get("GPUBOUND_TEST_COMMAND", "gpubound"))
    parser.add_argument("--page", type=pathlib.Path, help="write the table into this page")
    parser.add_argument("--keep", type=pathlib.Path, help="keep traces here; what lies there is not run again")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(FRAMEWORKS))
    options = parser.parse_args()
    names = options.names or [*FRAMEWORKS]
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        for name in names:
            rows += rows_of(name, options.gpubound, (options.keep or pathlib.Path(scratch)).resolve())
    print(provenance(names), table_of(rows), summary_of(rows), sep="\n", end="")
    if options.page:
        write_page(options.page, names, rows)


if __name__ == "__main__":
    try:
        main()
    except (compare.RunError, compare.marked.MarkError) as error:
        sys.exit(f"timers.py: {error}")
