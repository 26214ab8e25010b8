# SPDX-License-Identifier: Apache-2.0
"""A loop whose functions take known shares of its operations; prints what its own clock says of each, as
JSON: by operation and function in seconds. Arguments: for how many seconds."""
import json
import sys
import threading
import time

import gpubound

spent = {"act": {"Policy.encode": 0.0, "Policy.sample": 0.0}, "rest": {"idle": 0.0}}


def spin(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


class Policy:
    def encode(self):
        spin(0.009)

    def sample(self):
        spin(0.003)

    def act(self):
        begin = time.perf_counter()
        self.encode()
        middle = time.perf_counter()
        self.sample()
        end = time.perf_counter()
        spent["act"]["Policy.encode"] += middle - begin
        spent["act"]["Policy.sample"] += end - middle


def idle():
    begin = time.perf_counter()
    time.sleep(0.008)
    spent["rest"]["idle"] += time.perf_counter() - begin


def recursive(depth, work):
    return recursive(depth - 1, work) if depth else work()


def main(seconds):
    policy = Policy()
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        with gpubound.operation("act"):
            policy.act()
        with gpubound.operation("rest"):
            recursive(20, idle)
        gpubound.step()


def wait_for(event):
    event.wait()


done = threading.Event()
threading.Thread(target=wait_for, args=(done,), name="waiter", daemon=True).start()
main(float(sys.argv[1]))
done.set()
print(json.dumps(spent))
