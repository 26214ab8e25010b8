# SPDX-License-Identifier: Apache-2.0
"""Numbers that hooks read from the calls of a framework, as counters."""
import asyncio
import inspect
import pickle
import sys
import types
import unittest
import unittest.mock

from gpubound import _core, _hooks
from recorded import RecordedTest, scope, take


class Trainer:
    """As frameworks have it: some of its numbers are attributes, some arguments, some are returned."""

    version = 3

    def update(self, samples, *, step=0, kind="train"):
        """Its docs."""
        return {"batch": types.SimpleNamespace(rows=samples), "step": step + 1}, kind

    async def sync(self, version):
        await asyncio.sleep(0)
        self.version = version
        return version


class CountsTest(RecordedTest):
    def trainer(self, **fields):
        """A Trainer of a module of its own with a hook for both methods that has `fields`."""
        module = types.ModuleType("trainers")
        module.Trainer = type("Trainer", (), dict(vars(Trainer)))
        names = fields.pop("names", ["update"])
        _hooks.Library({"library": "python", "versions": ">=3", "hooks": [
            {"module": "trainers", "class": "Trainer", "names": names, **fields}]}).install(module)
        self.said = take()[0]
        return module.Trainer()

    def counted(self, counters, *arguments, **keywords):
        result = self.trainer(counters=counters).update(*arguments, **keywords)
        self.assertEqual(result[0]["batch"].rows, arguments[0])
        return take()

    def test_arguments_attributes_and_results_are_counted(self):
        self.assertEqual(self.counted({"a": "step", "b": "self.version", "c": "returned.0.step",
                                       "d": "samples", "e": "returned.0.batch.rows", "f": 2},
                                      [1, 2], step=7),
                         ["counter a 7", "counter b 3", "counter c 8", "counter d 2", "counter e 2", "counter f 2"])

    def test_what_is_not_there_or_nothing_is_not_counted(self):
        self.assertEqual(self.counted({"a": "samples", "b": "returned.0.other.rows", "c": "kind"}, []), [])

    def test_a_first_version_of_0_is_counted_and_one_in_digits(self):
        self.assertEqual(self.counted({"policy_version": "step"}, []), ["counter policy_version 0"])
        self.assertEqual(self.counted({"policy_version": "kind"}, [], kind="12"), ["counter policy_version 12"])

    def test_an_operation_lies_inside(self):
        self.trainer(counters={"a": 1}, operation="update").update([])
        self.assert_recorded(*scope("update"), "counter a 1")

    def test_a_call_that_raises_counts_nothing(self):
        with self.assertRaises(TypeError):
            self.trainer(counters={"a": 1}).update()
        self.assert_recorded()

    def test_a_coroutine_counts_when_it_has_returned(self):
        trainer = self.trainer(names=["sync"], counters={"policy_version": "self.version"}, operation="weight_sync")
        calls = trainer.sync(9)
        self.assert_recorded()
        self.assertEqual(asyncio.run(calls), 9)
        self.assertEqual(take()[-1], "counter policy_version 9")

    def test_samples_are_consumed_by_the_versions_that_made_them(self):
        samples = [{"made_by": 4}, {"made_by": 5}, {"made_by": 4}, {}]
        self.trainer(consumed={"samples": "returned.0.batch.rows", "version": "made_by"}).update(samples)
        self.assert_recorded("counter consumed_version 4", "counter consumed_samples 2",
                             "counter consumed_version 5", "counter consumed_samples 1", "counter consumed_samples 1")

    def test_only_the_calls_with_such_an_argument_count(self):
        trainer = self.trainer(counters={"a": 1}, only={"kind": "train"})
        trainer.update([], kind="val")
        self.assert_recorded()
        trainer.update([])
        self.assert_recorded("counter a 1")

    def test_a_number_that_cannot_be_read_is_in_the_ledger_once_and_the_program_goes_on(self):
        trainer = self.trainer(counters={"a": "self.gone"})
        for _ in range(2):
            self.assertEqual(trainer.update([])[1], "train")
        (failure,) = take()
        self.assertRegex(failure, "^ledger hooks_failed 1 Trainer.update: a counter is not recorded: AttributeError")

    def test_a_path_that_begins_nowhere_is_in_the_ledger(self):
        for path, words in (("epoch", "'epoch' begins with none of self, samples, step, kind, returned"),
                            ([1], r"\[1\] is no path such as \"self.version\"")):
            self.trainer(counters={"a": path})
            self.assertRegex(self.said, words)

    def test_what_is_counted_stays_what_it_was(self):
        trainer = self.trainer(counters={"a": 1}, names=["update", "sync"])
        self.assertEqual(trainer.update.__doc__, "Its docs.")
        self.assertEqual(inspect.signature(type(trainer).update), inspect.signature(Trainer.update))
        self.assertIs(_core.wrapped(type(trainer).update), Trainer.update)
        with unittest.mock.patch.object(sys.modules[__name__].Trainer, "update", type(trainer).update):
            self.assertIs(pickle.loads(pickle.dumps(type(trainer).update)), type(trainer).update)


if __name__ == "__main__":
    unittest.main()
