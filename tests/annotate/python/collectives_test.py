# SPDX-License-Identifier: Apache-2.0
"""What a rank says of collectives, with stand-ins for torch's classes: when it enters one, and in which wait
it was over, under a number that every rank counts alike."""
import sys
import types
import unittest
from unittest import mock

import recorded
from gpubound import _collectives, _core


class Work:
    """As the work object of torch.distributed."""

    def wait(self):
        return "done"


class Group:
    """As a process group, whose methods start collectives in native code."""

    group_name = "7"
    started = 0

    def __init__(self, rank=0):
        self._rank = rank

    def rank(self):
        return self._rank

    def size(self):
        return 2

    def allreduce(self, _tensors, _options=None):
        return Work()

    def send(self, _tensors, _to, _tag):
        return Work()

    recv = send

    def monitored_barrier(self):
        return None

    def _get_backend(self, _device):
        return self

    def _get_sequence_number_for_group(self):
        return self.started


class HookedGroup(Group):
    """With the hooks of hooks/torch.json."""

    allreduce = _collectives.wrap(Group.allreduce, "ProcessGroup.allreduce", {"collective": "starts"})
    send = _collectives.wrap(Group.send, "ProcessGroup.send", {"collective": "starts"})
    recv = _collectives.wrap(Group.recv, "ProcessGroup.recv", {"collective": "starts"})
    monitored_barrier = _collectives.wrap(
        Group.monitored_barrier, "ProcessGroup.monitored_barrier", {"collective": "blocks"})


WAIT = _collectives.wrap(Work.wait, "Work.wait", {"collective": "waits"})
SCOPE = "layer(2) channel:collective:[7]"
REDUCTION = "layer(2) channel:reduction:[7]"


class CollectivesCase(recorded.RecordedTest):
    """A process that has been in no collective yet."""

    def setUp(self):
        _collectives._groups.clear()
        _collectives._works.clear()
        _collectives._reducing.clear()
        super().setUp()

    def take(self):
        return [call for call in recorded.take_with_domains() if call]

    def number_of(self, call):
        word, number = call.split()
        self.assertIn(word, ("wake", "woken"))
        self.assertTrue(int(number) >> 62 == 1, "it is known as one that processes share")
        return int(number)


class CollectivesTest(CollectivesCase):
    """Collectives that the program calls."""

    def test_a_collective_is_entered_and_waited_for_under_one_number(self):
        self.assertEqual(WAIT(HookedGroup().allreduce([])), "done")
        entered, begin, woken, end = self.take()
        self.assertEqual(self.number_of(entered), self.number_of(woken))
        self.assertEqual((begin, end), (f"begin {SCOPE}", f"end {SCOPE}"))

    def test_each_collective_of_a_group_has_a_number_of_its_own_that_every_rank_counts_alike(self):
        numbers = []
        for rank in range(2):
            _collectives._groups.clear()
            group = HookedGroup(rank)
            for _ in range(3):
                group.allreduce([])
            numbers.append([self.number_of(call) for call in self.take()])
        self.assertEqual(numbers[0], numbers[1])
        self.assertEqual(len(set(numbers[0])), 3)

    def test_other_jobs_and_groups_have_other_numbers(self):
        numbers = set()
        for name, port in (("7", "1"), ("7", "2"), ("8", "1")):
            _collectives._groups.clear()
            group = HookedGroup()
            group.group_name = name
            with mock.patch.dict("os.environ", MASTER_PORT=port):
                group.allreduce([])
            numbers.update(self.number_of(call) for call in self.take())
        self.assertEqual(len(numbers), 3)

    def test_a_message_has_one_number_for_sender_and_receiver(self):
        HookedGroup(0).send([], 1, 5)
        HookedGroup(0).send([], 1, 6)
        sent = [self.number_of(call) for call in self.take()]
        _collectives._groups.clear()
        HookedGroup(1).recv([], 0, 6)
        HookedGroup(1).recv([], 0, 5)
        received = [self.number_of(call) for call in self.take()]
        self.assertEqual(sent, received[::-1])

    def test_a_call_that_waits_itself_is_such_a_wait(self):
        HookedGroup().monitored_barrier()
        begin, entered, woken, end = self.take()
        self.assertEqual(self.number_of(entered), self.number_of(woken))
        self.assertEqual((begin, end), (f"begin {SCOPE}", f"end {SCOPE}"))

    def test_a_work_that_nobody_knows_is_a_wait_for_nothing_known(self):
        WAIT(Work())
        self.assertEqual(self.take(), ["begin layer(2) Work.wait", "end layer(2) Work.wait"])

    def test_a_group_without_a_name_works_as_before_and_is_not_counted(self):
        group = HookedGroup()
        with mock.patch.object(Group, "group_name", property(lambda self: 1 / 0)):
            self.assertEqual(WAIT(group.allreduce([])), "done")
        self.assertEqual([call for call in self.take() if call.startswith(("wake", "woken"))], [])


class ReductionTest(CollectivesCase):
    """What DistributedDataParallel reduces within backward()."""

    def setUp(self):
        super().setUp()
        self.group, self.hooks, self.callbacks = Group(), [], []
        engine = types.SimpleNamespace(queue_callback=self.callbacks.append)
        variable = types.SimpleNamespace(_execution_engine=engine)
        patch = mock.patch.dict(sys.modules, {"torch.autograd": types.SimpleNamespace(Variable=variable)})
        patch.start()
        self.addCleanup(patch.stop)

    def run_engine(self, _outputs, starts=0, fails=False):
        for hook in list(self.hooks):
            hook("gradient")
        self.group.started += starts
        while self.callbacks:
            self.callbacks.pop(0)()
        if fails:
            raise RuntimeError("not today")
        return "gradients"

    def backward(self, prepared=True, **keywords):
        class Module:
            """One that weak references can be made to."""
            process_group, device = self.group, "cpu"
        module = Module()
        if prepared:
            _collectives._reducing.add(module)

        def register(hook):
            self.hooks.append(hook)
            return types.SimpleNamespace(remove=self.hooks.clear)
        output = types.SimpleNamespace(grad_fn=types.SimpleNamespace(register_prehook=register))
        run = _collectives.wrap(self.run_engine, "autograd._engine_run_backward", {"collective": "reduces"})
        return run((output,), **keywords)

    def test_what_follows_the_last_gradient_is_a_wait(self):
        self.assertEqual(self.backward(starts=2), "gradients")
        entered, begin, woken, end = self.take()
        self.assertEqual(self.number_of(entered), self.number_of(woken))
        self.assertEqual((begin, end), (f"begin {REDUCTION}", f"end {REDUCTION}"))
        self.assertEqual(self.hooks, [], "nothing stays on the graph")

    def test_a_backward_that_reduces_nothing_does_not_wait(self):
        self.assertEqual(self.backward(starts=0), "gradients")
        self.assertEqual(self.backward(prepared=False, starts=1), "gradients")
        self.assertEqual(self.take(), [])

    def test_a_backward_that_fails_ends_its_wait(self):
        with self.assertRaisesRegex(RuntimeError, "not today"):
            self.backward(starts=1, fails=True)
        self.assertEqual(self.take()[-1], f"end {REDUCTION}")
        self.assertEqual(_core.depth(), 0)


if __name__ == "__main__":
    unittest.main()
