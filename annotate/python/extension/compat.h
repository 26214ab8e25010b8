// SPDX-License-Identifier: Apache-2.0
//
// Python.h as this extension uses it: the stable ABI of 3.12 where the build asks for it, else the
// full API of one version from 3.9 on, with the few spellings that differ. Include first.
#ifndef GPUBOUND_ANNOTATE_PYTHON_COMPAT_H_
#define GPUBOUND_ANNOTATE_PYTHON_COMPAT_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>
// The next one is part of Python.h from 3.12 on.
#include <structmember.h>

#include <cstddef>

namespace gpubound {

// Apart, because its macro adds up zeros, which clang-tidy takes for a slip in a longer expression.
inline constexpr unsigned kDefaultTypeFlags = Py_TPFLAGS_DEFAULT;

// A class that cannot be changed. The interpreter looks up a method once per place in the program
// only where the method's own class is such a one.
#ifdef Py_TPFLAGS_IMMUTABLETYPE
inline constexpr unsigned kImmutableType = Py_TPFLAGS_IMMUTABLETYPE;  // 3.10
#else
inline constexpr unsigned kImmutableType = 0;
#endif

// A C function pointer in a table of slots, which holds void pointers.
template <typename Function>
void* SlotOf(Function* function) {
  return reinterpret_cast<void*>(function);
}

inline Py_ssize_t ArgumentCount(size_t nargsf) {
  return static_cast<Py_ssize_t>(nargsf & ~PY_VECTORCALL_ARGUMENTS_OFFSET);
}

inline PyObject* NewReference(PyObject* object) {
  Py_INCREF(object);
  return object;
}

// The method table of a Python type wants one signature for all.
template <typename Function>
PyCFunction AsMethod(Function* function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

}  // namespace gpubound

#endif  // GPUBOUND_ANNOTATE_PYTHON_COMPAT_H_
