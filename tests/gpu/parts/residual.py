# SPDX-License-Identifier: Apache-2.0
"""How far corrected times are from the truth on a GPU: `gpubound calibrate`, then `gpubound verify` on
training programs. These keep the GPU busy for a tenth of the time, so that what it does while its program
is stopped is no more than the last launches of a turn. On the simulated device: the bundled PPO alone."""
import json

TITLE = "calibration, and the residual of corrected times"

ROUNDS = 6
TURNS = ("--turns", 100)
SB3 = ("import stable_baselines3 as sb3, sys\n"
       "sb3.PPO('MlpPolicy', 'CartPole-v1', device='cuda', seed=1, n_steps=1024)"
       ".learn(int(sys.argv[1]))\n")


def run(verdict, machine):
    python = machine.find_python()
    calibrated = machine.tool("calibrate", "--python", python, "--seconds", 25, "--json",
                              timeout_s=150)
    if not verdict.check(calibrated.status == 0, "gpubound calibrate measures",
                         calibrated.describe()):
        return
    for entry in json.loads(calibrated.out)["costs"]:
        verdict.figure("cost", entry)
    verdict.add_report("calibration", machine.tool("doctor").out)
    for name, words in programs(verdict, machine, python):
        outcome = machine.tool("verify", "--rounds", ROUNDS, *TURNS, "--json", "--", *words, timeout_s=240)
        if not verdict.check(outcome.status == 0, f"{name}: verify measures", outcome.describe()):
            continue
        said = json.loads(outcome.out)
        verdict.figure(name, said)


def programs(verdict, machine, python):
    """Names and command lines."""
    bundled_ppo = machine.build_example(sorted((machine.bundle / "src/examples/cartpole_ppo").glob("*.cc")))
    found = [("bundled PPO", [bundled_ppo, "--seed", 1, "--quiet"])]
    if machine.simulated:
        verdict.left_out("torch's programs", "they need a GPU")
        return found
    found.append(("torch actor-critic",
                  [python, machine.bundle / "programs/torch_actor_critic.py", "--iterations", 200]))
    if machine.has_module("stable_baselines3"):
        found.append(("stable-baselines3 PPO", [python, "-c", SB3, 6144]))
    else:
        verdict.figure("stable-baselines3", "not on this machine")
    return found
