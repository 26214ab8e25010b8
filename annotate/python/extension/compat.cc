// SPDX-License-Identifier: Apache-2.0
//
// Calls under 3.9 and 3.10, whose PyObject_Vectorcall is part of Python.h and not of the
// interpreter.
#include "annotate/python/extension/compat.h"

#if defined(Py_LIMITED_API) && Py_LIMITED_API + 0 < 0x030C0000

// Exported by both; not looked up anywhere else.
extern "C" __attribute__((weak)) PyObject* PyObject_VectorcallDict(PyObject* callable,
                                                                   PyObject* const* arguments,
                                                                   size_t nargsf,
                                                                   PyObject* keywords);

namespace gpubound {
namespace {

// {name: value}; null with an error set.
PyObject* DictOf(PyObject* names, PyObject* const* values) {
  PyObject* dict = PyDict_New();
  for (Py_ssize_t index = 0; dict != nullptr && index < PyTuple_Size(names); ++index) {
    if (PyDict_SetItem(dict, PyTuple_GetItem(names, index), values[index]) != 0) Py_CLEAR(dict);
  }
  return dict;
}

}  // namespace

PyObject* CallSlowPath(PyObject* callable, PyObject* const* arguments, size_t nargsf,
                       PyObject* keywords) {
  if (keywords == nullptr) return PyObject_VectorcallDict(callable, arguments, nargsf, nullptr);
  PyObject* dict = DictOf(keywords, arguments + ArgumentCount(nargsf));
  if (dict == nullptr) return nullptr;
  PyObject* result = PyObject_VectorcallDict(callable, arguments, nargsf, dict);
  Py_DECREF(dict);
  return result;
}

}  // namespace gpubound

#endif
