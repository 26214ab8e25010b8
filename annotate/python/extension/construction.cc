// SPDX-License-Identifier: Apache-2.0
#include "annotate/python/extension/construction.h"

#include <array>
#include <cstring>

#include "annotate/python/extension/table.h"

namespace gpubound {
namespace {

struct Watched {
  PyTypeObject* metaclass;
  ternaryfunc native;
};

// Filled from the front, each before its slot leads here; static types are never freed.
std::array<Watched, 8> g_watched = {};
uint32_t g_label = 0;

// A metaclass that was derived from a watched one since has its slot.
ternaryfunc NativeOf(PyTypeObject* metaclass) {
  for (const Watched& watched : g_watched) {
    if (watched.metaclass == nullptr) break;
    if (PyType_IsSubtype(metaclass, watched.metaclass) != 0) return watched.native;
  }
  return nullptr;
}

PyObject* CallRecorded(PyObject* cls, PyObject* arguments, PyObject* keywords) {
  const ternaryfunc native = NativeOf(Py_TYPE(cls));
  const uint32_t label = g_label;
  BeginScope(label);
  PyObject* result = native(cls, arguments, keywords);
  EndScope(label);
  return result;
}

#ifdef Py_LIMITED_API
// From 3.8 to 3.14 a type holds there what calls it; later ones may not.
constexpr size_t kCallOffset = 128;
constexpr unsigned long kFirstUnknown = 0x030F0000;

ternaryfunc* SlotIn(PyTypeObject* metaclass) {
  // Before 3.10 a static type's slots cannot be asked for, and so not be found for certain.
  const unsigned long version = InterpreterVersion();
  if (version >= kFirstUnknown || version < 0x030A0000) return nullptr;
  auto* slot = reinterpret_cast<ternaryfunc*>(reinterpret_cast<char*>(metaclass) + kCallOffset);
  return SlotOf(*slot) == PyType_GetSlot(metaclass, Py_tp_call) ? slot : nullptr;
}
#else
ternaryfunc* SlotIn(PyTypeObject* metaclass) { return &metaclass->tp_call; }
#endif

ternaryfunc* SlotOfClass(PyObject* cls) {
  PyTypeObject* const metaclass = Py_TYPE(cls);
  const bool is_native = PyType_Check(cls) != 0 && metaclass != &PyType_Type &&
                         (PyType_GetFlags(metaclass) & Py_TPFLAGS_HEAPTYPE) == 0;
  return is_native ? SlotIn(metaclass) : nullptr;
}

}  // namespace

bool WatchConstruction(PyObject* cls, uint32_t label) {
  ternaryfunc* const slot = SlotOfClass(cls);
  if (slot == nullptr || *slot == nullptr) return false;
  if (*slot == &CallRecorded) return true;
  for (Watched& watched : g_watched) {
    if (watched.metaclass != nullptr && watched.metaclass != Py_TYPE(cls)) continue;
    g_label = label;
    watched = {Py_TYPE(cls), *slot};
    // Other threads of a free-threaded interpreter may be calling it.
    __atomic_store_n(slot, &CallRecorded, __ATOMIC_RELEASE);
    return true;
  }
  return false;
}

PyObject* LeaveConstruction(PyObject*, PyObject* cls) {
  if (ternaryfunc* const slot = SlotOfClass(cls); slot != nullptr && *slot == &CallRecorded) {
    __atomic_store_n(slot, NativeOf(Py_TYPE(cls)), __ATOMIC_RELEASE);
  }
  Py_RETURN_NONE;
}

}  // namespace gpubound
