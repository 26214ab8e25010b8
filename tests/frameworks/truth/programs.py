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
    marks: str = ""  # of the script
    libraries: dict = dataclasses.field(default_factory=dict)  # packages, their files, and the marks of each
    checkout: str = ""  # the environment variable that says where a checkout lies: scripts that are not ours


def own(name, *arguments):
    return Program(name, OWN / f"{name}.py", [*map(str, arguments)], name)


def sb3(algorithm, environment, steps):
    kind = "on" if algorithm in ("PPO", "A2C") else "off"
    name = algorithm.lower()
    return Program(f"sb3_{name}", SB3, [algorithm, environment, str(steps), "1"], libraries={"stable_baselines3": {
        f"common/{kind}_policy_algorithm.py": f"sb3_{kind}_policy", f"{name}/{name}.py": f"sb3_{name}"}})


def cleanrl(name, script, *arguments, marks=None):
    return Program(f"cleanrl_{name}", pathlib.Path("cleanrl") / f"{script}.py", [*map(str, arguments)],
                   f"cleanrl_{marks or name}", checkout="GPUBOUND_TRUTH_CLEANRL")


OWN_PROGRAMS = [own("dqn", 20000), own("sac", 3000), own("td3", 4000), own("ppo", 40), own("reinforce", 300),
                own("impala", 300), own("jax_dqn", 20000), own("tutorial_dqn", 50), own("vpg", 5)]
SB3_PROGRAMS = [sb3("PPO", "CartPole-v1", 20000), sb3("A2C", "CartPole-v1", 10000), sb3("DQN", "CartPole-v1", 20000),
                sb3("SAC", "Pendulum-v1", 1000), sb3("TD3", "Pendulum-v1", 1500)]


def tianshou(algorithm, steps, **files):
    return Program(f"tianshou_{algorithm.lower()}", OWN / "tianshou_training.py", [algorithm, str(steps)],
                   libraries={"tianshou": {
                       "data/collector.py": "tianshou_collector", "trainer.py": "tianshou_trainer",
                       "algorithm/algorithm_base.py": "tianshou_algorithm",
                       **{f"algorithm/modelfree/{file}.py": marks for file, marks in files.items()}}})


def skrl(algorithm, steps):
    name = algorithm.lower()
    return Program(f"skrl_{name}", OWN / "skrl_training.py", [algorithm, str(steps)], "skrl", libraries={"skrl": {
        "trainers/torch/base.py": "skrl_trainer", f"agents/torch/{name}/{name}.py": f"skrl_{name}"}})


def pufferlib(backend, steps):
    return Program(f"pufferlib_{backend.lower()}", OWN / "pufferlib_training.py", [backend, str(steps)],
                   "pufferlib_training", libraries={"pufferlib": {"pufferl.py": "pufferlib_trainer"}})


OTHER_PROGRAMS = [
    tianshou("DQN", 20000, dqn="tianshou_dqn"), tianshou("PPO", 20000, ppo="tianshou_ppo"),
    tianshou("SAC", 3000, ddpg="tianshou_critic", sac="tianshou_sac"),
    skrl("PPO", 8000), skrl("SAC", 1000), pufferlib("Serial", 8192), pufferlib("Multiprocessing", 8192),
    Program("torchrl_dqn", OWN / "torchrl_dqn.py", ["8000"], "torchrl_dqn", libraries={
        "torchrl": {"collectors/collectors.py": "torchrl_collector"}}),
    Program("lightning_dqn", OWN / "lightning_dqn.py", ["1500"], "lightning_dqn", libraries={
        "torch": {"optim/adam.py": "torch_adam"},
        "pytorch_lightning": {"plugins/precision/precision.py": "lightning_precision"}}),
    Program("rllib_ppo", OWN / "rllib_ppo.py", ["10"], "rllib_ppo", libraries={"ray": {
        "rllib/algorithms/ppo/ppo.py": "rllib_turn", "rllib/algorithms/algorithm.py": "rllib_algorithm",
        "rllib/core/learner/torch/torch_learner.py": "rllib_learner",
        "rllib/connectors/learner/general_advantage_estimation.py": "rllib_gae"}}),
    Program("trl_grpo", OWN / "trl_grpo.py", ["20"], "trl_grpo", libraries={
        "trl": {"trainer/grpo_trainer.py": "trl_trainer"}, "transformers": {"trainer.py": "trl_transformers"}}),
]
# What prints timers of its own (timers.py).
TIMED_PROGRAMS = [
    Program("sb3_fps", OWN / "sb3_fps.py", ["8192"], libraries={"stable_baselines3": {
        "common/on_policy_algorithm.py": "sb3_on_policy", "ppo/ppo.py": "sb3_ppo"}}),
    Program("rsl_rl_ppo", OWN / "rsl_rl_training.py", ["20"], libraries={
        "rsl_rl": {"runners/on_policy_runner.py": "rsl_rl_runner"}}),
    Program("rl_games_ppo", OWN / "rl_games_training.py", ["12"], libraries={
        "rl_games": {"common/a2c_common.py": "rl_games_a2c"}}),
]
# Shortened by their own flags.
CLEANRL_PROGRAMS = [
    cleanrl("ppo", "ppo", "--total-timesteps", 20000),
    cleanrl("dqn", "dqn", "--total-timesteps", 40000, "--learning-starts", 2000),
    cleanrl("c51", "c51", "--total-timesteps", 15000, "--learning-starts", 2000, "--exploration-fraction", 0.3),
    cleanrl("td3", "td3_continuous_action", "--total-timesteps", 1500, "--learning-starts", 300),
    cleanrl("sac", "sac_continuous_action", "--total-timesteps", 800, "--learning-starts", 300),
    cleanrl("rpo", "rpo_continuous_action", "--total-timesteps", 8200),
    cleanrl("pqn", "pqn", "--total-timesteps", 80000),
    cleanrl("ppg", "ppg_procgen", "--total-timesteps", 2048, "--num-envs", 8, "--num-steps", 32, "--n-iteration", 4,
            "--e-auxiliary", 2),
    cleanrl("ppo_atari", "ppo_atari", "--total-timesteps", 3072, marks="ppo"),
    cleanrl("dqn_jax", "dqn_jax", "--total-timesteps", 30000, "--learning-starts", 2000),
]
PROGRAMS = {program.name: program for program in OWN_PROGRAMS + SB3_PROGRAMS + OTHER_PROGRAMS + TIMED_PROGRAMS +
            CLEANRL_PROGRAMS}
