// SPDX-License-Identifier: Apache-2.0
//
// What is to happen at a time that a program set: timers of an event loop. Any thread that runs
// Python.
#ifndef GPUBOUND_ANNOTATE_PYTHON_TIMERS_H_
#define GPUBOUND_ANNOTATE_PYTHON_TIMERS_H_

#include "annotate/python/extension/compat.h"

#include <cstdint>

namespace gpubound {

// Seconds of CLOCK_MONOTONIC, as the collector knows them; 0 for what is none, with or without an
// error set.
uint64_t IdOfTime(PyObject* seconds);

// Calls of a wrapper in the roles kSetsTime and kFindsTime.
PyObject* CallSettingTime(PyObject* self, PyObject* const* arguments, size_t nargsf,
                          PyObject* keywords);
PyObject* CallFindingTime(PyObject* self, PyObject* const* arguments, size_t nargsf,
                          PyObject* keywords);

}  // namespace gpubound

#endif  // GPUBOUND_ANNOTATE_PYTHON_TIMERS_H_
