// SPDX-License-Identifier: Apache-2.0
//
// From a name to its Scope, so that `operation("x")` costs a look-up and no allocation.
//
// Two levels. A string literal is one object for the life of its code, so the first level is keyed
// by address: entries are written once and never changed, which needs no lock with or without the
// GIL, and each keeps its name alive, so that no other string can get that address. The second is a
// dict by value, for names that are made anew each time. Both are bounded, because a program may
// make names without end; what does not fit gets a scope of its own.
#ifndef GPUBOUND_ANNOTATE_PYTHON_SCOPE_CACHE_H_
#define GPUBOUND_ANNOTATE_PYTHON_SCOPE_CACHE_H_

#include "annotate/python/extension/compat.h"

#include <cstdint>

#include "annotate/python/extension/scope.h"

namespace gpubound {

class ScopeCache {
 public:
  static constexpr Py_ssize_t kMaxNames = 16384;
  static constexpr Py_ssize_t kMaxNameLength = 512;

  // Lies in a module's state, which Python zeroes. False with an error set.
  bool Start(uint32_t kind, uint32_t layer);
  int Traverse(visitproc visit, void* arg);
  void Clear();
  // Makes every scope anew that is asked for. False with an error set.
  bool Forget();

  // A new reference to the scope of |name|, which may be any object. Null with an error set.
  PyObject* Get(const ScopeTypes& types, PyObject* name) {
    const size_t index = IndexOf(name);
    for (size_t probe = index; probe < index + kProbes; ++probe) {
      if (__atomic_load_n(&entries_[probe].name, __ATOMIC_ACQUIRE) == name) {
        return NewReference(entries_[probe].scope);
      }
    }
    return GetSlowPath(types, name);
  }

 private:
  static constexpr size_t kEntries = 512;
  static constexpr size_t kProbes = 2;
  struct Entry {
    PyObject* name;  // stored last
    PyObject* scope;
    uint32_t claimed;
  };

  static size_t IndexOf(PyObject* name) {
    const auto address = reinterpret_cast<uintptr_t>(name);  // objects are 16 bytes apart
    return (address >> 4 ^ address >> 13) % kEntries;
  }
  PyObject* GetSlowPath(const ScopeTypes& types, PyObject* name);
  void Remember(PyObject* name, PyObject* scope);

  Entry entries_[kEntries + kProbes - 1];
  PyObject* by_value_;
  uint32_t kind_;
  uint32_t layer_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANNOTATE_PYTHON_SCOPE_CACHE_H_
