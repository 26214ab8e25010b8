// SPDX-License-Identifier: Apache-2.0
//
// What a suspended generator or coroutine left open on its thread: closed while it is suspended,
// opened again when it goes on. Python functions of gpubound._core; they act on the calling thread.
#ifndef GPUBOUND_ANNOTATE_PYTHON_OPEN_SCOPES_H_
#define GPUBOUND_ANNOTATE_PYTHON_OPEN_SCOPES_H_

#include "annotate/python/extension/compat.h"

#include <cstdint>

namespace gpubound {

inline constexpr uint32_t kMaxScopes = 256;  // of a thread; the collector follows fewer

// thread_ident() -> int: the calling thread, of whose scopes all here is. threading.get_ident()
// says the same, but where a library of greenlets (gevent, eventlet) has put its own in its place.
PyObject* ThreadIdent(PyObject* module, PyObject* none);

// depth() -> int: how many scopes are open.
PyObject* ScopeDepth(PyObject* module, PyObject* none);

// That of the innermost scope that is open on this thread, whoever opened it; 0 without one.
uint32_t InnermostLabel();

// The label of the innermost scope that is open on this thread, as an int; 0 without one.
PyObject* InnermostScope(PyObject* module, PyObject* none);

// suspend(depth) -> tuple: closes those beyond |depth|, innermost first, and returns their labels,
// outermost first.
PyObject* SuspendScopes(PyObject* module, PyObject* depth);

// reopen(labels): opens what suspend() returned.
PyObject* ReopenScopes(PyObject* module, PyObject* labels);

}  // namespace gpubound

#endif  // GPUBOUND_ANNOTATE_PYTHON_OPEN_SCOPES_H_
