# SPDX-License-Identifier: Apache-2.0
"""Which iterations and stages are found in training loops of several shapes."""
import itertools
import os
import threading
import traceback
import types
import unittest
import warnings
from unittest import mock

import gpubound
from gpubound import _core, _hooks, _loop
from recorded import take
from recorded_loop import Optimizer, RecordedLoop

LONG = _loop._LONG_UPDATE
MANY = _loop._MANY_STEPS


class LoopTest(RecordedLoop):
    def test_each_turn_of_a_frameworks_loop_ends_an_iteration(self):
        module = types.ModuleType("sample")

        class Algorithm:
            def collect(self):
                return None

            def learn(self, turns):
                for _ in range(turns):
                    self.collect()
                return self
        module.Algorithm = Algorithm
        for hook in ({"names": ["collect"], "operation": "rollout", "iteration": "begins"},
                     {"names": ["learn"], "iteration": "ends"}):
            _hooks.install_hook({"module": "sample", "class": "Algorithm", **hook}, module)
        algorithm = Algorithm()
        self.assertIs(algorithm.learn(3), algorithm)
        self.assertEqual(self.run_loop("").split().count("step"), 3)
        algorithm.learn(0)
        self.assertEqual(self.run_loop(""), "")

    def test_a_frameworks_loop_runs_in_no_frame_of_ours(self):
        class Algorithm:
            def learn(self, error=None):
                warnings.warn("old", DeprecationWarning, stacklevel=2)
                if error is not None:
                    raise error
                return self
        module = types.ModuleType("sample")
        module.Algorithm = Algorithm
        _hooks.install_hook({"module": "sample", "class": "Algorithm", "names": ["learn"],
                             "iteration": "ends"}, module)
        with self.assertWarns(DeprecationWarning) as warned:
            Algorithm().learn()
        self.assertEqual(warned.filename, __file__)
        _loop.begin_iteration()
        frames = []
        with self.assertWarns(DeprecationWarning):
            try:
                Algorithm().learn(KeyError("its own"))
            except KeyError as error:
                frames += [frame.name for frame in traceback.extract_tb(error.__traceback__)]
        self.assertEqual(frames, ["test_a_frameworks_loop_runs_in_no_frame_of_ours", "learn"])
        self.assertEqual(self.run_loop(""), "| step")

    def test_what_came_before_a_frameworks_loop_is_part_of_no_iteration(self):
        for _ in range(2):  # what lies between two loops neither
            _loop.begin_iteration()
            _loop.begin_iteration()
            _loop.end_iterations()
            self.assertEqual(self.run_loop(""), "| step step")

    def test_the_first_turn_that_is_a_whole_call_begins_with_it(self):
        module = types.ModuleType("sample")

        class Trainer:
            def training_step(self):
                gpubound.counter("work", 1)
        module.Trainer = Trainer
        _hooks.install_hook({"module": "sample", "class": "Trainer", "names": ["training_step"],
                             "iteration": "whole"}, module)
        for _ in range(2):
            Trainer().training_step()
        self.assertEqual(self.run_loop(""), "| counter work 1 step counter work 1 step")

    def test_a_program_that_calls_step_begins_its_first_iteration_itself(self):
        self.assertEqual(self.run_loop("s"), "step")
        _loop.begin_iteration()
        _loop.begin_first_turn()
        self.assertEqual(self.run_loop(""), "")

    def test_a_single_file_script_alternates_between_rollout_and_update(self):
        self.assertEqual(self.run_loop("eebcbc" * 2), "rollout( ) update( ) step rollout( ) update(")
        _loop._finish()
        self.assertEqual(self.run_loop(""), ") step")

    def test_a_range_that_a_library_opens_around_the_environment_is_divided_at_the_stage(self):
        label = _core.annotation_label("torch", "enumerate(DataLoader)#__next__")
        self.calls.update({"<": lambda: _core.begin(label), ">": lambda: _core.end(label)})
        _loop.add_library_range(label)
        said = self.run_loop("<ee>bc" * 2).replace("annotation torch:enumerate(DataLoader)#__next__", "it")
        self.assertEqual(said, "begin it end it rollout( begin it end it ) update( "
                         "begin it end it ) step rollout( begin it end it ) update(")

    def test_a_learner_without_environments_turns_with_its_optimizer(self):
        self.assertEqual(self.run_loop("bcbcbc"), "update( step step")

    def test_of_several_optimizers_the_first_one_leads(self):
        self.assertEqual(self.run_loop("bc" + "bcba" * 3), "update( step step step")

    def test_gradients_may_be_accumulated(self):
        self.assertEqual(self.run_loop("bbbc" * 3), "update( step step")

    def test_an_evaluation_now_and_then_ends_no_iteration(self):
        many = LONG + 100
        self.assertEqual(self.run_loop("bc" * (many + 1)).count("step"), many)
        self.assertEqual(self.run_loop("eee"), ") rollout(")
        self.assertEqual(self.run_loop("bc" * many).count("step"), many)

    def test_a_stray_environment_step_does_not_make_one_update_of_the_rest(self):
        self.assertEqual(self.run_loop("e" + "bc" * (LONG - 1)), "rollout( ) update(")
        self.assertEqual(self.run_loop("bcbcbc"), "step step step")

    def test_training_before_the_loop_does_not_hide_that_it_alternates(self):
        self.run_loop("bc" * 2 * LONG)
        self.run_loop("eebcbc")
        self.assertEqual(self.run_loop("eebcbc" * 2), ") rollout( ) update( ) step rollout( ) update(")

    def test_many_optimizers_that_take_turns_are_led_by_one(self):
        optimizers = [Optimizer() for _ in range(MANY + 5)]
        for _ in range(MANY):
            take()
            for optimizer in optimizers:
                self.calls["b"]()
                _loop.note_optimizer(optimizer)
        self.assertEqual(self.run_loop(""), "step")

    def test_an_optimizer_that_is_used_no_more_leads_no_more(self):
        self.run_loop("bcbc")
        self.assertEqual(self.run_loop("ba" * (MANY + 2)).count("step"), 3)
        del self.calls["a"], self.actor
        self.actor = Optimizer()
        self.calls["a"] = lambda: _loop.note_optimizer(self.actor)
        self.assertEqual(self.run_loop("baba"), "step step")

    def test_a_framework_that_ends_a_turn_says_where_all_end(self):
        self.assertEqual(self.run_loop("bct" * 3), "step step step")
        self.assertEqual(self.run_loop("ebc"), "")

    def test_a_framework_closes_what_was_taken_for_a_loop(self):
        self.assertEqual(self.run_loop("e"), "rollout(")
        _loop.begin_iteration()
        self.assertEqual(self.run_loop("ebc"), ") |")
        _loop.end_iterations()
        self.assertEqual(self.run_loop("e"), "step rollout(")

    def test_a_program_that_calls_step_ends_its_iterations_itself(self):
        self.assertEqual(self.run_loop("s" + "ebc" * 2 + "s"),
                         "step rollout( ) update( ) rollout( ) update( step")

    def notes_at_the_end(self, program):
        self.run_loop(program)
        _loop._finish()
        notes = [call for call in take() if call.startswith("ledger")]
        _loop.forget_in_fork_child()
        return " ".join(notes)

    def test_a_program_of_which_it_is_not_seen_that_it_learns_has_a_note(self):
        self.assertIn("nothing was seen to learn", self.notes_at_the_end("reee"))
        self.assertIn("no optimizer of torch.optim", self.notes_at_the_end("bbb"))

    def test_a_program_that_is_seen_to_learn_or_says_itself_when_it_turns_has_no_note(self):
        for program in ("eebc", "bcbc", "ej", "j", "bct", "eet", "r", ""):
            with self.subTest(program=program):
                self.assertEqual(self.notes_at_the_end(program), "")
        self.assertEqual(self.notes_at_the_end("see"), "")

    def test_a_script_with_operations_of_its_own_is_left_alone(self):
        with _core.operation("own"):
            self.assertEqual(self.run_loop("ebcbcbc"), "begin operation own")
        self.assert_recorded("end operation own")

    def on_another_thread(self, program):
        other = threading.Thread(target=lambda: [self.calls[call]() for call in program])
        other.start()
        other.join()

    def test_threads_that_step_environments_for_a_learner_are_no_loop(self):
        self.run_loop("bcbc")
        self.on_another_thread("eee")
        self.assertEqual(self.run_loop("bc"), "step")

    def test_a_learner_that_resets_the_environments_which_others_step_turns_with_its_optimizer(self):
        self.assertEqual(self.run_loop("r"), "")
        self.on_another_thread("eee")
        self.run_loop("rbcbc")
        self.on_another_thread("eee")
        self.assertEqual(self.run_loop("rbcbc"), "step step")

    def test_resets_are_part_of_the_rollouts_of_a_thread_that_steps_environments(self):
        self.assertEqual(self.run_loop("re" + "rebcbc" * 2), "rollout( ) update( ) step rollout( ) update(")

    def test_a_probe_before_the_loop_that_only_resets_is_no_rollout(self):
        self.assertEqual(self.run_loop("r" + "bc" * 4), "update( step step step")

    def test_a_learner_that_others_feed_evaluates_and_goes_on_as_before(self):
        self.run_loop("bcbc")
        for _ in range(3):
            self.on_another_thread("ee")
            self.assertEqual(self.run_loop("eeebcbc").count("step"), 2)

    def test_a_learner_thread_beside_one_that_steps_environments(self):
        self.run_loop("eee")
        self.on_another_thread("bcbcbc")
        self.assertEqual(self.run_loop("e"), "update( step step )")

    def test_a_loop_on_a_thread_ends_with_the_thread_and_may_begin_again_on_the_next(self):
        for _ in range(3):
            self.on_another_thread("eebcbc" * 2)
            self.assertEqual(self.run_loop(""), "rollout( ) update( ) step rollout( ) update( ) step")
        self.assertEqual(self.run_loop("eebcbc"), "rollout( ) update(")

    def test_a_loop_in_a_cell_ends_with_the_cell_and_may_begin_again_in_the_next(self):
        self.assertEqual(self.run_loop("leebcbcl" * 2),
                         "rollout( ) update( ) step | | rollout( ) update( ) step |")
        self.assertEqual(self.run_loop("eelbcl"), "rollout( ) | update( ) step |")
        self.assertEqual(self.run_loop("bcbclbcl"), "update( step step ) | update( step ) |")
        self.assertEqual(self.run_loop("jjl"), "step step |")

    def test_the_time_between_cells_is_no_iteration_of_a_program_that_counts_its_own(self):
        self.assertEqual(self.run_loop("lsslls"), "step step | | step")

    def test_a_cell_ends_no_loop_of_another_thread(self):
        self.run_loop("eb")
        self.on_another_thread("l")
        self.assertEqual(self.run_loop("e"), ") step rollout(")

    def test_a_cell_that_leaves_an_operation_open_ends_nothing_around_it(self):
        self.run_loop("eb")
        with gpubound.operation("own"):
            self.assertEqual(self.run_loop("l"), "begin operation own")
        self.assertEqual(self.run_loop("e"), "end operation own ) step rollout(")

    def test_the_learner_of_the_next_thread_has_an_optimizer_of_its_own(self):
        self.on_another_thread("bcbcbc")
        self.assertEqual(self.run_loop(""), "update( step step )")
        self.on_another_thread("bababa")
        self.assertEqual(self.run_loop(""), "update( step step step )")

    def test_a_jitted_turn_ends_with_its_thread(self):
        self.on_another_thread("jj")
        self.assertEqual(self.run_loop(""), "step step")

    def test_jitted_turns_without_environments(self):
        self.assertEqual(self.run_loop("jjj"), "step step")
        _loop.end_iterations()
        self.assertEqual(self.run_loop(""), "step")

    def test_of_several_jitted_functions_the_first_one_leads(self):
        self.assertEqual(self.run_loop("jkk" * 3), "step step")
        self.assertEqual(self.run_loop("e" + "jke" * 2),
                         "rollout( step ) update( ) step rollout( ) update( ) step rollout(")

    def test_jitted_turns_alternate_with_rollouts(self):
        self.assertEqual(self.run_loop("ej" * 2), "rollout( ) update( ) step rollout( ) update(")

    def test_jitted_turns_after_a_stray_environment_step(self):
        self.assertEqual(self.run_loop("e" + "j" * (LONG - 1)), "rollout( ) update(")
        self.assertEqual(self.run_loop("jjj"), ") step step")

    def in_worker(self, program):
        _loop.enter_worker()
        with _core.layer_scope(1, "worker"):
            take()
            recorded = self.run_loop(program)
            _loop._finish()
        _loop._loop = _loop._Loop()
        return recorded

    def test_greenlets_of_one_thread_share_its_loop(self):
        greenlets = itertools.count(1)  # each call is made by another one
        with mock.patch("threading.get_ident", lambda: next(greenlets)), \
                mock.patch("threading.main_thread", lambda: types.SimpleNamespace(ident=next(greenlets))):
            self.assertEqual(self.run_loop("eebcbc" * 2 + "e"),
                             "rollout( ) update( ) step rollout( ) update( ) step rollout(")
            _loop._finish()
        self.assertEqual(self.run_loop(""), ")")

    def test_a_worker_that_steps_environments_for_others_is_not_in_rollout(self):
        self.assertEqual(self.in_worker("eee"), "")

    def test_a_worker_that_learns_has_a_loop(self):
        self.assertEqual(self.in_worker("eebcbc" * 2 + "e"), "update( ) step rollout( ) update( ) step rollout(")

    def test_a_worker_that_only_learns_turns_with_its_optimizer(self):
        self.assertEqual(self.in_worker("bcbcbc"), "update( step step")

    def test_a_fork_child_is_not_inside_what_its_parent_did(self):
        self.run_loop("e")
        read_end, write_end = os.pipe()
        if os.fork() == 0:
            _loop.forget_in_fork_child()
            os.write(write_end, self.run_loop("bcbc").encode())
            os._exit(0)
        os.wait()
        self.assertEqual(os.read(read_end, 1000), b") update( step")

    def test_what_the_program_has_open_at_a_fork_stays_open(self):
        self.run_loop("e")
        with _core.operation("own"):
            take()
            _loop.forget_in_fork_child()
            self.assert_recorded()
        self.assert_recorded("end operation own")
        _core.end(_loop._rollout)


if __name__ == "__main__":
    unittest.main()
