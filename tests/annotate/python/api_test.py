# SPDX-License-Identifier: Apache-2.0
"""Everything of the package that is no scope of an operation."""
import argparse
import asyncio
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest

import gpubound
import recorded
from gpubound import _api, _summary
from recorded import RecordedTest


class EventTest(RecordedTest):
    def test_a_collector_records(self):
        self.assertIs(gpubound.recording(), True)

    def test_a_call_without_a_result_takes_no_reference_of_none(self):
        before = sys.getrefcount(None)
        for number in range(10000):
            gpubound.counter("env_steps", number)
        self.assertGreater(sys.getrefcount(None), before - 1000)

    def test_a_phase_has_a_name(self):
        gpubound.phase("warmup")
        self.assert_recorded("phase warmup")
        with self.assertRaisesRegex(TypeError, "must be a str"):
            gpubound.phase(b"warmup")

    def test_a_phase_in_a_with_statement_ends_with_it(self):
        gpubound.phase("training")
        with gpubound.phase("evaluation"):
            with gpubound.phase("rendering"):
                pass
        self.assert_recorded("phase training", "phase evaluation", "phase rendering",
                             "phase evaluation", "phase training")

    def test_a_first_phase_that_ends_leaves_none(self):
        gpubound.phase(None)
        with self.assertRaises(KeyError):
            with gpubound.phase("rollout"):
                raise KeyError("of the program")
        self.assert_recorded("phase (no phase)", "phase rollout", "phase (no phase)")

    def test_a_phase_as_a_decorator_is_that_of_each_call(self):
        gpubound.phase("training")

        @gpubound.phase("evaluation")
        def evaluate(score):
            return score

        @gpubound.phase("export")
        async def export():
            return 3
        self.assertEqual((evaluate(2), evaluate.__name__, asyncio.run(export())), (2, "evaluate", 3))
        self.assert_recorded("phase training", "phase evaluation", "phase training", "phase export", "phase training",
                             "phase evaluation", "phase training", "phase export", "phase training")

    def test_a_phase_begun_inside_a_with_statement_ends_with_it(self):
        gpubound.phase("training")
        with gpubound.phase("evaluation"):
            gpubound.phase("rendering")
        self.assert_recorded("phase training", "phase evaluation", "phase rendering", "phase training")

    def test_steps_are_counted_from_the_last_number_given(self):
        gpubound.step(7)
        gpubound.step()
        gpubound.step()
        self.assert_recorded("step 7", "step 8", "step 9")

    def test_keywords_of_a_step_are_counters(self):
        gpubound.step(1, env_steps=2048, reward=1.5)
        self.assert_recorded("counter env_steps 2048", "counter reward 1.5", "step 1")

    def test_a_step_that_is_no_count_is_refused_and_changes_nothing(self):
        gpubound.step(7)
        recorded.take()
        for number in (1.5, "three", -1, 2**64):
            with self.subTest(number=number):
                with self.assertRaisesRegex((TypeError, OverflowError), "integer|not in 0 to 2"):
                    gpubound.step(number, env_steps=1)
        self.assert_recorded()
        gpubound.step()
        self.assert_recorded("step 8")

    def test_a_step_whose_counter_is_refused_is_not_taken(self):
        gpubound.step(7)
        recorded.take()
        with self.assertRaises(TypeError):
            gpubound.step(loss="low")
        gpubound.step()
        self.assert_recorded("step 8")

    def test_a_step_is_counted_in_any_integer_type(self):
        class Number:
            def __index__(self):
                return 9
        gpubound.step(Number())
        gpubound.step()
        self.assert_recorded("step 9", "step 10")

    def test_after_the_last_number_comes_the_first(self):
        gpubound.step(2**64 - 1)
        gpubound.step()
        gpubound.step()
        self.assert_recorded(f"step {2**64 - 1}", "step 0", "step 1")

    def test_a_counter_has_a_number(self):
        gpubound.counter("loss", 0.25)
        self.assert_recorded("counter loss 0.25")
        with self.assertRaises(TypeError):
            gpubound.counter("loss", "low")
        with self.assertRaises(TypeError):
            gpubound.counter(3, 1.0)

    def test_a_metric_is_a_counter(self):
        gpubound.metric("return", 450.5)
        self.assert_recorded("counter return 450.5")
        with self.assertRaises(TypeError):
            gpubound.metric("return", "lots")

    def test_flops_are_counters_that_reports_know(self):
        gpubound.flops(per_iteration=3e12)
        gpubound.flops(per_iteration=2.5, peak_per_second=4.5)
        self.assert_recorded("counter flops_per_iteration 3e+12", "counter flops_per_iteration 2.5",
                             "counter flops_peak_per_second 4.5")

    def test_samples_have_the_version_that_was_consumed_right_before_their_number(self):
        gpubound.policy_version(7)
        gpubound.consumed(samples=64, version=5)
        gpubound.consumed(samples=0.5)
        gpubound.discarded(samples=16, reason="stale")
        gpubound.discarded(samples=8)
        self.assert_recorded("counter policy_version 7", "counter consumed_version 5",
                             "counter consumed_samples 64", "counter consumed_samples 0.5",
                             "counter discarded_samples:stale 16", "counter discarded_samples 8")

    def test_samples_that_are_no_number_record_nothing(self):
        for call in (lambda: gpubound.consumed(samples="lots", version=5),
                     lambda: gpubound.consumed(samples=1, version=0.5),
                     lambda: gpubound.policy_version("newest"),
                     lambda: gpubound.discarded(samples=1, reason=7)):
            with self.assertRaises(TypeError):
                call()
        self.assert_recorded()

    def test_a_role_is_a_counter_of_its_name(self):
        gpubound.role("rollout")
        gpubound.role("train")
        self.assert_recorded("counter role:rollout 1", "counter role:train 1")

    def test_a_word_that_is_no_role_records_nothing(self):
        with self.assertRaises(TypeError):
            gpubound.role(7)
        with self.assertRaisesRegex(ValueError, "'critic' is none of environment, rollout, reward"):
            gpubound.role("critic")
        self.assert_recorded()

    def test_progress_is_two_counters(self):
        gpubound.progress(10, 200)
        self.assert_recorded("counter progress_done 10", "counter progress_total 200")

    def test_metadata_is_noted_as_json(self):
        gpubound.metadata({"algorithm": "PPO", "layers": [64, 64], "type": int, "a\nb": None})
        self.assert_recorded("ledger - 0 metadata algorithm = \"PPO\"",
                             "ledger - 0 metadata layers = [64, 64]",
                             "ledger - 0 metadata type = \"<class 'int'>\"",
                             "ledger - 0 metadata a\\nb = null")

    def test_metadata_has_keywords_beside_the_mapping(self):
        gpubound.metadata({"algorithm": "PPO", "seed": 0}, seed=1, values=None)
        gpubound.metadata(algorithm="DQN")
        self.assert_recorded("ledger - 0 metadata algorithm = \"PPO\"", "ledger - 0 metadata seed = 0",
                             "ledger - 0 metadata seed = 1", "ledger - 0 metadata values = null",
                             "ledger - 0 metadata algorithm = \"DQN\"")

    def test_metadata_that_json_cannot_express_is_noted_as_python_writes_it(self):
        circle = {}
        circle["self"] = circle
        gpubound.metadata({"tuple as key": {(1, 2): 3}, "circle": circle})
        self.assert_recorded("ledger - 0 metadata tuple as key = \"{(1, 2): 3}\"",
                             "ledger - 0 metadata circle = \"{'self': {...}}\"")

    def test_metadata_that_is_no_mapping_is_refused_by_name(self):
        for values in (None, argparse.Namespace(seed=1), ["seed"]):
            with self.assertRaisesRegex(TypeError, f"a mapping, not {type(values).__name__} "):
                gpubound.metadata(values)
        self.assert_recorded()

    def test_metadata_that_cannot_be_written_is_noted_by_its_type(self):
        class Broken:
            def __repr__(self):
                raise RuntimeError("not now")
        deep = []
        for _ in range(100_000):
            deep = [deep]
        gpubound.metadata({"a": Broken(), "b": [1, Broken()], "c": deep, Broken(): 1})
        self.assert_recorded("ledger - 0 metadata a = \"<Broken>\"",
                             "ledger - 0 metadata b = [1, \"<Broken>\"]",
                             "ledger - 0 metadata c = \"<list>\"",
                             "ledger - 0 metadata <Broken> = 1")

    def test_a_pause_ends_with_resume(self):
        gpubound.pause()
        gpubound.resume()
        self.assert_recorded("pause", "resume")

    def test_an_operation_is_handed_over_and_adopted(self):
        token = gpubound.hand_over()

        def work():
            with gpubound.adopt(token):
                pass
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        self.assert_recorded("hand over", f"adopt {token}", f"drop {token}")

    def test_only_what_was_handed_over_can_be_adopted(self):
        with self.assertRaisesRegex(TypeError, "what hand_over\\(\\) returned, not str"):
            gpubound.adopt("update")
        with self.assertRaises((OverflowError, TypeError)), gpubound.adopt(-1):
            pass

    def test_layers_have_the_numbers_of_the_c_table(self):
        for name, number in _api.LAYERS.items():
            self.assertEqual(gpubound.layer(name).layer, number)


class SummaryTest(unittest.TestCase):
    REPORT = {"processes": [
        {"host": "a", "pid": 5, "start_ns": 1, "span_ns": 99, "gpu_busy_ns": 0, "operations": [], "lanes": []},
        {"host": "a", "pid": 5, "start_ns": 2, "span_ns": 2_000_000_000, "gpu_busy_ns": 500_000_000,
         "operations": [{"operation": "update", "wall_ns": 1_500_000_000,
                         "cpu_only_ns": 100_000_000, "cpu_gpu_ns": 300_000_000,
                         "gpu_only_ns": 200_000_000, "waiting_ns": 150_000_000,
                         "idle_ns": 50_000_000, "unknown_ns": 700_000_000,
                         "gpu_busy_ns": 500_000_000, "count": 3, "other_threads_only": False},
                        {"operation": "learn", "wall_ns": 0, "cpu_only_ns": 0, "cpu_gpu_ns": 0,
                         "gpu_only_ns": 0, "waiting_ns": 0, "idle_ns": 0, "unknown_ns": 0,
                         "gpu_busy_ns": 0, "count": 0, "other_threads_only": True},
                        {"operation": "(no operation)", "wall_ns": 500_000_000,
                         "cpu_only_ns": 400_000_000, "cpu_gpu_ns": 0, "gpu_only_ns": 0,
                         "waiting_ns": 0, "idle_ns": 0, "unknown_ns": 100_000_000,
                         "gpu_busy_ns": 0, "count": 1, "other_threads_only": False}],
         "lanes": [{"operations": [{"operation": "learn", "wall_ns": 900_000_000},
                                   {"operation": "(no operation)", "wall_ns": 1_100_000_000}]},
                   {"operations": [{"operation": "learn", "wall_ns": 300_000_000},
                                   {"operation": "update", "wall_ns": 100_000_000}]}]}]}

    def test_figures_are_those_of_the_newest_process_of_that_number(self):
        figures = _summary.flatten(self.REPORT, "a", 5)
        self.assertEqual(figures["gpubound/span_s"], 2.0)
        self.assertEqual(figures["gpubound/gpu_busy_share"], 0.25)
        self.assertEqual(figures["gpubound/update/wall_s"], 1.5)
        self.assertEqual(figures["gpubound/update/count"], 3)

    def test_a_process_of_another_host_may_have_that_number(self):
        other = {"host": "b", "pid": 5, "start_ns": 3, "span_ns": 7_000_000_000, "gpu_busy_ns": 0,
                 "operations": [], "lanes": []}
        report = {"processes": [*self.REPORT["processes"], other]}
        self.assertEqual(_summary.flatten(report, "a", 5)["gpubound/span_s"], 2.0)
        self.assertEqual(_summary.flatten(report, "b", 5)["gpubound/span_s"], 7.0)
        self.assertEqual(_summary.flatten(report, "c", 5), {})

    def test_the_columns_of_an_operation_make_up_its_wall_time(self):
        figures = _summary.flatten(self.REPORT, "a", 5)
        for operation, wall_s in (("update", 1.5), ("(no operation)", 0.5)):
            columns = [figures[f"gpubound/{operation}/{column}_s"]
                       for column in ("cpu_only", "cpu_gpu", "gpu_only", "waiting", "idle", "unknown")]
            self.assertAlmostEqual(sum(columns), wall_s)
        self.assertEqual(figures["gpubound/update/waiting_s"], 0.15)
        self.assertEqual(figures["gpubound/update/unknown_s"], 0.7)
        self.assertEqual(figures["gpubound/update/gpu_busy_s"], 0.5)

    def test_what_other_threads_have_open_has_a_key_of_its_own_and_no_zeros(self):
        figures = _summary.flatten(self.REPORT, "a", 5)
        self.assertAlmostEqual(figures["gpubound/learn/other_threads_wall_s"], 1.2)
        self.assertAlmostEqual(figures["gpubound/update/other_threads_wall_s"], 0.1)
        self.assertNotIn("gpubound/learn/wall_s", figures)
        self.assertNotIn("gpubound/(no operation)/other_threads_wall_s", figures)

    def test_what_is_not_known_could_be_busy(self):
        figures = _summary.flatten(self.REPORT, "a", 5)
        self.assertAlmostEqual(figures["gpubound/gpu_busy_share"], 0.25)
        self.assertAlmostEqual(figures["gpubound/gpu_busy_share_high"], 0.65)

    def with_command(self, text):
        """A program that calls summary() in an ASCII locale, where the command is this shell script."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        command = pathlib.Path(folder.name) / "gpubound"
        command.write_text(text, encoding="utf-8")
        command.chmod(0o755)
        program = ("from gpubound import _summary\n"
                   f"_summary.command_path = lambda: {str(command)!r}\n"
                   "try: print(ascii(_summary.summary()))\n"
                   "except RuntimeError as error: print(ascii(str(error)))\n")
        environment = {**os.environ, "GPUBOUND_RUN": folder.name, "LC_ALL": "C",
                       "PYTHONCOERCECLOCALE": "0"}
        done = subprocess.run([sys.executable, "-B", "-X", "utf8=0", "-c", program], env=environment,
                              capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_what_the_command_says_is_read_whatever_the_locale(self):
        self.assertEqual(self.with_command("#!/bin/sh\necho '{\"processes\": []} '\n"), "{}\n")
        self.assertIn("gpubound report failed: caf\\xe9",
                      self.with_command("#!/bin/sh\necho caf\u00e9 >&2\nexit 2\n"))

    def test_the_replay_of_which_no_figure_tells_is_left_out(self):
        self.assertEqual(self.with_command("#!/bin/sh\ncase \"$*\" in *--no-replay*) "
                                           "echo '{\"processes\": []}';; *) exit 9;; esac\n"), "{}\n")

    def test_a_command_that_cannot_be_started_is_a_runtime_error(self):
        self.assertRegex(self.with_command("#!/no/such/interpreter\n"),
                         "gpubound report was not started \\(/.*/gpubound\\): .*No such file")

    def test_a_process_that_has_no_trace_yet_has_no_figures(self):
        self.assertEqual(_summary.flatten(self.REPORT, "a", 6), {})


if __name__ == "__main__":
    unittest.main()
