# SPDX-License-Identifier: Apache-2.0
"""Steps a simulated pendulum and an Atari game: simulators.py STEPS. Knows nothing of gpubound."""
import sys

import ale_py
import mujoco

PENDULUM = """
<mujoco><worldbody><body><joint type="hinge" axis="0 1 0"/><geom size="0.1" pos="0 0 -1"/></body>
</worldbody></mujoco>
"""


def main():
    steps = int(sys.argv[1])
    model = mujoco.MjModel.from_xml_string(PENDULUM)
    data = mujoco.MjData(model)
    data.qpos[0] = 1.0
    game = ale_py.ALEInterface()
    game.setInt("random_seed", 1)
    game.loadROM(ale_py.roms.get_rom_path("pong"))
    score = 0
    for _ in range(steps):
        mujoco.mj_step(model, data)
        score += game.act(0)
    print(float(data.qpos[0]), score)


if __name__ == "__main__":
    main()
