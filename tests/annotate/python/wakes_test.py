# SPDX-License-Identifier: Apache-2.0
"""Which thread lets which go on, in programs that know nothing of gpubound: the one that wakes says so
before it does, the one that was woken inside its wait, both of the same object. Who finds what it comes
for says so too, of the same item of a queue or the same object."""
import os
import pathlib
import re
import subprocess
import sys
import unittest

import gpubound

STARTUP = pathlib.Path(gpubound.__file__).parent / "startup"
HERE = pathlib.Path(__file__).parent

# Begins |target| on a thread of its own and goes on once that waits, in `waiting`.
PREPARATION = """
import concurrent.futures.thread, queue, sys, threading, time
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
        number that becomes the word `it`. Other large numbers become `other 1` and so on."""
        text = f"{PREPARATION}\n{program}\nprint(*recorded.take(), sep='\\n')\n"
        done = subprocess.run([sys.executable, "-B", "-W", "ignore", "-c", text],
                              env={**os.environ, "PYTHONPATH": str(STARTUP)}, text=True,
                              capture_output=True, check=False, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        what, *calls = done.stdout.splitlines()
        names = {what: "it"}
        told = [re.sub(r"\d{5,}", lambda number: names.setdefault(number[0], f"other {len(names)}"),
                       call.replace("layer(2) ", "")) for call in calls]
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

    def test_a_thread_that_is_started(self):
        calls = self.calls_of("""
thread = threading.Thread(target=int)
print(id(thread))
recorded.take()
thread.start()
thread.join()
""")
        begun = [call for call in calls if call in ("wake it", "woken it")]
        self.assertEqual(begun[:3], ["wake it", "woken it", "wake it"])  # the last one is its end

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
""")[:5], ["wake other 1", "wake it", "woken it", "end Condition.wait", "found other 1"])

    def test_a_queue_that_holds_something(self):
        for kind in "Queue", "LifoQueue", "PriorityQueue":
            self.assertEqual(self.calls_of(f"""
items = queue.{kind}()
print(0)
recorded.take()
items.put(2)
items.put(1)
items.get()
items.get()
"""), ["wake other 1", "wake other 2", "found other 1", "found other 2"], kind)

    def test_a_queue_with_room_for_two(self):
        self.assertEqual(self.calls_of("""
items = queue.Queue(2)
print(0)
recorded.take()
items.put(1)
items.put(1)
items.get()
items.put(1)
"""), ["wake other 1", "wake other 2", "found other 1", "wake other 3", "found other 3", "wake other 4"])

    def test_items_from_before_are_nobodys(self):
        self.assertEqual(self.calls_of("""
items = queue.Queue()
print(0)
items.queue.append(1)  # as a library that was there before its hooks
recorded.take()
items.put(1)
items.get()
items.get()
"""), ["wake other 1", "found other 2", "found other 1"])

    def test_items_of_many_queues_are_different_ones(self):
        calls = self.calls_of("""
queues = [queue.Queue(1) for _ in range(500)]
print(0)
recorded.take()
for items in queues:
    for number in range(3):
        items.put(number)
        items.get()
""")
        self.assertEqual(len(calls), 500 * (3 + 2 + 3 + 3))
        self.assertEqual(len({call for call in calls if call.startswith("wake")}), 500 * 6)
        self.assertEqual(len({call for call in calls if call.startswith("found")}), 500 * 5)

    def test_what_is_no_queue_fails_as_ever(self):
        self.assertEqual(self.calls_of("""
print(0)
recorded.take()
for call in (lambda: queue.Queue._put(object(), 1), lambda: queue.Queue._get(object()),
             lambda: queue.Queue._put(), lambda: queue.Queue._get()):
    try:
        call()
    except (AttributeError, TypeError):
        pass
    else:
        sys.exit("no error")
"""), [])

    def test_an_event_that_is_set(self):
        self.assertEqual(self.calls_of("""
go_on = threading.Event()
print(id(go_on))
recorded.take()
go_on.set()
go_on.wait()
go_on.clear()
go_on.wait(0)
"""), ["wake it", "found it", "begin Condition.wait", "end Condition.wait"])

    def test_a_future_that_has_its_result(self):
        self.assertEqual(self.calls_of("""
from concurrent.futures import Future
future = Future()
print(id(future))
recorded.take()
future.set_result(1)
future.result()
future.exception()
"""), ["wake it", "begin Future.result", "woken it", "end Future.result", "begin Future.exception",
       "woken it", "end Future.exception"])

    def test_an_event_within_another_wait(self):
        calls = self.calls_of("""
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
""")
        self.assertEqual([call for call in calls if "other" not in call][-3:],
                         ["wake it", "woken it", "end Future.result"])

    def test_an_event_loop(self):
        calls = self.calls_of("""
import asyncio
loop = asyncio.new_event_loop()
print(id(loop._selector))
begin(loop.run_forever)
until(loop.is_running)
recorded.take()
loop.call_soon_threadsafe(loop.stop)
until(lambda: not loop.is_running())
""")
        self.assertIn(["wake it", "woken it", "end EpollSelector.select"],
                      [calls[i:i + 3] for i in range(len(calls))], calls)

    def test_a_timer_that_an_event_loop_waits_for(self):
        calls = self.calls_of("""
import asyncio
loop = asyncio.new_event_loop()
when = loop.time() + 0.5  # later than the loop begins, on a busy machine too
print((1 << 63) | int(when * 1e9))
recorded.take()
loop.call_at(when, loop.stop)
loop.run_forever()
""")
        self.assertEqual([call for call in calls if call.endswith("it")],
                         ["wake it", "woken it", "found it"])
        self.assertEqual(calls[calls.index("woken it") + 1], "end EpollSelector.select")

    def test_a_timer_that_came_before_an_event_loop_waited(self):
        calls = self.calls_of("""
import asyncio
loop = asyncio.new_event_loop()
when = loop.time() + 0.001
print((1 << 63) | int(when * 1e9))
recorded.take()
loop.call_at(when, loop.stop)
loop.call_soon(time.sleep, 0.02)
loop.run_forever()
""")
        self.assertIn("found it", calls)

    def test_an_event_loop_that_has_something_to_do_does_not_wait(self):
        calls = self.calls_of("""
import asyncio
loop = asyncio.new_event_loop()
print(id(loop._selector))
recorded.take()
def stop_soon():
    begin(lambda: loop.call_soon_threadsafe(loop.stop)).join()
    loop.call_soon(int)
loop.call_soon(stop_soon)
loop.run_forever()
""")
        self.assertEqual([call for call in calls if "epoll" in call or "Epoll" in call], [])
        self.assertEqual([call for call in calls if call.endswith(" it")], ["wake it", "found it"])

    def test_a_socket_of_an_event_loop_is_nobody(self):
        calls = self.calls_of("""
import asyncio, socket
loop = asyncio.new_event_loop()
mine, other = socket.socketpair()
print(id(loop._selector))
loop.add_reader(mine, loop.stop)
recorded.take()
other.send(b"x")
loop.run_forever()
""")
        self.assertFalse(calls[calls.index("end EpollSelector.select") - 1].startswith("woken"), calls)

    def test_a_selector_that_is_no_event_loop_s(self):
        calls = self.calls_of("""
import selectors, socket
mine, other = socket.socketpair()
selector = selectors.EpollSelector()
print(id(selector))
selector.register(mine, selectors.EVENT_READ)
other.send(b"x")
recorded.take()
assert len(selector.select()) == 1
""")
        self.assertEqual(calls, ["begin EpollSelector.select", "end EpollSelector.select"])

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
    frame = sys._getframe(1)  # that of the item itself up to 3.13
    while not isinstance(frame.f_locals.get("self"), concurrent.futures.thread._WorkItem):
        frame = frame.f_back
    made.append(id(frame.f_locals["self"]))
pool.submit(task).result()
print(made[0])
""")
        self.assertLess(calls.index("wake it"), calls.index("woken it"))


if __name__ == "__main__":
    unittest.main()
