# SPDX-License-Identifier: Apache-2.0
"""What recording costs on the launch path, and what the list of quiet functions saves of it."""
import statistics

TITLE = "overhead: without gpubound, with it, and with every query recorded"

TURNS = 20_000
ROUNDS = 5
# The queries of programs/calls.cu, taken off the list of quiet functions.
RECORD_QUERIES = "-cudaGetDevice,-cudaGetLastError,-cudaPeekAtLastError,-cudaEventQuery"


def run(verdict, machine):
    program = machine.build("calls")
    words = [program, TURNS]
    ways = {"without": lambda: machine.command(words).out}
    if not machine.simulated:
        client = machine.build_injection("cupti_client")
        ways["CUPTI alone, records thrown away"] = lambda: machine.command(
            words, CUDA_INJECTION64_PATH=client).out
    ways |= {
        "with": lambda: machine.record(words).outcome.out,
        "every query recorded": lambda: machine.record(
            words, GPUBOUND_QUIET_APIS=RECORD_QUERIES).outcome.out,
        "graphs auto": lambda: machine.record(words, options=["--graphs", "auto"]).outcome.out,
    }
    measure(verdict, "a turn of 8 calls and one kernel", ways,
            lambda out: float(out.split('"ns_per_turn": ')[1].split("}")[0]), "ns")
    if machine.simulated:
        verdict.left_out("torch's overhead", "it needs torch on a GPU")
        return
    script = [machine.find_python(), machine.bundle / "programs/torch_actor_critic.py"]
    trace = machine.scratch / "kineto.json"
    ways = {
        "without": lambda: machine.command(script).out,
        "with": lambda: machine.record(script).outcome.out,
        "torch.profiler, GPU alone": lambda: machine.command([*script, "--profile", trace]).out,
    }
    measure(verdict, "an iteration of the torch actor-critic", ways,
            lambda out: float(out.split('"ms_per_iteration": ')[1].split(",")[0]), "ms")


def measure(verdict, what, ways, read, unit):
    """The median of each way. Interleaved, so that what the machine does meanwhile falls on all
    alike."""
    seen = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, way in ways.items():
            seen[name].append(read(way()))
    base = statistics.median(seen["without"])
    for name, values in seen.items():
        ratios = sorted(value / without for value, without in zip(values, seen["without"]))
        verdict.figure(f"{what}, {name}",
                       f"median {statistics.median(values):.3f} {unit}, ratio "
                       f"{statistics.median(ratios):.3f} ({ratios[0]:.3f} to {ratios[-1]:.3f})")
    verdict.check(base > 0 and all(len(values) == ROUNDS for values in seen.values()),
                  f"{what}: measured {ROUNDS} times each way, in turn")
