// SPDX-License-Identifier: Apache-2.0
//
// Closes and opens scopes by the labels that the collector lists.
#include "annotate/python/extension/open_scopes.h"

#include <algorithm>

#include "annotate/python/extension/table.h"

namespace gpubound {
namespace {

uint32_t ListOpenScopes(uint32_t* labels) {
  return std::min(g_table.open_scopes(labels, kMaxScopes), kMaxScopes);
}

}  // namespace

PyObject* ThreadIdent(PyObject*, PyObject*) {
  return PyLong_FromUnsignedLong(PyThread_get_thread_ident());
}

PyObject* ScopeDepth(PyObject*, PyObject*) {
  return PyLong_FromUnsignedLong(g_table.open_scopes(nullptr, 0));
}

uint32_t InnermostLabel() {
  uint32_t labels[kMaxScopes];
  const uint32_t open = ListOpenScopes(labels);
  return open == 0 ? 0 : labels[open - 1];
}

PyObject* InnermostScope(PyObject*, PyObject*) { return PyLong_FromUnsignedLong(InnermostLabel()); }

PyObject* SuspendScopes(PyObject*, PyObject* depth) {
  uint32_t labels[kMaxScopes];
  const unsigned long keep = PyLong_AsUnsignedLong(depth);
  if (PyErr_Occurred() != nullptr) return nullptr;
  const uint32_t open = ListOpenScopes(labels);
  const uint32_t first = static_cast<uint32_t>(std::min<unsigned long>(keep, open));
  PyObject* closed = PyTuple_New(static_cast<Py_ssize_t>(open - first));
  for (uint32_t index = open; closed != nullptr && index-- > first;) {
    EndScope(labels[index]);
    PyObject* label = PyLong_FromUnsignedLong(labels[index]);
    if (label == nullptr ||
        PyTuple_SetItem(closed, static_cast<Py_ssize_t>(index - first), label) != 0) {
      Py_CLEAR(closed);
    }
  }
  return closed;
}

PyObject* ReopenScopes(PyObject*, PyObject* labels) {
  const Py_ssize_t count = PyTuple_Size(labels);
  if (count < 0) return nullptr;
  if (!CanSuspend()) Py_RETURN_NONE;
  for (Py_ssize_t index = 0; index < count; ++index) {
    const unsigned long label = PyLong_AsUnsignedLong(PyTuple_GetItem(labels, index));
    if (PyErr_Occurred() != nullptr) return nullptr;
    BeginScope(static_cast<uint32_t>(label));
  }
  Py_RETURN_NONE;
}

}  // namespace gpubound
