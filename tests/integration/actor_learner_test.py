# SPDX-License-Identifier: Apache-2.0
"""What the report says of the roles of a training against the clocks of the program itself. Environment:
GPUBOUND_TEST_COMMAND, GPUBOUND_TEST_PROGRAMS, GPUBOUND_TEST_SIM_DIR."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

COMMAND = os.environ["GPUBOUND_TEST_COMMAND"]
PROGRAM = os.environ["GPUBOUND_TEST_PROGRAMS"] + "/actor_learner.py"
ITERATIONS = 30
KERNELS = 5
KERNEL_NS = 1_000_000


def union(times):
    """Disjoint, in order."""
    merged = []
    for begin, end in sorted(times):
        if merged and begin <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([begin, end])
    return merged


def common(times, others):
    """For how long both are."""
    return sum(max(0, min(end, other_end) - max(begin, other_begin))
               for begin, end in union(times) for other_begin, other_end in union(others))


CHILD = """
import gpubound
with gpubound.operation("work"):
    sum(range(1000))
"""
PARENT = f"""
import os, subprocess, sys
subprocess.run([sys.executable, "-c", {CHILD!r}], env={{**os.environ, "GPUBOUND_ROLE": "data"}}, check=True)
subprocess.run([sys.executable, "-c", {CHILD!r}], check=True)
{CHILD}
"""


class VariableTest(unittest.TestCase):
    def test_a_process_and_its_children_have_the_role_that_the_variable_says(self):
        with tempfile.TemporaryDirectory() as folder:
            run = f"{folder}/x.gpubound"
            subprocess.run([COMMAND, "run", "-q", "-o", run, "--", sys.executable, "-c", PARENT], check=True,
                           env={**os.environ, "GPUBOUND_ROLE": "reward"}, timeout=300)
            report = json.loads(subprocess.run([COMMAND, "report", run, "--json"], check=True, timeout=300,
                                               capture_output=True, text=True).stdout)
        rows = {row["role"]: row["processes"] for row in report["run"]["training"]["roles"]["roles"]}
        self.assertEqual({role: len(processes) for role, processes in rows.items()}, {"reward": 2, "data": 1})


class ActorLearnerTest:
    mode = ""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.run_directory = f"{folder.name}/x.gpubound"
        truth = json.loads(cls.output_of(COMMAND, "run", "-q", "-o", cls.run_directory, "--",
                                         sys.executable, "-B", PROGRAM, cls.mode, str(ITERATIONS)))
        cls.report = json.loads(cls.output_of(COMMAND, "report", cls.run_directory, "--json"))
        cls.learner, cls.actors = truth["learner"], truth["actors"]
        cls.together = cls.report["run"]["training"]["roles"]
        cls.roles = {row["role"]: row for row in cls.together["roles"]}
        cls.bubbles = {role: {bubble["cause"]: bubble["ns"] for bubble in row["bubbles"]}
                       for role, row in cls.roles.items()}
        learner = next(process for process in cls.report["processes"] if process["iterations"])
        steps = [end for _, end in cls.learner["step"]]
        # Iterations begin where the one before ended, the first with the first operation.
        cls.steady = learner["iterations"]["count"]
        cls.window = [(steps[-1 - cls.steady], steps[-1])]
        cls.work = [time for actor in cls.actors for time in actor["work"]]

    @staticmethod
    def output_of(*words):
        script = {"device": {"kernel_ns": KERNEL_NS, "devices": 3}}
        environment = {**os.environ, "LD_LIBRARY_PATH": os.environ["GPUBOUND_TEST_SIM_DIR"],
                       "GPUBOUND_SIM_SCRIPT": json.dumps(script)}
        done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False,
                              env=environment)
        if done.returncode != 0:
            raise AssertionError(f"{words} ended with {done.returncode}: {done.stdout} {done.stderr}")
        return done.stdout

    def assert_near(self, found_ns, true_ns, share=0.05, edges=1):
        """Within what lies between the program's clock and the scope, and what recording costs there: of each
        iteration so many times as it has edges."""
        self.assertAlmostEqual(found_ns / 1e6, true_ns / 1e6,
                               delta=share * true_ns / 1e6 + 0.15 * edges * self.steady)

    def in_window(self, times):
        return common(times, self.window)

    def test_nobody_had_to_guess_a_role(self):
        self.assertEqual({role: len(row["processes"]) for role, row in self.roles.items()},
                         {"rollout": 2, "train": 1})
        self.assertFalse(any(process["inferred"] for row in self.roles.values()
                             for process in row["processes"]))
        self.assert_near(self.together["ns"], self.in_window(self.window), 0.01)

    def test_each_role_holds_its_devices_for_as_long_as_the_window_is(self):
        self.assertEqual(self.roles["train"]["held_ns"], self.together["ns"])
        self.assertEqual(self.roles["rollout"]["held_ns"], 2 * self.together["ns"])
        self.assert_near(self.roles["train"]["busy_ns"], self.steady * KERNELS * KERNEL_NS)
        for row in self.roles.values():
            self.assertEqual(row["busy_ns"] + row["idle_ns"] + row["unknown_ns"], row["held_ns"])
            self.assertEqual(row["unknown_ns"], 0)

    def test_roles_are_active_when_the_program_says_that_they_work(self):
        self.assert_near(self.roles["rollout"]["active_ns"], self.in_window(self.work))
        starved = self.in_window(self.learner["starved"])
        self.assert_near(self.roles["train"]["active_ns"], self.together["ns"] - starved)

    def test_overlap_is_what_the_programs_clocks_have_in_common(self):
        both = sum(row["ns"] for row in self.together["overlap"] if len(row["roles"]) == 2)
        self.assertEqual(sum(row["ns"] for row in self.together["overlap"]), self.together["ns"])
        begin, end = self.window[0]
        starved = [(max(begin, one), min(end, other)) for one, other in self.learner["starved"]
                   if one < end and other > begin]
        # Work of the actors begins and ends it, and so does the wait of the learner.
        self.assert_near(both, self.in_window(self.work) - common(starved, self.work), edges=2)

    def test_the_learner_starves_as_long_as_it_waits(self):
        bubbles = self.bubbles["train"]
        self.assert_near(bubbles.get("starved", 0) + bubbles.get("tail", 0),
                         self.in_window(self.learner["starved"]))
        self.assert_near(bubbles["weight sync"], self.in_window(self.learner["sync"]))


class SynchronousTest(ActorLearnerTest, unittest.TestCase):
    mode = "sync"

    def test_actors_are_held_up_by_the_learner_and_by_each_other(self):
        bubbles = self.bubbles["rollout"]
        self.assertGreater(bubbles["blocked"], 0)
        waits = sum(self.in_window(actor["wait"]) for actor in self.actors)
        held_up = bubbles["blocked"] + bubbles["tail"] + bubbles["weight sync"]
        self.assert_near(held_up, waits)

    def test_the_tail_is_what_the_slower_actor_takes_longer(self):
        tail = self.together["tail"]
        self.assertEqual(tail["parts"], 2 * tail["rollouts"])
        self.assertGreaterEqual(tail["rollouts"], self.steady - 1)
        ends = [sorted(end for _, end in pair) for pair in zip(*(actor["work"] for actor in self.actors))]
        begin, end = self.window[0]
        longer = sum(last - first for first, last in ends if first > begin and last < end)
        self.assert_near(tail["tail_ns"], longer, 0.1)
        self.assert_near(self.bubbles["train"]["tail"], longer, 0.1)

    def test_perfect_overlap_leaves_the_longest_of_all_works(self):
        learner = self.together["ns"] - self.in_window(self.learner["starved"])
        longest = max([learner] + [self.in_window(actor["work"]) for actor in self.actors])
        self.assert_near(self.together["perfect_overlap_ns"], longest)


class AsynchronousTest(ActorLearnerTest, unittest.TestCase):
    mode = "async"

    def test_actors_wait_for_nobody(self):
        bubbles = self.bubbles["rollout"]
        self.assert_near(bubbles.get("blocked", 0) + bubbles.get("tail", 0), 0)
        self.assertGreater(bubbles["environment or reward"], 0)

    def test_both_roles_overlap_while_the_learner_learns(self):
        both = sum(row["ns"] for row in self.together["overlap"] if len(row["roles"]) == 2)
        learns = self.in_window(self.learner["learn"]) + self.in_window(self.learner["sync"])
        self.assertGreater(both, 0.9 * learns)


if __name__ == "__main__":
    unittest.main()
