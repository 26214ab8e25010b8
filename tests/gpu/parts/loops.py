# SPDX-License-Identifier: Apache-2.0
"""How far corrected times are from the truth, within a process: some iterations of a training loop are
recorded, then the recording ends and the same loop goes on without it. What processes differ by, and
loading libraries, is thus not in it. Processes without gpubound, in between, tell how much the loop
itself changes from the one stretch to the other. Wrapped Python methods stay wrapped when a recording
ends: what the wrappers cost is in both stretches here, and in neither of the plain processes."""
import dataclasses
import json
import random
import statistics
import struct

from harness.recording import Recording, account_of

TITLE = "the residual of corrected times, of iterations recorded and then not"

SETTLED_NS = 300_000_000  # behind the recording's end: its last records have been written
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
    Loop("torch actor-critic", ["torch_actor_critic.py", "--log", "--iterations"], 20, 120, 140),
    Loop("torch actor-critic, CUDA graph",
         ["torch_actor_critic.py", "--log", "--graph", "--iterations"], 20, 150, 170),
    Loop("stable-baselines3 PPO", ["sb3_loop.py", "PPO", "CartPole-v1"], 1, 4, 4),
    Loop("stable-baselines3 A2C", ["sb3_loop.py", "A2C", "CartPole-v1"], 5, 30, 33),
    Loop("stable-baselines3 DQN", ["sb3_loop.py", "DQN", "CartPole-v1"], 80, 500, 560),
    Loop("stable-baselines3 SAC", ["sb3_loop.py", "SAC", "Pendulum-v1"], 230, 220, 250),
    Loop("stable-baselines3 TD3", ["sb3_loop.py", "TD3", "Pendulum-v1"], 230, 350, 390),
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
    verdict.figure(f"{loop.name}, profiled, ms recorded, corrected and afterwards",
                   "; ".join(" ".join(f"{value:.3f}" for value in one) for one in seen))
    for name, values in (
            ("slowdown", [recorded / after - 1 for recorded, _, after in seen]),
            ("residual", [corrected / after - 1 for _, corrected, after in seen])):
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


def seen_in(verdict, loop, recording):
    """Of an iteration, ms: recorded, corrected, and behind the recording."""
    begins = begins_of(recording.outcome)
    windows = sorted(recording.path.glob("*.steps"))
    if len(begins) < loop.iterations or len(windows) != 1:
        verdict.check(False, f"{loop.name}: ends well with gpubound", recording.outcome.describe())
        return None
    (recording.path / "iteration_begins_ns.json").write_text(json.dumps(begins), encoding="utf-8")
    begin_ns, end_ns = struct.unpack("qq", windows[0].read_bytes()[:16])
    process = max(recording.report["processes"], key=lambda one: one["span_ns"])
    corrected = process["corrected"]
    if corrected is None:
        verdict.check(False, f"{loop.name}: is corrected", process["corrected_why_not"])
        return None
    recorded_ms = middle_ms(begins, begins[loop.first + 1], end_ns)
    saved = 1 - corrected["span_ns"] / process["span_ns"]
    mean_ms = (end_ns - begin_ns) / loop.recorded / 1e6
    return (recorded_ms, recorded_ms - saved * mean_ms, middle_ms(begins, end_ns + SETTLED_NS, begins[-1]))
