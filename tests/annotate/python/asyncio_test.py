# SPDX-License-Identifier: Apache-2.0
"""Scopes of tasks that asyncio runs, with the hook that the collector's start-up installs."""
import asyncio
import gc
import os
import sys
import threading
import unittest

import gpubound
from gpubound import _asyncio, _loop
from recorded import RecordedTest, scope, set_ended, take, without_numbers

BEGIN, END = scope("work")


class AsyncioTest(RecordedTest):
    def setUp(self):
        loop = asyncio.base_events.BaseEventLoop
        for owner, name in ((asyncio.events.Handle, "_run"), (loop, "create_task")):
            self.addCleanup(setattr, owner, name, vars(owner)[name])
        self.addCleanup(delattr, asyncio.events.TimerHandle, "_run")
        _asyncio.install(asyncio.events)
        _asyncio.install_for_eager_tasks(asyncio.base_events)
        super().setUp()

    def test_a_block_that_awaits_owns_nothing_while_another_task_runs(self):
        async def hold(name):
            with gpubound.operation(name):
                await asyncio.sleep(0)
                gpubound.phase(name)

        async def both():
            await asyncio.gather(hold("a"), hold("b"))
        asyncio.run(both())
        self.assert_recorded(*scope("a"), *scope("b"),
                             "begin operation a", "phase a", "end operation a",
                             "begin operation b", "phase b", "end operation b")

    @unittest.skipIf(sys.version_info < (3, 12), "no task begins in the call that creates it before")
    def test_a_task_that_begins_within_another_one_leaves_it_its_own_scopes(self):
        async def child():
            with gpubound.operation("child"):
                await asyncio.sleep(0)
                gpubound.phase("child")

        async def parent():
            asyncio.get_running_loop().set_task_factory(asyncio.eager_task_factory)
            with gpubound.operation("work"):
                task = asyncio.create_task(child())
                gpubound.phase("parent")
            await task
        asyncio.run(parent())
        self.assert_recorded(BEGIN, *scope("child"), "phase parent", END,
                             "begin operation child", "phase child", "end operation child")

    def collect_and_learn(self, turns):
        """Tasks that step environments and await in a block of their own, then a step of the optimizer."""
        _loop.forget_in_fork_child()
        self.addCleanup(_loop.forget_in_fork_child)

        async def act():
            _loop.enter_rollout()
            with gpubound.operation("act"):
                await asyncio.sleep(0)

        async def train():
            for _ in range(turns):
                await asyncio.gather(act(), act())
                gpubound.phase("collected")
                _loop.enter_update()
                await asyncio.sleep(0)
                gpubound.phase("learnt")
        asyncio.run(train())
        _loop._finish()

    def test_the_stages_of_a_training_loop_are_open_whichever_task_runs(self):
        self.collect_and_learn(2)
        rollout = ["begin operation stage:rollout", *scope("act") * 4, "phase collected", "end operation stage:rollout"]
        update = ["begin operation stage:update", "phase learnt", "end operation stage:update", "step"]
        self.assertEqual(without_numbers(take()), [*rollout, *update] * 2)

    def test_a_training_loop_goes_on_when_the_recording_has_ended(self):
        set_ended(True)
        self.addCleanup(set_ended, False)
        self.collect_and_learn(2)

    def test_a_stage_that_ends_leaves_what_else_the_step_has_open_to_its_task(self):
        _loop.forget_in_fork_child()
        self.addCleanup(_loop.forget_in_fork_child)

        async def learn():
            _loop.enter_rollout()
            await asyncio.sleep(0)
            _loop._loop.leave(threading.get_ident())
            with gpubound.operation("work"):
                await asyncio.sleep(0)
                gpubound.phase("awaited")
        asyncio.run(learn())
        self.assert_recorded(*scope("stage:rollout"), BEGIN, END, BEGIN, "phase awaited", END)

    def test_a_step_that_leaves_nothing_open_executes_no_python_of_ours(self):
        ours = []
        package = os.path.join(os.path.dirname(gpubound.__file__), "")

        def note(frame, event, _):
            if event == "call" and frame.f_code.co_filename.startswith(package):
                ours.append(frame.f_code.co_qualname if sys.version_info >= (3, 11) else frame.f_code.co_name)

        async def hold():
            with gpubound.operation("work"):
                await asyncio.sleep(60)

        async def go_on():
            task = asyncio.ensure_future(hold())  # others may have left something open
            await asyncio.sleep(0)
            sys.setprofile(note)
            with gpubound.operation("work"):
                pass
            await asyncio.sleep(0)
            await asyncio.sleep(0.001)
            sys.setprofile(None)
            task.cancel()
        asyncio.run(go_on())
        self.assertEqual(ours, [])

    def test_of_a_task_that_never_goes_on_nothing_is_kept(self):
        async def hold():
            with gpubound.operation("work"):
                await asyncio.get_running_loop().create_future()

        async def leave():
            asyncio.ensure_future(hold())
            await asyncio.sleep(0)
            self.assertEqual(len(_asyncio._suspended), 1)
        loop = asyncio.new_event_loop()
        loop.set_exception_handler(lambda *_: None)
        loop.run_until_complete(leave())
        loop.close()
        gc.collect()
        self.assertEqual(_asyncio._suspended, {})

    def test_a_cancelled_task_leaves_no_scope_open(self):
        async def hold():
            with gpubound.operation("work"):
                await asyncio.sleep(60)

        async def cancel():
            task = asyncio.ensure_future(hold())
            await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        asyncio.run(cancel())
        self.assert_recorded(BEGIN, END, BEGIN, END)


if __name__ == "__main__":
    unittest.main()
