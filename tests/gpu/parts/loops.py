# SPDX-License-Identifier: Apache-2.0
"""How far corrected times are from the truth, within a process: some iterations of a training loop are
recorded, then the recording ends and the same loop goes on without it. What processes differ by, and
loading libraries, is thus not in it. Processes without gpubound, in between, tell how much the loop
itself changes from the one stretch to the other. What a report may compare its recorded iterations with
(as many behind the recording) is not what it is judged by: the truth are iterations further behind.
Of a recording, hooks that find operations stay when it ends: what they cost is in both stretches here, and
in neither of the plain processes."""
import dataclasses
import json
import random
import statistics
import struct

from harness.recording import Recording, account_of

TITLE = "the residual of corrected times, of iterations recorded and then not"

SETTLED_NS = 300_000_000  # behind the recording's end: its last records have been written
FEWEST_JUDGES = 5
PROFILED, PLAIN = "profiled", "plain"


@dataclasses.dataclass
class Loop:
    name: str
    words: list
    first: int      # iteration that is recorded
    recorded: int
    afterwards: int
    profiled: int = 2  # processes, one after the other
    plain: int = 1

    @property
    def iterations(self):
        return self.first + self.recorded + self.afterwards


LOOPS = (
    Loop("torch actor-critic", ["torch_actor_critic.py", "--log", "--iterations"], 20, 120, 280),
    Loop("stable-baselines3 DQN", ["sb3_loop.py", "DQN", "CartPole-v1"], 80, 500, 1200),
    Loop("stable-baselines3 TD3", ["sb3_loop.py", "TD3", "Pendulum-v1"], 230, 350, 800, profiled=1),
    Loop("stable-baselines3 A2C", ["sb3_loop.py", "A2C", "CartPole-v1"], 5, 30, 70),
    Loop("stable-baselines3 SAC", ["sb3_loop.py", "SAC", "Pendulum-v1"], 230, 220, 500, profiled=1),
    Loop("stable-baselines3 PPO", ["sb3_loop.py", "PPO", "CartPole-v1"], 1, 10, 24, profiled=1),
    Loop("torch actor-critic, CUDA graph",
         ["torch_actor_critic.py", "--log", "--graph", "--iterations"], 20, 150, 340, profiled=1),
)


def run(verdict, machine):
    if machine.simulated:
        verdict.left_out("the residual of training loops", "they need torch on a GPU")
        return
    python = machine.find_python()
    calibrated = machine.tool("calibrate", "--python", python, "--seconds", 25, timeout_s=150)
    if not verdict.check(calibrated.status == 0, "gpubound calibrate measures", calibrated.describe()):
        return
    verdict.add_report("calibration", calibrated.out)
    has_sb3 = machine.has_module("stable_baselines3")
    verdict.check(has_sb3, "this machine has stable-baselines3")
    for loop in LOOPS:
        if has_sb3 or "sb3" not in loop.words[0]:
            measure(verdict, machine, python, loop)


def measure(verdict, machine, python, loop):
    script, *words = loop.words
    command = [python, machine.bundle / "programs" / script, *words, loop.iterations]
    window = f"{loop.first}:{loop.first + loop.recorded}"

    def start(way):
        if way == PLAIN:
            return machine.command(command)
        return machine.record(command, options=["--steps", window])

    ways = [PROFILED] * loop.profiled + [PLAIN] * loop.plain
    random.Random(loop.name).shuffle(ways)
    ended = [start(way) for way in ways]
    drifts = [drift_of(verdict, loop, outcome) for way, outcome in zip(ways, ended) if way == PLAIN]
    seen = [seen_in(verdict, loop, recording) for recording in ended if isinstance(recording, Recording)]
    drifts, seen = [one for one in drifts if one], [one for one in seen if one]
    if not verdict.check(len(seen) == loop.profiled and len(drifts) == loop.plain,
                         f"{loop.name}: every process tells its iterations"):
        return
    verdict.figure(f"{loop.name}, plain, ms early, late and by how much longer late",
                   "; ".join(f"{early:.3f} {late:.3f} {late / early - 1:+.2%}" for early, late in drifts))
    verdict.figure(f"{loop.name}, profiled, ms recorded, corrected as calibrated, corrected by what came "
                   "behind, and afterwards",
                   "; ".join(f"{one.recorded:.3f} {one.as_calibrated:.3f} {one.by_later:.3f} "
                             f"{one.afterwards:.3f} ({one.later})" for one in seen))
    for name, values in (
            ("slowdown", [one.recorded / one.afterwards - 1 for one in seen]),
            ("residual as calibrated", [one.as_calibrated / one.afterwards - 1 for one in seen]),
            ("residual by what came behind", [one.by_later / one.afterwards - 1 for one in seen])):
        verdict.figure(f"{loop.name}, {name}",
                       f"median {statistics.median(values):+.2%} of "
                       + " ".join(f"{value:+.2%}" for value in values))


def begins_of(outcome):
    return account_of(outcome).get("iteration_begins_ns", [])


def middle_ms(begins, first, end):
    """The median of the iterations that begin between |first| and |end|, ns, and end there."""
    lengths = [(after - begin) / 1e6 for begin, after in zip(begins, begins[1:])
               if first <= begin and after <= end]
    return statistics.median(lengths)


def drift_of(verdict, loop, outcome):
    """Iterations as long as those that others have recorded, and as those behind, ms."""
    begins = begins_of(outcome)
    if len(begins) < loop.iterations:
        verdict.check(False, f"{loop.name}: ends well without gpubound", outcome.describe())
        return None
    turn = begins[loop.first + loop.recorded]
    return (middle_ms(begins, begins[loop.first + 1], turn),
            middle_ms(begins, turn + SETTLED_NS, begins[-1]))


@dataclasses.dataclass
class Seen:
    """Of an iteration, ms: recorded, corrected with and without what came behind, and further behind."""
    recorded: float
    as_calibrated: float
    by_later: float
    afterwards: float
    later: str


def seen_in(verdict, loop, recording):
    begins = begins_of(recording.outcome)
    windows = sorted(recording.path.glob("*.steps"))
    if len(begins) < loop.iterations or len(windows) != 1:
        verdict.check(False, f"{loop.name}: ends well with gpubound", recording.outcome.describe())
        return None
    (recording.path / "iteration_begins_ns.json").write_text(json.dumps(begins), encoding="utf-8")
    begin_ns, end_ns = struct.unpack("qq", windows[0].read_bytes()[:16])
    if not verdict.check(any(recording.path.glob("*.later")), f"{loop.name}: later iterations are kept"):
        return None
    by_later = longest(recording.report)
    if by_later["corrected"] is None:
        verdict.check(False, f"{loop.name}: is corrected", by_later["corrected_why_not"])
        return None
    later = by_later["corrected"]["in_run_calibration"]["later"]
    as_calibrated = longest(report_without_later(recording))
    recorded_ms = middle_ms(begins, begins[loop.first + 1], end_ns)
    mean_ms = (end_ns - begin_ns) / loop.recorded / 1e6

    def corrected_ms(process):
        return recorded_ms - (1 - process["corrected"]["span_ns"] / process["span_ns"]) * mean_ms
    settled = [begin for begin in begins if begin >= end_ns + SETTLED_NS]
    judges = settled[later["iterations"] if later else 0:]
    if not verdict.check(len(judges) > FEWEST_JUDGES, f"{loop.name}: iterations are left to judge by",
                         f"{len(judges)} of {len(settled)}"):
        return None
    return Seen(recorded_ms, corrected_ms(as_calibrated), corrected_ms(by_later),
                middle_ms(begins, judges[0], begins[-1]), describe(later))


def longest(report):
    return max(report["processes"], key=lambda one: one["span_ns"])


def report_without_later(recording):
    """The same, had nobody noted when the iterations behind the recording ended."""
    files = list(recording.path.glob("*.later"))
    for file in files:
        file.rename(file.with_suffix(".aside"))
    report = json.loads(recording.machine.tool("report", recording.path, "--json").out)
    for file in files:
        file.with_suffix(".aside").rename(file)
    return report


def describe(later):
    if later is None:
        return "nothing behind"
    factor = "not known"
    if later["factor"] is not None:
        factor = f"{later['factor']:.3f} +/- {later['standard_error']:.3f}"
    return (f"{later['of']} x {factor}"
            f"{'' if later['used'] else ' not used'}, {later['iterations']} of each")
