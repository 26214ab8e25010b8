# SPDX-License-Identifier: Apache-2.0
"""What the report says of a training against the clocks and counts of the program itself. Environment:
GPUBOUND_TEST_COMMAND, GPUBOUND_TEST_PROGRAMS, GPUBOUND_TEST_SIM_DIR."""
import glob
import json
import os
import subprocess
import sys
import tempfile
import unittest

COMMAND = os.environ["GPUBOUND_TEST_COMMAND"]
PROGRAM = os.environ["GPUBOUND_TEST_PROGRAMS"] + "/training_figures.py"
ITERATIONS = 16
TARGET = "return>=60 over 2"
NEVER = "return>=1000"
SECOND = 1e9
KERNEL_NS = 1_000_000


class TrainingFiguresTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.run_directory = f"{folder.name}/x.gpubound"
        output = cls.output_of(COMMAND, "run", "-q", "-o", cls.run_directory, "--", sys.executable, "-B",
                               PROGRAM, str(ITERATIONS))
        cls.truth = json.loads(output)
        cls.report = json.loads(cls.output_of(COMMAND, "report", cls.run_directory, "--json", "--target",
                                              TARGET, "--target", NEVER))
        cls.process = cls.report["processes"][0]
        cls.training = cls.report["run"]["training"]

    @staticmethod
    def output_of(*words, expected=0):
        environment = {**os.environ, "LD_LIBRARY_PATH": os.environ["GPUBOUND_TEST_SIM_DIR"],
                       "GPUBOUND_SIM_SCRIPT": json.dumps({"device": {"kernel_ns": KERNEL_NS}})}
        done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False,
                              env=environment)
        if done.returncode != expected:
            raise AssertionError(f"{words} ended with {done.returncode}: {done.stdout} {done.stderr}")
        return done.stdout

    def assert_near(self, ns, seconds, share=0.02):
        """Within what lies between the program's clock and the scope, and what recording costs there."""
        self.assertAlmostEqual(ns / SECOND, seconds, delta=share * seconds + 0.002)

    def test_the_target_was_reached_when_the_program_saw_it(self):
        target = self.training["targets"][0]
        info = glob.glob(f"{self.run_directory}/run*.json")[0]
        with open(info, encoding="utf-8") as file:
            begin_ns = json.load(file)["start_realtime_ns"]
        self.assert_near(target["reached_ns"], self.truth["reached"] - begin_ns / SECOND)
        self.assertEqual((target["records"], target["mean_of"], target["why_not"]), (ITERATIONS, 2, ""))
        self.assertEqual(target["best"], 10 * (ITERATIONS - 1) - 5)
        self.assertEqual(sum(part["wall_ns"] for part in target["parts"]), target["parts_ns"])
        simulation = next(part for part in target["parts"] if part["operation"] == "simulation")
        self.assertGreater(simulation["wall_ns"], 8 * 20e6)  # of the ninth iteration too
        never = self.training["targets"][1]
        self.assertIsNone(never["reached_ns"])
        self.assertEqual(never["why_not"], "")

    def test_check_holds_the_target_to_a_time(self):
        self.output_of(COMMAND, "check", self.run_directory, "--require", f"time_to({TARGET}) <= 600s")
        late = self.output_of(COMMAND, "check", self.run_directory, "--require",
                              f"time_to({TARGET}) <= 1ms", expected=1)
        self.assertIn("FAILED", late)
        never = self.output_of(COMMAND, "check", self.run_directory, "--require",
                               f"time_to({NEVER}) <= 600s", expected=1)
        self.assertIn("never reached", never)

    def test_flops_are_over_the_time_of_the_iterations(self):
        flops = self.process["training"]["flops"]
        self.assertEqual(flops["done"], 3e9 * self.truth["iterations"])
        self.assert_near(flops["ns"], self.truth["loop"])
        self.assertAlmostEqual(flops["mfu"], flops["done"] / (self.truth["loop"] * 1e12),
                               delta=0.02 * flops["mfu"])
        busy_s = 6 * KERNEL_NS / SECOND  # in each
        self.assertAlmostEqual(flops["busy_mfu"], 3e9 / (busy_s * 1e12), delta=0.02)
        self.assertFalse(flops["is_impossible"])

    def test_samples_are_what_became_of_them(self):
        samples = self.training["samples"]
        self.assertEqual(samples["consumed"], self.truth["consumed"])
        self.assertEqual(samples["discarded"], self.truth["discarded"])
        self.assertEqual(samples["reasons"], [{"reason": "stale", "samples": self.truth["discarded"]}])
        self.assertEqual({str(row["behind"]): row["samples"] for row in samples["versions_behind"]},
                         self.truth["behind"])
        self.assertEqual(samples["unknown_version"], 0)
        all_samples = self.truth["consumed"] + self.truth["discarded"]
        self.assertAlmostEqual(samples["goodput"], self.truth["consumed"] / all_samples)

    def test_work_is_per_second_of_what_the_program_timed(self):
        work = self.training["work"][0]
        self.assertEqual((work["counter"], work["done"]), ("env_steps", 64 * self.truth["iterations"]))
        for key, seconds in (("per_second", self.truth["loop"]),
                             ("per_simulation_second", self.truth["simulation"]),
                             ("per_simulation_and_inference_second",
                              self.truth["simulation"] + self.truth["inference"])):
            with self.subTest(key):
                self.assertAlmostEqual(work[key], work["done"] / seconds, delta=0.03 * work[key])
        self.assertAlmostEqual(work["gpu_seconds_per_million"],
                               self.truth["loop"] / work["done"] * 1e6,
                               delta=0.03 * work["gpu_seconds_per_million"])

    def test_weight_sync_is_as_long_as_the_program_waited_for_it(self):
        sync = self.process["training"]["weight_sync"]
        self.assertEqual((sync["count"], sync["iterations"]),
                         (self.truth["syncs"], self.truth["iterations"]))
        self.assert_near(sync["exposed_ns"], self.truth["exposed"], share=0.03)
        self.assert_near(sync["hidden_ns"], self.truth["hidden"], share=0.03)
        self.assertEqual(sync["bytes"], self.truth["bytes"])

    def test_the_first_screen_says_what_matters(self):
        screen = self.output_of(COMMAND, "report", self.run_directory, "--target", TARGET)
        text = " ".join(screen.split())
        self.assertIn(f"{TARGET}: reached after ", text)
        self.assertIn("of the GPU's peak (MFU), ", text)
        self.assertIn("Weight sync: ", text)
        self.assertIn("Samples discarded: ", text)
        self.assertLessEqual(len(screen.splitlines()), 27)


if __name__ == "__main__":
    unittest.main()
