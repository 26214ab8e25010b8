// SPDX-License-Identifier: Apache-2.0
//
// Looks names up by value and makes scopes for new ones.
#include "annotate/python/extension/scope_cache.h"

namespace gpubound {

bool ScopeCache::Start(uint32_t kind, uint32_t layer) {
  kind_ = kind;
  layer_ = layer;
  by_value_ = PyDict_New();
  return by_value_ != nullptr;
}

int ScopeCache::Traverse(visitproc visit, void* arg) {
  Py_VISIT(by_value_);
  for (Entry& entry : entries_) Py_VISIT(entry.scope);
  return 0;
}

void ScopeCache::Clear() {
  Py_CLEAR(by_value_);
  for (Entry& entry : entries_) {
    Py_CLEAR(entry.name);
    Py_CLEAR(entry.scope);
  }
}

bool ScopeCache::Forget() {
  Clear();
  for (Entry& entry : entries_) entry.claimed = 0;
  return Start(kind_, layer_);
}

PyObject* ScopeCache::GetSlowPath(const ScopeTypes& types, PyObject* name) {
  if (!PyUnicode_Check(name)) {
    PyObject* type_name =
        PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(name)), "__name__");
    if (type_name == nullptr) return nullptr;
    PyErr_Format(PyExc_TypeError, "the name of a scope must be a str, not %U", type_name);
    Py_DECREF(type_name);
    return nullptr;
  }
  // A subclass may compare as it likes, and a long name is unlikely to come again.
  if (!PyUnicode_CheckExact(name) || PyUnicode_GetLength(name) > kMaxNameLength) {
    return NewScope(types, kind_, layer_, name);
  }
  PyObject* known = FindInDict(by_value_, name);
  if (known != nullptr || PyErr_Occurred() != nullptr) return known;
  PyObject* made = NewScope(types, kind_, layer_, name);
  if (made == nullptr || PyDict_Size(by_value_) >= kMaxNames) return made;
  PyObject* scope = KeepFirstInDict(by_value_, name, made);
  if (scope == made) Remember(name, scope);
  Py_DECREF(made);
  return scope;
}

void ScopeCache::Remember(PyObject* name, PyObject* scope) {
  const size_t index = IndexOf(name);
  for (size_t probe = index; probe < index + kProbes; ++probe) {
    Entry& entry = entries_[probe];
    if (__atomic_exchange_n(&entry.claimed, 1, __ATOMIC_ACQ_REL) != 0) continue;
    entry.scope = NewReference(scope);
    __atomic_store_n(&entry.name, NewReference(name), __ATOMIC_RELEASE);
    return;
  }
}

}  // namespace gpubound
