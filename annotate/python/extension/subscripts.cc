// SPDX-License-Identifier: Apache-2.0
#include "annotate/python/extension/subscripts.h"

#include <cstring>

#include "annotate/python/extension/table.h"

namespace gpubound {
namespace {

// PyMappingMethods, which the stable ABI does not show.
struct Slots {
  lenfunc length;
  binaryfunc read;
  objobjargproc change;
};

// Written before the first slot leads here, and never to something else again.
Slots g_native = {};
uint32_t g_read_label = 0;
uint32_t g_change_label = 0;

PyObject* Read(PyObject* self, PyObject* key) {
  const uint32_t label = g_read_label;
  BeginScope(label);
  PyObject* result = g_native.read(self, key);
  EndScope(label);
  return result;
}

int Change(PyObject* self, PyObject* key, PyObject* value) {
  const uint32_t label = g_change_label;
  BeginScope(label);
  const int result = g_native.change(self, key, value);
  EndScope(label);
  return result;
}

#ifdef Py_LIMITED_API
// From 3.8 to 3.14 a type holds there where its PyMappingMethods are; later ones may not.
constexpr size_t kMappingOffset = 112;
constexpr unsigned long kFirstUnknown = 0x030F0000;

Slots* SlotsOf(PyTypeObject* type) {
  if (InterpreterVersion() >= kFirstUnknown) return nullptr;
  Slots* slots = nullptr;
  std::memcpy(&slots, reinterpret_cast<const char*>(type) + kMappingOffset, sizeof(slots));
  if (slots == nullptr || SlotOf(slots->length) != PyType_GetSlot(type, Py_mp_length) ||
      SlotOf(slots->read) != PyType_GetSlot(type, Py_mp_subscript) ||
      SlotOf(slots->change) != PyType_GetSlot(type, Py_mp_ass_subscript)) {
    return nullptr;
  }
  return slots;
}
#else
static_assert(sizeof(Slots) == sizeof(PyMappingMethods) &&
              offsetof(Slots, read) == offsetof(PyMappingMethods, mp_subscript) &&
              offsetof(Slots, change) == offsetof(PyMappingMethods, mp_ass_subscript));

Slots* SlotsOf(PyTypeObject* type) { return reinterpret_cast<Slots*>(type->tp_as_mapping); }
#endif

// Those of a class that was made by a class statement, which no other type shares.
Slots* SlotsOfClass(PyObject* cls) {
  if (PyType_Check(cls) == 0) return nullptr;
  auto* type = reinterpret_cast<PyTypeObject*>(cls);
  return (PyType_GetFlags(type) & Py_TPFLAGS_HEAPTYPE) == 0 ? nullptr : SlotsOf(type);
}

template <typename Function>
void Exchange(Function** slot, Function* from, Function* to) {
  // Other threads of a free-threaded interpreter may be calling it.
  if (*slot == from) __atomic_store_n(slot, to, __ATOMIC_RELEASE);
}

}  // namespace

bool WatchSubscripts(PyObject* cls, uint32_t read_label, uint32_t change_label) {
  Slots* slots = SlotsOfClass(cls);
  if (slots == nullptr || slots->read == nullptr || slots->change == nullptr) return false;
  if (g_native.read == nullptr) {
    g_read_label = read_label;
    g_change_label = change_label;
    g_native = *slots;
  }
  Exchange(&slots->read, g_native.read, &Read);
  Exchange(&slots->change, g_native.change, &Change);
  return true;
}

PyObject* LeaveSubscripts(PyObject*, PyObject* cls) {
  if (Slots* slots = SlotsOfClass(cls); slots != nullptr) {
    Exchange(&slots->read, &Read, g_native.read);
    Exchange(&slots->change, &Change, g_native.change);
  }
  Py_RETURN_NONE;
}

}  // namespace gpubound
