// SPDX-License-Identifier: Apache-2.0
//
// What the interpreter asks of a type rather than of an object: len(), iteration, items, `in` and
// truth. A wrapper of a callable that has them (a container of neural network layers) is of a type
// that passes them on; one that does not is of a type without, since a program may ask whether they
// are there. Each function of a slot returns what the wrapped callable does, with its error set.
// Any thread that runs Python.
#ifndef GPUBOUND_ANNOTATE_PYTHON_WRAPPER_PROTOCOLS_H_
#define GPUBOUND_ANNOTATE_PYTHON_WRAPPER_PROTOCOLS_H_

#include "annotate/python/extension/compat.h"

namespace gpubound {

// Whether the type of |wrapped| has any of them.
bool HasProtocols(PyObject* wrapped);
// Whether |name|, a str, is the name of one, as of "__len__".
bool IsProtocol(PyObject* name);

Py_ssize_t WrappedLength(PyObject* wrapper);
PyObject* WrappedItem(PyObject* wrapper, PyObject* key);
// A |value| of null deletes the item.
int SetWrappedItem(PyObject* wrapper, PyObject* key, PyObject* value);
int WrappedHolds(PyObject* wrapper, PyObject* item);
PyObject* WrappedIterator(PyObject* wrapper);
int WrappedIsTrue(PyObject* wrapper);

}  // namespace gpubound

#endif  // GPUBOUND_ANNOTATE_PYTHON_WRAPPER_PROTOCOLS_H_
