# SPDX-License-Identifier: Apache-2.0
"""Which thread lets which go on, in programs that know nothing of gpubound: the one that wakes says so
before it does, the one that was woken inside its wait, both of the same object."""
import os
import pathlib
import subprocess
import sys
import unittest

import gpubound

STARTUP = pathlib.Path(gpubound.__file__).parent / "startup"
HERE = pathlib.Path(__file__).parent

# Begins |target| on a thread of its own and goes on once that waits, in `waiting`.
PREPARATION = """
import queue, sys, threading, time
from concurrent.futures import ThreadPoolExecutor
sys.path.append(%r)
import recorded
import multiprocessing  # a library with hooks
def begin(target):
    thread = threading.Thread(target=target)
    thread.start()
    return thread
def until(true):
    while not true():
        time.sleep(0.001)
""" % str(HERE)


class WakesTest(unittest.TestCase):
    def calls_of(self, program):
        """What `program` does after it has called `recorded.take()` itself, and what it prints first: a
        number that becomes the word `it`."""
        text = f"{PREPARATION}\n{program}\nprint(*recorded.take(), sep='\\n')\n"
        done = subprocess.run([sys.executable, "-B", "-W", "ignore", "-c", text],
                              env={**os.environ, "PYTHONPATH": str(STARTUP)}, text=True,
                              capture_output=True, check=False, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        what, *calls = done.stdout.splitlines()
        told = [call.replace(what, "it").replace("layer(2) ", "") for call in calls]
        return [call for call in told if call and "time.sleep" not in call]

    def test_a_condition(self):
        self.assertEqual(self.calls_of("""
condition = threading.Condition()
print(id(condition))
def wait():
    with condition:
        condition.wait()
thread = begin(wait)
until(lambda: condition._waiters)
recorded.take()
with condition:
    condition.notify()
until(lambda: not thread.is_alive())
""")[:3], ["wake it", "woken it", "end Condition.wait"])

    def test_nobody_waits(self):
        self.assertEqual(self.calls_of("""
condition = threading.Condition()
print(id(condition))
recorded.take()
with condition:
    condition.notify_all()
"""), [])

    def test_the_time_runs_out(self):
        self.assertEqual(self.calls_of("""
condition = threading.Condition()
print(id(condition))
recorded.take()
with condition:
    assert condition.wait(0.01) is False
"""), ["begin Condition.wait", "end Condition.wait"])

    def test_a_queue(self):
        self.assertEqual(self.calls_of("""
items = queue.Queue()
print(id(items.not_empty))
thread = begin(items.get)
until(lambda: items.not_empty._waiters)
recorded.take()
items.put(1)
until(lambda: not thread.is_alive())
""")[:3], ["wake it", "woken it", "end Condition.wait"])

    def test_a_queue_that_holds_something(self):
        self.assertEqual(self.calls_of("""
items = queue.Queue()
print(id(items.not_empty))
recorded.take()
items.put(1)
items.get()
"""), [])

    def test_an_event_within_another_wait(self):
        self.assertEqual(self.calls_of("""
pool = ThreadPoolExecutor(1)
go_on = threading.Event()
future = pool.submit(go_on.wait)
until(lambda: go_on._cond._waiters)
print(id(future._condition))
asks = begin(future.result)
until(lambda: future._condition._waiters)
recorded.take()
go_on.set()
until(lambda: not asks.is_alive())
""")[-4:-1], ["wake it", "woken it", "end Future.result"])

    def test_the_end_of_a_thread_that_is_joined(self):
        self.assertEqual(self.calls_of("""
go_on = queue.SimpleQueue()
thread = begin(go_on.get)
print(id(thread))
recorded.take()
threading.Timer(0.05, go_on.put, [1]).start()
thread.join()
calls = [call for call in recorded.take() if str(id(thread)) in call or "join" in call]
print(*calls, sep="\\n")
""")[:4], ["begin Thread.join", "wake it", "woken it", "end Thread.join"])

    def test_a_task_that_a_worker_takes_up(self):
        calls = self.calls_of("""
pool = ThreadPoolExecutor(1)
pool.submit(int).result()
made = []
recorded.take()
def task():
    recorded_item = sys._getframe(1).f_locals["self"]
    made.append(id(recorded_item))
pool.submit(task).result()
print(made[0])
""")
        self.assertLess(calls.index("wake it"), calls.index("woken it"))


if __name__ == "__main__":
    unittest.main()
