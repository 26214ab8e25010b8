# SPDX-License-Identifier: Apache-2.0
"""Where nobody records, everything works as before and records nothing. Run without GPUBOUND_LIBRARY
and without a preloaded collector."""
import asyncio
import contextlib
import unittest

import gpubound
from gpubound import _core


class NoCollectorTest(unittest.TestCase):
    def test_nothing_records(self):
        self.assertIs(gpubound.recording(), False)
        self.assertEqual(gpubound.operation("update").label, 0)

    def test_scopes_open_and_close(self):
        with gpubound.operation("update") as opened, gpubound.layer("wait"):
            self.assertEqual(opened.name, "update")
        with contextlib.ExitStack() as stack:
            self.assertEqual(stack.enter_context(gpubound.operation("update")).name, "update")

    def test_decorated_functions_return_what_they_did(self):
        @gpubound.operation("update")
        def add(a, b):
            return a + b

        @gpubound.operation("update")
        async def wait():
            await asyncio.sleep(0)
            return 3

        @gpubound.operation("update")
        def count():
            yield from range(3)
        self.assertEqual(add(1, 2), 3)
        self.assertEqual(asyncio.run(wait()), 3)
        self.assertEqual(list(count()), [0, 1, 2])

    def test_decorating_returns_the_function_itself(self):
        def count():
            yield 1
        for function in (len, count, asyncio.sleep):
            self.assertIs(gpubound.operation("update")(function), function)
        self.assertIs(gpubound.operation("update")(staticmethod(count)).__func__, count)

    def test_events_go_nowhere(self):
        gpubound.phase("warmup")
        with gpubound.phase("rollout"):
            pass
        gpubound.step(env_steps=3)
        gpubound.counter("loss", 1.0)
        gpubound.metric("return", 1)
        gpubound.flops(per_iteration=1, peak_per_second=2)
        gpubound.policy_version(1)
        gpubound.consumed(samples=1, version=0)
        gpubound.discarded(samples=1, reason="stale")
        gpubound.role("data")
        gpubound.progress(1, 2)
        gpubound.metadata({"algorithm": "PPO", "shapes": {(1, 2): 3}}, seed=1)
        gpubound.pause()
        gpubound.resume()
        with gpubound.adopt(gpubound.hand_over()):
            pass
        self.assertEqual(_core.depth(), 0)
        self.assertEqual(gpubound.summary(), {})

    def test_misuse_is_still_refused(self):
        with self.assertRaises(TypeError):
            gpubound.operation(3)
        with self.assertRaises(TypeError):
            gpubound.operation("update")(3)


if __name__ == "__main__":
    unittest.main()
