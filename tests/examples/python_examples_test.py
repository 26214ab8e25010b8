# SPDX-License-Identifier: Apache-2.0
"""The Python examples do the same with and without the profiler, and their reports say what they
promise. Environment: GPUBOUND_TEST_COMMAND, GPUBOUND_TEST_EXAMPLES, GPUBOUND_TEST_PACKAGE."""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

COMMAND = os.environ["GPUBOUND_TEST_COMMAND"]
EXAMPLES = os.environ["GPUBOUND_TEST_EXAMPLES"]


class ExampleTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.run_directory = f"{folder.name}/x.gpubound"

    def output_of(self, *words, **variables):
        return self.outputs_of(*words, **variables)[0]

    def outputs_of(self, *words, **variables):
        """Standard output and standard error."""
        done = subprocess.run(words, capture_output=True, text=True, timeout=900, check=False,
                              env={**os.environ, **variables})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout, done.stderr

    def profile(self, example, *arguments):
        """Output and report of the example under the profiler."""
        text, _, report = self.profile_all(example, *arguments)
        return text, report

    def profile_all(self, example, *arguments):
        """The same with standard error."""
        text, errors = self.outputs_of(COMMAND, "run", "-q", "-o", self.run_directory, "--",
                                       sys.executable, f"{EXAMPLES}/{example}", *arguments)
        return text, errors, json.loads(self.output_of(COMMAND, "report", self.run_directory, "--json"))

    def roles(self, report):
        """What the report says of them, and each by its name."""
        roles = report["run"]["training"]["roles"]
        return roles, {row["role"]: row for row in roles["roles"]}

    def operations(self, report):
        return {row["operation"]: row["count"] for row in report["processes"][0]["operations"]}


class QuickStartTest(ExampleTest):
    def test_it_learns_the_same_with_and_without_the_profiler(self):
        plain = self.output_of(sys.executable, f"{EXAMPLES}/quick_start.py",
                               PYTHONPATH=os.environ["GPUBOUND_TEST_PACKAGE"])
        profiled, report = self.profile("quick_start.py")
        self.assertEqual(profiled, plain)
        counts = self.operations(report)
        # Every action is chosen, carried out and learned from; each episode begins with a reset.
        self.assertEqual(counts["inference"], counts["update"])
        self.assertEqual(counts["simulation"], counts["update"] + 300)
        self.assertEqual({cell["phase"] for cell in report["processes"][0]["cells"]},
                         {"(no phase)", "training"})


class CustomLoopTest(ExampleTest):
    def test_threads_that_work_for_the_loop_count_as_its_operation(self):
        plain = self.output_of(sys.executable, f"{EXAMPLES}/custom_loop.py",
                               PYTHONPATH=os.environ["GPUBOUND_TEST_PACKAGE"])
        profiled, report = self.profile("custom_loop.py")
        self.assertEqual(profiled, plain)
        counts = self.operations(report)
        self.assertEqual((counts["proposal"], counts["update"]), (12, 12))
        # Once on the main thread, and for each candidate on a thread of the pool.
        self.assertGreaterEqual(counts["simulation"], 12)
        self.assertEqual({cell["phase"] for cell in report["processes"][0]["cells"]},
                         {"(no phase)", "warmup", "training"})


class CleanRlStyleTest(ExampleTest):
    def test_the_loop_is_found_without_a_framework(self):
        _, report = self.profile("cleanrl_style_ppo.py", "2")
        counts = self.operations(report)
        self.assertEqual((counts["rollout"], counts["update"]), (2, 2))
        self.assertEqual(counts["backpropagation"], 2 * 4 * 4)


class JaxTest(ExampleTest):
    def test_each_jitted_training_step_is_an_operation(self):
        _, report = self.profile("jax_ppo.py", "3")
        # Called three times, and awaited after each.
        self.assertGreaterEqual(self.operations(report)["train_step"], 6)


class RayTest(ExampleTest):
    def test_each_actor_is_a_process_with_its_methods(self):
        _, report = self.profile("ray_rollouts.py", "2")
        # A worker inherits what the driver waits in, until it has become an actor.
        counts = [{row["operation"]: row["count"] for row in process["operations"]
                   if not row["inherited"]} for process in report["processes"]]
        self.assertEqual([row["play"] for row in counts if "play" in row], [2, 2])
        self.assertEqual([row["rollout"] for row in counts if "rollout" in row], [2])

    def test_roles_work_and_wait_as_long_as_the_clocks_of_the_program_say(self):
        for mode in ([], ["--asynchronous"]):
            with self.subTest(mode=mode):
                self.run_directory += "".join(mode)
                _, errors, report = self.profile_all("ray_rollouts.py", "8", *mode)
                took, waited, *worked = map(float, re.search(
                    r"([\d.]+) s, of which the driver waited ([\d.]+) s; actors worked ([\d.]+) s, ([\d.]+) s",
                    errors).groups())
                roles, by_name = self.roles(report)
                self.assertEqual([len(by_name[role]["processes"]) for role in ("rollout", "train")], [2, 1])
                # Both are about the iterations but the first.
                self.assertAlmostEqual(roles["ns"] / 1e9, took, delta=0.02 * took)
                # The driver hands its weights to Ray, and unpacks episodes, in what its clock calls waiting.
                waits = (roles["ns"] - by_name["train"]["active_ns"]) / 1e9
                self.assertLess(waits, waited + 0.02 * took)
                self.assertGreater(waits, 0.5 * waited)
                # Synchronous, all episodes but the first lie in that time; an actor also takes orders.
                acted = sorted(row["active_ns"] / 1e9 for row in by_name["rollout"]["processes"])
                for reported, clocked in zip(acted, sorted(worked)):
                    self.assertAlmostEqual(reported, clocked, delta=(0.3 if mode else 0.1) * took)


class TrlTest(ExampleTest):
    def test_turns_of_rollout_and_training_are_as_long_as_the_clocks_of_the_program_say(self):
        _, errors, report = self.profile_all("trl_grpo.py", "6")
        rollout, train = map(float, re.search(r"rollout ([\d.]+) s, train ([\d.]+) s", errors).groups())
        roles, by_name = self.roles(report)
        self.assertAlmostEqual(roles["ns"] / 1e9, rollout + train, delta=0.03 * (rollout + train))
        for role, clocked in (("rollout", rollout), ("train", train)):
            [process] = by_name[role]["processes"]
            self.assertFalse(process["inferred"])
            self.assertAlmostEqual(process["ns"] / 1e9, clocked, delta=0.03 * (rollout + train))
            # It is never at rest for long: one process does both in turn.
            self.assertGreater(by_name[role]["active_ns"], 0.9 * process["ns"])
        self.assertEqual(sum(row["ns"] for row in roles["overlap"]), roles["ns"])
        self.assertNotIn(["rollout", "train"], [row["roles"] for row in roles["overlap"]])


class ActorLearnerTest(ExampleTest):
    def test_the_report_says_how_long_each_role_works_as_its_own_clocks_do(self):
        for mode in ([], ["--asynchronous"]):
            with self.subTest(mode=mode):
                self.run_directory += "".join(mode)
                text, report = self.profile("actor_learner.py", "12", *mode)
                took, waited = map(float, re.search(r"([\d.]+) s, of which the learner waited ([\d.]+) s",
                                                    text).groups())
                roles = {row["role"]: row for row in report["run"]["training"]["roles"]["roles"]}
                self.assertEqual([len(roles[role]["processes"]) for role in ("rollout", "train")], [2, 1])
                # The clocks hold the first iteration too, in which actors start.
                works = report["run"]["training"]["roles"]["ns"] - roles["train"]["active_ns"]
                self.assertLess(works / 1e9, waited + 0.05 * took)
                self.assertGreater(roles["rollout"]["active_ns"], roles["train"]["active_ns"])


class StableBaselinesTest(ExampleTest):
    def test_the_unedited_program_has_the_operations_that_it_promises(self):
        _, report = self.profile("stable_baselines3_ppo.py")
        counts = self.operations(report)
        self.assertEqual(counts["update"], 4)
        self.assertEqual(counts["optimizer"], counts["backpropagation"])
        self.assertEqual(counts["inference"], 2048 + 4)


if __name__ == "__main__":
    unittest.main()
