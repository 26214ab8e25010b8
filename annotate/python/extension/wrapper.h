// SPDX-License-Identifier: Apache-2.0
//
// A callable that opens a label around each call of another one and is otherwise that one: same
// name, docs, signature, class, equality and hash; attributes are read from it and set on it.
// Two types, because a Python function binds to an instance and a built-in one does not.
#ifndef GPUBOUND_ANNOTATE_PYTHON_WRAPPER_H_
#define GPUBOUND_ANNOTATE_PYTHON_WRAPPER_H_

#include "annotate/python/extension/compat.h"

#include <cstdint>

namespace gpubound {

struct WrapperTypes {
  PyObject* callable;  // gpubound.Wrapper
  PyObject* function;  // gpubound.FunctionWrapper: binds as a method does
  PyObject* method;    // types.MethodType
};

bool MakeWrapperTypes(PyObject* module, WrapperTypes* types);

// A wrapper of |wrapped|, which must be callable, that opens |label|; as an attribute of a class it
// binds to instances if |binds|. Null with an error set.
PyObject* NewWrapper(const WrapperTypes& types, PyObject* wrapped, uint32_t label, bool binds);

// What |object| wraps, as a new reference; null without an error when it is no wrapper.
PyObject* WrappedBy(const WrapperTypes& types, PyObject* object);

}  // namespace gpubound

#endif  // GPUBOUND_ANNOTATE_PYTHON_WRAPPER_H_
