# SPDX-License-Identifier: Apache-2.0
"""Programs whose main process waits for others in one way each: waits.py ACTION METHOD. Prints as JSON
whom it waited for and how long, by its own measurement: [[[pid, ...], ns], ...], and more. Each wait is
inside operation "collect"; the others name nothing themselves."""
import json
import multiprocessing
import multiprocessing.connection
import os
import pickle
import subprocess
import sys
import threading
import time

ROUNDS = 4
WORK_S = 0.02


def work(seconds=WORK_S):
    """Computes, so that nothing but the reader is waiting."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pass


def answer(connection):
    """A worker: an answer for each order, until None."""
    while connection.recv() is not None:
        work()
        connection.send(os.getpid())


def answer_through(outer):
    """A worker that leaves the work to one of its own."""
    connection, helper = start_pipe(multiprocessing.get_context("fork"))
    while outer.recv() is not None:
        connection.send(1)
        connection.recv()
        outer.send(helper.pid)
    connection.send(None)
    helper.join()


def pass_on(connection):
    """A worker that starts another one, which has the connection from then on."""
    other = multiprocessing.get_context("fork").Process(target=answer, args=(connection,))
    other.start()
    other.join()


def produce(queue):
    for _ in range(ROUNDS):
        work()
        queue.put(os.getpid())


def serve(connection):
    """A worker that is connected to anew for each order, as those of a DataLoader are for their tensors."""
    with multiprocessing.connection.Listener(family="AF_UNIX") as listener:
        connection.send(listener.address)
        for _ in range(ROUNDS):
            with listener.accept() as client:
                client.recv()
                work()
                client.send(os.getpid())


def start_pipe(context, target=answer, duplex_pair=None):
    """A worker with its end of a pipe, which is closed here, as vectorised environments do."""
    ours, theirs = duplex_pair or context.Pipe()
    process = context.Process(target=target, args=(theirs,), daemon=target is answer)
    process.start()
    theirs.close()
    return ours, process


class Waits:
    """Adds up what the program measures."""

    def __init__(self):
        self.ns = {}

    def measure(self, pids, call, *arguments):
        begin = time.monotonic_ns()
        result = call(*arguments)
        key = tuple(sorted(pids))
        self.ns[key] = self.ns.get(key, 0) + time.monotonic_ns() - begin
        return result


def pipes(context, waits):
    workers = [start_pipe(context) for _ in range(3)]
    for _ in range(ROUNDS):
        for connection, _ in workers:
            connection.send(1)
        for connection, process in workers:
            assert waits.measure([process.pid], connection.recv) == process.pid
    for connection, process in workers:
        connection.send(None)
        waits.measure([process.pid], process.join)
    return {"workers": [process.pid for _, process in workers]}


def queue(context, waits, kind="Queue"):
    items = getattr(context, kind)()
    producers = [context.Process(target=produce, args=(items,))
                 for _ in range(1 if kind == "SimpleQueue" else 2)]
    for process in producers:
        process.start()
    pids = [process.pid for process in producers]
    for _ in range(ROUNDS * len(pids)):
        assert waits.measure(pids, items.get) in pids
    for process in producers:
        process.join()
    return {"joined": pids}


def join(context, waits):
    process = context.Process(target=work)
    process.start()
    waits.measure([process.pid], process.join)
    return {}


def nested(context, waits):
    connection, process = start_pipe(context, answer_through)
    helpers = set()
    for _ in range(ROUNDS):
        connection.send(1)
        helpers.add(waits.measure([process.pid], connection.recv))
    connection.send(None)
    waits.measure([process.pid], process.join)
    return {"worker": process.pid, "helper": helpers.pop()}


def grandchild(context, waits):
    connection, process = start_pipe(context, pass_on)
    connection.send(1)
    begin = time.monotonic_ns()
    writer = connection.recv()
    waits.ns[(writer,)] = time.monotonic_ns() - begin
    connection.send(None)
    waits.measure([process.pid], process.join)
    return {}


def reuse(context, waits):
    """Two workers one after the other, whose pipes have the same descriptor here."""
    descriptors = []
    for _ in range(2):
        connection, process = start_pipe(context)
        descriptors.append(connection.fileno())
        connection.send(1)
        assert waits.measure([process.pid], connection.recv) == process.pid
        connection.send(None)
        waits.measure([process.pid], process.join)
        connection.close()
        process.close()
    return {"descriptors": descriptors}


def clients(context, waits):
    connection, process = start_pipe(context, serve)
    address = waits.measure([process.pid], connection.recv)
    for _ in range(ROUNDS):
        with multiprocessing.connection.Client(address) as client:
            client.send(1)
            assert waits.measure([process.pid], client.recv) == process.pid
    waits.measure([process.pid], process.join)
    return {}


def several(context, waits):
    """Whichever of two workers answers first; and whichever ends first."""
    workers = [start_pipe(context) for _ in range(2)]
    pids = [process.pid for _, process in workers]
    for connection, _ in workers:
        connection.send(1)
    waits.measure(pids, multiprocessing.connection.wait, [connection for connection, _ in workers])
    for connection, process in workers:
        waits.measure([process.pid], connection.recv)
        connection.send(None)
    waits.measure(pids, multiprocessing.connection.wait,
                  [process.sentinel for _, process in workers])
    for _, process in workers:
        waits.measure([process.pid], process.join)
    return {}


def pool(context, waits):
    with context.Pool(2) as workers:
        pids = [process.pid for process in workers._pool]
        waits.measure(pids, workers.map, work, [WORK_S] * ROUNDS)
        for _ in waits.measure(pids, list, workers.imap(work, [WORK_S] * ROUNDS)):
            pass
    return {}


def stranger(_, waits):
    """Who writes is a program that is not recorded."""
    reader, writer = os.pipe()
    message = pickle.dumps("done")
    framed = len(message).to_bytes(4, "big") + message
    child = subprocess.Popen(["/bin/sh", "-c", "sleep 0.05; printf \"$MESSAGE\" >&%d" % writer],
                             pass_fds=[writer],
                             env={"MESSAGE": "".join(f"\\{byte:03o}" for byte in framed)})
    os.close(writer)
    connection = multiprocessing.connection.Connection(reader, writable=False)
    waits.measure([], connection.recv)
    child.wait()
    return {}


def command(_, waits):
    """A recorded program by way of subprocess."""
    child = subprocess.Popen([sys.executable, __file__, "idle", "fork"])
    waits.measure([child.pid], child.wait)
    return {}


def threads(_, waits):
    """Threads that take the interpreter's lock from each other, and its locks."""
    import gpubound
    lock = threading.Lock()

    def compute():
        with gpubound.operation("compute"):
            for _ in range(20):
                with lock:
                    work(0.003)
                sum(range(100_000))
    workers = [threading.Thread(target=compute) for _ in range(3)]
    for worker in workers:
        worker.start()
    compute()
    for worker in workers:
        worker.join()
    return {}


def idle(_, waits):
    work()
    return None


ACTIONS = {"pipes": pipes, "queue": queue, "join": join, "nested": nested, "grandchild": grandchild,
           "simple queue": lambda context, waits: queue(context, waits, "SimpleQueue"),
           "reuse": reuse, "clients": clients, "several": several, "pool": pool, "stranger": stranger,
           "command": command, "threads": threads, "idle": idle}


def main():
    import gpubound
    waits = Waits()
    with gpubound.operation("collect"):
        facts = ACTIONS[sys.argv[1]](multiprocessing.get_context(sys.argv[2]), waits)
    if facts is not None:
        print(json.dumps({"waits": list(waits.ns.items()), **facts}))


if __name__ == "__main__":
    main()
