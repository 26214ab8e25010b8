// SPDX-License-Identifier: Apache-2.0
//
// The state of a wrapper and the functions that the interpreter calls for it. They return what the
// wrapped callable does, null with an error set where it raises; what a helper of a hook raises is
// dropped. Any thread that runs Python; which hooks are open is state of the thread.
#ifndef GPUBOUND_ANNOTATE_PYTHON_WRAPPER_CALLS_H_
#define GPUBOUND_ANNOTATE_PYTHON_WRAPPER_CALLS_H_

#include "annotate/python/extension/compat.h"

#include <cstdint>

#include "annotate/python/extension/wrapper.h"

namespace gpubound {

// Nothing of it changes after it was made, so that any number of threads may call it at once.
struct Wrapper {
  PyObject_HEAD vectorcallfunc vectorcall;
  PyObject* wrapped;
  PyObject* bound_type;  // makes what it is as an attribute of an object
  PyObject* weak_references;
  PyObject* helper;
  uint32_t label;
  uint32_t own;  // HookRules
  bool alone;
  bool stage;
};

inline Wrapper* Cast(PyObject* self) { return reinterpret_cast<Wrapper*>(self); }

// Opens the wrapper's label.
vectorcallfunc CallInLabel();
// The same by the HookRules that the wrapper was made with.
vectorcallfunc CallByRules();
vectorcallfunc CallInRole(CallRole role);

}  // namespace gpubound

#endif  // GPUBOUND_ANNOTATE_PYTHON_WRAPPER_CALLS_H_
