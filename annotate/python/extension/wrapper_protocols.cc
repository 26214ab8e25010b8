// SPDX-License-Identifier: Apache-2.0
//
// Asks the wrapped callable.
#include "annotate/python/extension/wrapper_protocols.h"

#include "annotate/python/extension/wrapper_calls.h"

namespace gpubound {
namespace {

constexpr const char* kProtocols[] = {"__len__",  "__getitem__",  "__setitem__", "__delitem__",
                                      "__iter__", "__contains__", "__bool__"};

}  // namespace

bool HasProtocols(PyObject* wrapped) {
  if (PyCFunction_Check(wrapped)) return false;  // most of what hooks wrap, and by the thousand
  PyObject* type = reinterpret_cast<PyObject*>(Py_TYPE(wrapped));
  for (const char* protocol : kProtocols) {
    PyObject* found = PyObject_GetAttrString(type, protocol);
    if (found != nullptr) {
      Py_DECREF(found);
      return true;
    }
    PyErr_Clear();
  }
  return false;
}

bool IsProtocol(PyObject* name) {
  for (const char* protocol : kProtocols) {
    if (PyUnicode_CompareWithASCIIString(name, protocol) == 0) return true;
  }
  return false;
}

Py_ssize_t WrappedLength(PyObject* wrapper) { return PyObject_Size(Cast(wrapper)->wrapped); }

PyObject* WrappedItem(PyObject* wrapper, PyObject* key) {
  return PyObject_GetItem(Cast(wrapper)->wrapped, key);
}

int SetWrappedItem(PyObject* wrapper, PyObject* key, PyObject* value) {
  PyObject* wrapped = Cast(wrapper)->wrapped;
  return value == nullptr ? PyObject_DelItem(wrapped, key) : PyObject_SetItem(wrapped, key, value);
}

int WrappedHolds(PyObject* wrapper, PyObject* item) {
  return PySequence_Contains(Cast(wrapper)->wrapped, item);
}

PyObject* WrappedIterator(PyObject* wrapper) { return PyObject_GetIter(Cast(wrapper)->wrapped); }

int WrappedIsTrue(PyObject* wrapper) { return PyObject_IsTrue(Cast(wrapper)->wrapped); }

}  // namespace gpubound
