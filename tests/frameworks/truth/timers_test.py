# SPDX-License-Identifier: Apache-2.0
"""What docs/results/framework_timers.md says of three frameworks' own timers, on short runs. No time is asserted by
itself: two accounts of the same run are, one against the other.

Environment: GPUBOUND_TEST_COMMAND."""
import os
import pathlib
import tempfile
import unittest

import timers

PERCENT = 5.0  # a thread may lose its core between the framework's clock and ours
SHORT_PERCENT = 20.0  # ... and around each of many short calls: on a busy machine a clock around them was 7 % off


class TimersTest(unittest.TestCase):
    def check(self, name, arguments):
        self.addCleanup(setattr, timers.FRAMEWORKS[name], "arguments", timers.FRAMEWORKS[name].arguments)
        timers.FRAMEWORKS[name].arguments = arguments
        with tempfile.TemporaryDirectory() as folder:
            rows = timers.rows_of(name, os.environ["GPUBOUND_TEST_COMMAND"], pathlib.Path(folder))
        for row in rows:
            printed, measured, clocked = row.copied
            with self.subTest(timer=row.timer.name, plain=row.plain, copied=row.copied):
                if row.timer.says == timers.SAME:
                    self.assertLess(abs(timers.off(*row.plain)), PERCENT)
                    self.assertLess(abs(timers.off(printed, measured)), PERCENT)
                elif row.timer.says == timers.MORE:
                    self.assertGreater(timers.off(*row.plain), 0)
                elif row.timer.says == timers.LESS:
                    self.assertLess(timers.off(*row.plain), 0)
                self.assertLess(abs(timers.off(measured, clocked)),
                                SHORT_PERCENT if row.timer.says == timers.LESS else PERCENT)
        return {row.timer.name: row for row in rows}

    def test_rsl_rl_prints_the_times_that_were_measured_and_a_rate_without_its_log(self):
        self.check("rsl_rl", ["10"])

    def test_fps_step_of_rl_games_is_not_of_the_environment_alone(self):
        rows = self.check("rl_games", ["8"])
        self.assertLess(timers.off(*rows["`fps step`"].plain), -10)

    def test_a_step_of_trl_takes_longer_than_its_step_time(self):
        self.check("trl", ["20", "trackio"])


if __name__ == "__main__":
    unittest.main()
