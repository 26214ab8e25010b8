# SPDX-License-Identifier: Apache-2.0
"""The programs whose naming is compared with their own clocks, and which marks (marks/) go where."""
import dataclasses
import pathlib

HERE = pathlib.Path(__file__).resolve().parent
OWN = HERE / "programs"
SB3 = HERE.parent / "programs" / "sb3_training.py"


@dataclasses.dataclass
class Program:
    name: str
    script: object  # a path, or one below the folder of a checkout
    arguments: list
    marks: str = ""  # of the script; one of a library has them there
    library: str = ""  # the package of which a marked copy is made
    files: dict = dataclasses.field(default_factory=dict)  # its files, and the marks of each
    checkout: str = ""  # the environment variable that says where a checkout lies: scripts that are not ours


def own(name, *arguments):
    return Program(name, OWN / f"{name}.py", [*map(str, arguments)], name)


def sb3(algorithm, environment, steps):
    kind = "on" if algorithm in ("PPO", "A2C") else "off"
    name = algorithm.lower()
    return Program(f"sb3_{name}", SB3, [algorithm, environment, str(steps), "1"], library="stable_baselines3",
                   files={f"common/{kind}_policy_algorithm.py": f"sb3_{kind}_policy",
                          f"{name}/{name}.py": f"sb3_{name}"})


def cleanrl(name, script, *arguments):
    return Program(f"cleanrl_{name}", pathlib.Path("cleanrl") / f"{script}.py", [*map(str, arguments)],
                   f"cleanrl_{name}", checkout="GPUBOUND_TRUTH_CLEANRL")


OWN_PROGRAMS = [own("dqn", 20000), own("sac", 3000), own("td3", 4000), own("ppo", 40), own("reinforce", 300),
                own("impala", 300), own("jax_dqn", 20000)]
SB3_PROGRAMS = [sb3("PPO", "CartPole-v1", 20000), sb3("A2C", "CartPole-v1", 10000), sb3("DQN", "CartPole-v1", 20000),
                sb3("SAC", "Pendulum-v1", 2000), sb3("TD3", "Pendulum-v1", 3000)]
# Shortened by their own flags.
CLEANRL_PROGRAMS = [
    cleanrl("ppo", "ppo", "--total-timesteps", 40000),
    cleanrl("dqn", "dqn", "--total-timesteps", 40000, "--learning-starts", 2000),
    cleanrl("c51", "c51", "--total-timesteps", 15000, "--learning-starts", 2000, "--exploration-fraction", 0.3),
    cleanrl("td3", "td3_continuous_action", "--total-timesteps", 3000, "--learning-starts", 500),
    cleanrl("sac", "sac_continuous_action", "--total-timesteps", 1500, "--learning-starts", 300),
    cleanrl("rpo", "rpo_continuous_action", "--total-timesteps", 14000),
    cleanrl("pqn", "pqn", "--total-timesteps", 40000),
    cleanrl("dqn_jax", "dqn_jax", "--total-timesteps", 30000, "--learning-starts", 2000),
]
PROGRAMS = {program.name: program for program in OWN_PROGRAMS + SB3_PROGRAMS + CLEANRL_PROGRAMS}
