#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A Python program that annotates through the C table and begins and ends processes in one of many
ways: python_victim.py ACTION. Without a collector it does the same and records nothing."""
import concurrent.futures
import ctypes
import multiprocessing
import os
import signal
import subprocess
import sys
import threading

U32, U64, DOUBLE = ctypes.c_uint32, ctypes.c_uint64, ctypes.c_double
SCOPES = 100


class Api(ctypes.Structure):
    _fields_ = [
        ("size", U32), ("version", U32),
        ("label", ctypes.CFUNCTYPE(U32, U32, U32, ctypes.c_char_p, ctypes.c_char_p,
                                   ctypes.c_size_t)),
        ("begin", ctypes.CFUNCTYPE(None, U32)), ("end", ctypes.CFUNCTYPE(None, U32)),
        ("phase", ctypes.CFUNCTYPE(None, U32)), ("step", ctypes.CFUNCTYPE(None, U64)),
        ("counter", ctypes.CFUNCTYPE(None, U32, DOUBLE)),
    ]


def find_api():
    try:
        get = ctypes.CDLL(None).gpubound_api_v1
    except AttributeError:
        return None
    get.restype = ctypes.POINTER(Api)
    table = get()
    return table.contents if table else None


def work(_=None):
    """A hundred scopes called "python work"."""
    api = find_api()
    if api is None:
        return SCOPES
    label = api.label(1, 0, None, b"python work", len(b"python work"))
    for _ in range(SCOPES):
        api.begin(label)
        api.end(label)
    return SCOPES


def worker():
    work()
    os.write(1, b"worker done\n")  # one write: workers share the pipe


def in_processes(method):
    context = multiprocessing.get_context(method)
    processes = [context.Process(target=worker) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    print([process.exitcode for process in processes], work())


def pool():
    with concurrent.futures.ProcessPoolExecutor(2) as executor:
        print(sum(executor.map(work, range(4))), work())


def terminate_worker():
    context = multiprocessing.get_context("fork")
    ready = context.Event()

    def sleep():
        work()
        ready.set()
        signal.pause()
    process = context.Process(target=sleep)
    process.start()
    ready.wait()
    process.terminate()
    process.join()
    print(process.exitcode)


def fork():
    work()
    child = os.fork()
    if child == 0:
        work()
        os._exit(5)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


def run_subprocess(**options):
    work()
    done = subprocess.run([sys.executable, __file__, "exit"], capture_output=True, text=True,
                          check=False, **options)
    print(done.returncode, done.stdout, done.stderr)


def threads():
    done = [threading.Thread(target=work) for _ in range(8)]
    for thread in done:
        thread.start()
    for thread in done:
        thread.join()
    threading.Thread(target=signal.pause, daemon=True).start()
    print("daemon thread left behind")


def interrupt():
    work()
    os.kill(os.getpid(), signal.SIGINT)


def uncaught():
    work()
    raise ValueError("expected")


def exec_again():
    work()
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, __file__, "exit"])


ACTIONS = {
    "return": lambda: print(work()),
    "exit": lambda: (print(work()), sys.exit(3)),
    "os._exit": lambda: (print(work(), flush=True), os._exit(4)),
    "exception": uncaught,
    "interrupt": interrupt,
    "kill": lambda: (work(), os.kill(os.getpid(), signal.SIGKILL)),
    "fork": fork,
    "exec": exec_again,
    "threads": threads,
    "multiprocessing fork": lambda: in_processes("fork"),
    "multiprocessing spawn": lambda: in_processes("spawn"),
    "multiprocessing forkserver": lambda: in_processes("forkserver"),
    "process pool": pool,
    "terminated worker": terminate_worker,
    "subprocess": run_subprocess,
    "subprocess with preexec_fn": lambda: run_subprocess(preexec_fn=os.setsid),
    "subprocess in a shell": lambda: print(work(), subprocess.run(
        "true | false; exit 6", shell=True, check=False).returncode),
}

if __name__ == "__main__":
    ACTIONS[sys.argv[1]]()
