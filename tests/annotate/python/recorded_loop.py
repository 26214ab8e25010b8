# SPDX-License-Identifier: Apache-2.0
"""Training loops of which each call is a letter."""
import gpubound
from gpubound import _loop
from recorded import RecordedTest, take, without_numbers

class Optimizer:
    pass


class RecordedLoop(RecordedTest):
    def setUp(self):
        _loop.forget_in_fork_child()
        self.addCleanup(_loop.forget_in_fork_child)
        self.critic, self.actor = Optimizer(), Optimizer()
        self.calls = {"e": _loop.enter_rollout, "r": _loop.note_reset, "b": _loop.enter_update,
                      "j": lambda: _loop.begin_jitted_turn(self.critic),
                      "k": lambda: _loop.begin_jitted_turn(self.actor),
                      "c": lambda: _loop.note_optimizer(self.critic),
                      "a": lambda: _loop.note_optimizer(self.actor),
                      "t": _loop.end_turn, "s": gpubound.step, "l": _loop.leave}
        super().setUp()

    def run_loop(self, program):
        """`program` has a letter for each call: an environment is stepped or reset, backward(), the critic's or
        the actor's optimizer steps, a jitted training step, a framework's turn, step() of the program, the
        end of a cell. Returns what is recorded, a word each."""
        for call in program:
            self.calls[call]()
        words = {"begin operation stage:rollout": "rollout(", "end operation stage:rollout": ")",
                 "iterations begin": "|", "begin operation stage:update": "update(", "end operation stage:update": ")"}
        return " ".join(words.get(call, call) for call in without_numbers(take()))
