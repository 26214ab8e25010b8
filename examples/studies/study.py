# SPDX-License-Identifier: Apache-2.0
"""What the case studies share. Data flows one way:

    programs --gpubound run--> runs --gpubound.open()--> figures (JSON) --> page (Markdown) and picture (SVG)

A study is a module with `NAME`, `record(recorder, small)`, which runs programs, `read(recorder, small)`, which gets
figures from their runs, `page(figures)`, which makes the page of them and of nothing else, and `draw(figures, axes)`.
So a page has no figure that a run did not give, and a test makes each page anew from the figures that lie beside it.

The command is `gpubound` of the PATH, or $GPUBOUND_COMMAND. What a study measures is in files, so that a study that
was interrupted goes on where it was: delete the folder of its runs to begin anew.
"""
import argparse
import dataclasses
import importlib.metadata
import json
import math
import os
import pathlib
import platform
import random
import shutil
import statistics
import subprocess
import sys
import textwrap
from typing import Any, Callable, Dict, Iterable, List, Optional, Sequence, Tuple

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
WIDTH = 100
SIMULATED = "SIMULATED DEVICE"
# Student's 97.5 % quantiles by degrees of freedom; beyond those of 30, the normal one serves.
_STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
            2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042)

Figures = Dict[str, Any]


class Failed(Exception):
    """A program or a command did not do what the study needs."""


@dataclasses.dataclass(frozen=True)
class Program:
    """What a run is of: a command, additional environment, options of `gpubound run`."""
    words: Sequence[str]
    variables: Dict[str, str] = dataclasses.field(default_factory=dict)
    options: Sequence[str] = ()


class Recorder:
    """Runs of a study, each in a folder of its own under `folder`."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.command = os.environ.get("GPUBOUND_COMMAND") or shutil.which("gpubound")
        if not self.command:
            raise Failed("there is no gpubound on the PATH; install it (pip install .), or name it in GPUBOUND_COMMAND")
        folder.mkdir(parents=True, exist_ok=True)

    def path(self, name: str) -> pathlib.Path:
        return self.folder / f"{name}.gpubound"

    def record_all(self, wanted: Dict[str, "Program"], calibrates: bool) -> None:
        """Records what is not there yet of `wanted`, by name. One run at a time, in an order drawn by chance: what else
        the machine does then meets all programs alike. `calibrates`: corrected values are needed, so that what
        recording costs here is measured, unless it is known."""
        names = [name for name in wanted if not self.path(name).exists()]
        random.Random(1).shuffle(names)
        for number, name in enumerate(names, 1):
            print(f"run {number} of {len(names)}: {name}", file=sys.stderr, flush=True)
            # `gpubound run` measures after its first run on a machine, unless it is quiet.
            self._record(name, wanted[name], [] if number == 1 and calibrates else ["-q"])
        place = self.folder / "machine.json"
        if names or not place.exists():
            place.write_text(json.dumps(machine(), indent=1))

    def _record(self, name: str, program: "Program", options: Sequence[str]) -> None:
        unfinished = self.folder / f"{name}.unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        done = subprocess.run([str(self.command), "run", *options, "-o", str(unfinished), *program.options,
                               "--", *program.words], env={**os.environ, **program.variables}, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            raise Failed(f"{' '.join(program.words)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        unfinished.rename(self.path(name))

    def names(self) -> List[str]:
        """Of all runs that are there."""
        return sorted(path.name[:-len(".gpubound")] for path in self.folder.glob("*.gpubound"))

    def machine(self) -> Dict[str, Any]:
        """What machine() said when they were recorded."""
        made: Dict[str, Any] = json.loads((self.folder / "machine.json").read_text())
        return made


def machine() -> Dict[str, Any]:
    """What figures depend on beside the programs."""
    processor = platform.processor() or platform.machine()
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            processor = line.split(":", 1)[1].strip()
            break
    import gpubound

    packages = {"gpubound": gpubound.__version__}
    for package in ("torch", "jax", "tensorflow-cpu", "keras", "stable-baselines3", "sbx-rl", "optax", "gymnasium",
                    "mujoco", "polars", "duckdb", "pyarrow"):
        try:
            packages[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            pass
    return {"processor": processor, "cores": os.cpu_count(), "python": platform.python_version(),
            "packages": packages}


def simulated_cartpole() -> Tuple[str, Dict[str, str]]:
    """The bundled CartPole PPO for the simulated device, and the environment that it needs."""
    import gpubound

    installed = pathlib.Path(gpubound.__file__).parent / "demo"
    build = pathlib.Path(os.environ.get("GPUBOUND_COMMAND") or shutil.which("gpubound") or "").resolve().parents[1]
    for program, libraries in ((installed / "cartpole_ppo", installed),
                               (build / "bin" / "cartpole_ppo", build / "lib" / "sim")):
        if program.exists() and (libraries / "libcupti.so.13").exists():
            before = os.environ.get("LD_LIBRARY_PATH")
            return str(program), {"LD_LIBRARY_PATH": f"{libraries}{':' + before if before else ''}"}
    raise Failed("cartpole_ppo for the simulated device is neither in the installed package nor in a build; "
                 "install gpubound (pip install .)")


# --- From values to text ---

def interval(values: Sequence[float]) -> Tuple[float, float, float]:
    """Mean and 95 % interval of the mean, by Student's distribution over runs; of values that are all above zero on
    the logarithm's scale, so that no time is below zero. One value has no interval: NaN."""
    mean = statistics.fmean(values)
    if len(values) < 2:
        return mean, math.nan, math.nan
    half = _student(len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))
    if min(values) > 0:
        factor = math.exp(half / mean)
        return mean, mean / factor, mean * factor
    return mean, mean - half, mean + half


def ratio_interval(over: Sequence[float], under: Sequence[float]) -> Tuple[float, float, float]:
    """Ratio of the means of two groups of runs, and its 95 % interval by Welch's on the logarithm of each run."""
    logs = [[math.log(value) for value in group] for group in (over, under)]
    ratio = statistics.fmean(over) / statistics.fmean(under)
    if min(len(over), len(under)) < 2:
        return ratio, math.nan, math.nan
    parts = [statistics.variance(group) / len(group) for group in logs]
    if sum(parts) == 0:
        return ratio, math.nan, math.nan
    degrees = sum(parts)**2 / sum(part**2 / (len(group) - 1) for part, group in zip(parts, logs))
    factor = math.exp(_student(degrees) * math.sqrt(sum(parts)))
    return ratio, ratio / factor, ratio * factor


def _student(degrees: float) -> float:
    return _STUDENT[max(1, math.floor(degrees)) - 1] if degrees <= len(_STUDENT) else 1.96


def number(value: float, digits: int = 2) -> str:
    """With so many digits that mean something, and not as a power."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else "-"
    places = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return f"{round(value, places):,.{places}f}"


def with_interval(made: Tuple[float, float, float], unit: str = "", scale: float = 1, digits: int = 2) -> str:
    """"46 % (44 to 48)"."""
    mean, low, high = (value * scale for value in made)
    text = f"{number(mean, digits)}{unit}"
    return text if math.isnan(low) else f"{text} ({number(low, digits)} to {number(high, digits)})"


def percent(made: Tuple[float, float, float]) -> str:
    return with_interval(made, " %", 100)


def whole_percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] + ["---:"] * (len(heads) - 1), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def prose(text: str) -> str:
    return textwrap.fill(" ".join(text.split()), WIDTH, break_long_words=False, break_on_hyphens=False)


def commands(script: str) -> str:
    """The two that repeat a study, as they stand on its page."""
    return (f"    pip install . -r examples/studies/requirements.txt\n"
            f"    python examples/studies/{script}.py")


def without_core(process: Any) -> float:
    """Of a process of a report: of the time in which its threads could have run, the share without a core."""
    cpu = [row["cpu"] for row in process["operations"] if row["cpu"]]
    ready_ns = sum(row["ready_ns"] for row in cpu)
    return ready_ns / max(1, ready_ns + sum(row["on_cpu_ns"] for row in cpu))


def where_measured(figures: Figures) -> str:
    of = figures["machine"]
    packages = ", ".join(f"{name} {version}" for name, version in of["packages"].items())
    without = [run["without_core"] for runs in figures["runs"].values() for run in runs]
    median, least, most = (whole_percent(of_all(without)) for of_all in (statistics.median, min, max))
    return (f"Measured on {of['processor']}, {of['cores']} cores, Python {of['python']}, {packages}. Other programs "
            f"ran on the machine: in {median} of the time in which a run's threads could have run they had no core, as "
            f"the median over runs ({least} to {most}). Runs were recorded in an order drawn by chance, so that this "
            "meets all programs alike.")


def assembled(name: str, parts: Sequence[str]) -> str:
    """The page: its parts, and how it was made."""
    made = prose(f"`examples/studies/{name}.py` made this page, and [its figures]({name}.json), from recorded runs. "
                 f"Nothing here was typed by hand but what papers report, which is named as theirs.")
    return "\n\n".join([*parts, "## Repeat it", commands(name), made]) + "\n"


# --- The command line of a study ---

def run_study(study: Any, words: Optional[Sequence[str]] = None) -> int:
    parser = argparse.ArgumentParser(description=study.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=pathlib.Path, default=ROOT / "build" / "studies" / study.NAME,
                        help="folder of the recorded runs (default: %(default)s)")
    parser.add_argument("--docs", type=pathlib.Path, default=ROOT / "docs" / "studies",
                        help="folder of the page (default: %(default)s)")
    parser.add_argument("--small", action="store_true", help="a few short runs that show that it works, and no more")
    parser.add_argument("--page", action="store_true", help="make the page of the figures that are there: no runs")
    options = parser.parse_args(words)
    place = options.docs / f"{study.NAME}.json"
    try:
        if options.page:
            figures = json.loads(place.read_text())
        else:
            recorder = Recorder(options.runs)
            study.record(recorder, options.small)
            figures = {"study": study.NAME, "small": options.small, "machine": recorder.machine(),
                       **study.read(recorder, options.small)}
            options.docs.mkdir(parents=True, exist_ok=True)
            place.write_text(json.dumps(figures, indent=1) + "\n")
            figures = json.loads(place.read_text())  # keys are texts now, as they are for who reads it later
    except (Failed, FileNotFoundError) as error:
        print(f"{study.NAME}: {error}", file=sys.stderr)
        return 1
    draw(study.draw, figures, options.docs / f"{study.NAME}.svg")
    (options.docs / f"{study.NAME}.md").write_text(study.page(figures))
    print(options.docs / f"{study.NAME}.md")
    return 0


def draw(painter: Callable[[Figures, Any], None], figures: Figures, place: pathlib.Path) -> None:
    """The same picture to the byte for the same figures."""
    import matplotlib
    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.hashsalt": place.name, "svg.fonttype": "none", "font.family": "sans-serif"})
    import matplotlib.pyplot as pyplot

    figure = pyplot.figure(figsize=(7, 3.2), layout="constrained")
    axes = figure.add_subplot()
    painter(figures, axes)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(place, metadata={"Date": None})
    pyplot.close(figure)
