# SPDX-License-Identifier: Apache-2.0
"""What the fake collector named in GPUBOUND_LIBRARY was told, for tests."""
import ctypes
import os
import unittest

_library = ctypes.CDLL(os.environ["GPUBOUND_LIBRARY"])
_library.take_recorded_calls.restype = ctypes.c_size_t
_library.take_recorded_calls.argtypes = [ctypes.c_char_p, ctypes.c_size_t]


def take():
    """The calls since the last take(), e.g. ["begin operation x", "end operation x"], whoever named x."""
    return [call.replace(" operation rules:", " operation ").replace(" operation turn:", " operation ")
            for call in take_with_domains()]


def take_with_domains():
    """Likewise, with the domain in front of each name that has one."""
    length = _library.take_recorded_calls(None, 0)
    buffer = ctypes.create_string_buffer(length + 1)
    _library.take_recorded_calls(buffer, length)
    return buffer.raw[:length].decode().splitlines()


def set_ended(ended):
    """Whether the recording has ended while the program goes on."""
    _library.set_recording_ended(int(ended))


def scope(*names):
    """The calls of operations opened one inside the other: ("a", "b") is begin a, begin b, end b,
    end a."""
    return ([f"begin operation {name}" for name in names] +
            [f"end operation {name}" for name in reversed(names)])


def without_numbers(calls):
    """`calls` with "step" for each step, whatever its number."""
    return ["step" if call.startswith("step ") else call for call in calls]


class RecordedTest(unittest.TestCase):
    """Compares what a test recorded, from a clean start."""

    def setUp(self):
        from gpubound import _api  # a program that tests how it is missed imports this module too
        _api._steps_by_program = False
        take()

    def assert_recorded(self, *calls):
        self.assertEqual(take(), list(calls))
