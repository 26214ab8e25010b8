// SPDX-License-Identifier: Apache-2.0
//
// Python.h as this extension uses it: the stable ABI of 3.9 where the build asks for it, else the
// full API of one version from 3.9 on, with the few spellings that differ. Include first.
//
// The build for the stable ABI serves every version from 3.9 on. It also uses what the stable ABI
// has from 3.10 or 3.12 on only, under "borrowed" below: the versions before, which do not change
// any more, have the same under the same names and numbers, and tests/annotate/python run on each
// of them.
//
// Where the interpreter is free-threaded (Py_GIL_DISABLED), threads of Python run this code at the
// same time. So objects do not change once another thread can see them, state of the process is
// atomic or of one thread, and no reference is borrowed from a container that may change.
#ifndef GPUBOUND_ANNOTATE_PYTHON_COMPAT_H_
#define GPUBOUND_ANNOTATE_PYTHON_COMPAT_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>
// The next one is part of Python.h from 3.12 on.
#include <structmember.h>

#include <cstddef>
#include <cstdlib>

#if defined(Py_LIMITED_API) && Py_LIMITED_API + 0 < 0x030C0000
// Borrowed. 3.9 to 3.11 call a type's instances by the vectorcall protocol as 3.12 does, and pass
// arguments to functions of METH_FASTCALL as 3.10 does.
#ifndef METH_FASTCALL
#define METH_FASTCALL 0x0080
#endif
#define PY_VECTORCALL_ARGUMENTS_OFFSET (static_cast<size_t>(1) << (8 * sizeof(size_t) - 1))
#define Py_TPFLAGS_HAVE_VECTORCALL (1UL << 11)
extern "C" {
using vectorcallfunc = PyObject* (*)(PyObject*, PyObject* const*, size_t, PyObject*);
PyObject* PyVectorcall_Call(PyObject* callable, PyObject* arguments, PyObject* keywords);
const char* PyUnicode_AsUTF8AndSize(PyObject* text, Py_ssize_t* size);
// Not there before 3.11, where it is null; under another name, so that nobody but Call() calls it.
__attribute__((weak)) PyObject* gpubound_vectorcall(
    PyObject* callable, PyObject* const* arguments, size_t nargsf,
    PyObject* keywords) __asm__("PyObject_Vectorcall");
}
#endif

// Those of 3.12 and 3.13 take no reference, since None is immortal there, whichever version they are asked to
// serve: programs of 3.9 to 3.11 would run out of references to it.
#undef Py_RETURN_NONE
#define Py_RETURN_NONE return ::gpubound::NewReference(Py_None)

namespace gpubound {

// Apart, because its macro adds up zeros, which clang-tidy takes for a slip in a longer expression.
inline constexpr unsigned kDefaultTypeFlags = Py_TPFLAGS_DEFAULT;

// The version that runs this, as PY_VERSION_HEX spells it; of a build for the stable ABI not
// further than the minor one.
inline unsigned long InterpreterVersion() {
#ifdef Py_LIMITED_API
  static const unsigned long version = [] {
    char* rest = nullptr;
    const unsigned long major = std::strtoul(Py_GetVersion(), &rest, 10);
    return major << 24 | std::strtoul(rest + 1, nullptr, 10) << 16;
  }();
  return version;
#else
  return PY_VERSION_HEX;
#endif
}

// A class that cannot be changed. The interpreter looks up a method once per place in the program
// only where the method's own class is such a one.
inline unsigned ImmutableType() {
  constexpr unsigned kFlag = 1U << 8;  // Py_TPFLAGS_IMMUTABLETYPE
  return InterpreterVersion() >= 0x030A0000 ? kFlag : 0;
}

// A C function pointer in a table of slots, which holds void pointers.
template <typename Function>
void* SlotOf(Function* function) {
  return reinterpret_cast<void*>(function);
}

#ifdef Py_LIMITED_API
// By the name of the slot.
inline PyObject* BindByName(PyObject* self, PyObject* object, PyObject* type) {
  return PyObject_CallMethod(reinterpret_cast<PyObject*>(Py_TYPE(self)), "__get__", "OOO", self,
                             object == nullptr ? Py_None : object, type);
}
#endif

// What makes an attribute of an object of an instance of |type|; null where nothing does.
inline descrgetfunc BinderOf(PyTypeObject* type) {
#ifdef Py_LIMITED_API
  // 3.9 does not show the slots of a type that no class statement made.
  if (InterpreterVersion() >= 0x030A0000 || (PyType_GetFlags(type) & Py_TPFLAGS_HEAPTYPE) != 0) {
    return reinterpret_cast<descrgetfunc>(PyType_GetSlot(type, Py_tp_descr_get));
  }
  PyObject* binder = PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), "__get__");
  if (binder == nullptr) PyErr_Clear();
  Py_XDECREF(binder);
  return binder == nullptr ? nullptr : BindByName;
#else
  return type->tp_descr_get;
#endif
}

inline Py_ssize_t ArgumentCount(size_t nargsf) {
  return static_cast<Py_ssize_t>(nargsf & ~PY_VECTORCALL_ARGUMENTS_OFFSET);
}

#if defined(Py_LIMITED_API) && Py_LIMITED_API + 0 < 0x030C0000
// Call() where there is no PyObject_Vectorcall.
PyObject* CallSlowPath(PyObject* callable, PyObject* const* arguments, size_t nargsf,
                       PyObject* keywords);
#endif

// PyObject_Vectorcall, of which the caller's arguments may be passed on as they are.
inline PyObject* Call(PyObject* callable, PyObject* const* arguments, size_t nargsf,
                      PyObject* keywords) {
#if defined(Py_LIMITED_API) && Py_LIMITED_API + 0 < 0x030C0000
  return gpubound_vectorcall == nullptr
             ? CallSlowPath(callable, arguments, nargsf, keywords)
             : gpubound_vectorcall(callable, arguments, nargsf, keywords);
#else
  return PyObject_Vectorcall(callable, arguments, nargsf, keywords);
#endif
}

inline PyObject* NewReference(PyObject* object) {
  Py_INCREF(object);
  return object;
}

// What code of ours raised is no business of the program's and is forgotten, but for what is to end
// the program (a signal's handler, SystemExit): false, and the error stays set.
inline bool DropError() {
  if (PyErr_Occurred() == nullptr) return true;
  if (PyErr_ExceptionMatches(PyExc_Exception) == 0) return false;
  PyErr_Clear();
  return true;
}

// The error that is set, if any, while something else is called.
#if PY_VERSION_HEX >= 0x030C0000 && !defined(Py_LIMITED_API)
using Raised = PyObject*;
inline Raised TakeRaised() { return PyErr_GetRaisedException(); }
inline void RaiseAgain(Raised raised) { PyErr_SetRaisedException(raised); }
inline void ForgetRaised(Raised raised) { Py_XDECREF(raised); }
#else
struct Raised {
  PyObject* type;
  PyObject* value;
  PyObject* traceback;
};
inline Raised TakeRaised() {
  Raised raised = {};
  PyErr_Fetch(&raised.type, &raised.value, &raised.traceback);
  return raised;
}
inline void RaiseAgain(const Raised& raised) {
  PyErr_Restore(raised.type, raised.value, raised.traceback);
}
inline void ForgetRaised(const Raised& raised) {
  Py_XDECREF(raised.type);
  Py_XDECREF(raised.value);
  Py_XDECREF(raised.traceback);
}
#endif

// What |dict| holds for |key|, an exact str, as a new reference; null where there is nothing, and
// with an error set.
inline PyObject* FindInDict(PyObject* dict, PyObject* key) {
#ifdef Py_GIL_DISABLED
  PyObject* found = nullptr;
  return PyDict_GetItemRef(dict, key, &found) < 0 ? nullptr : found;
#else
  PyObject* found = PyDict_GetItemWithError(dict, key);
  return found == nullptr ? nullptr : NewReference(found);
#endif
}

// Puts |value| there unless another thread was faster; returns what |dict| holds now, as a new
// reference. Null with an error set.
inline PyObject* KeepFirstInDict(PyObject* dict, PyObject* key, PyObject* value) {
#ifdef Py_GIL_DISABLED
  PyObject* kept = nullptr;
  return PyDict_SetDefaultRef(dict, key, value, &kept) < 0 ? nullptr : kept;
#else
  PyObject* kept = FindInDict(dict, key);  // nothing between here and there lets a thread in
  if (kept != nullptr || PyErr_Occurred() != nullptr) return kept;
  return PyDict_SetItem(dict, key, value) != 0 ? nullptr : NewReference(value);
#endif
}

// The method table of a Python type wants one signature for all.
template <typename Function>
PyCFunction AsMethod(Function* function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

}  // namespace gpubound

#endif  // GPUBOUND_ANNOTATE_PYTHON_COMPAT_H_
