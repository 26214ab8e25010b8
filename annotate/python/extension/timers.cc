// SPDX-License-Identifier: Apache-2.0
#include "annotate/python/extension/timers.h"

#include "annotate/python/extension/table.h"
#include "annotate/python/extension/wrapper_calls.h"

namespace gpubound {
namespace {

// Of the time that |object| has as an attribute. False where the program is to end.
bool ReadTime(PyObject* object, PyObject* attribute, uint64_t* id) {
  PyObject* seconds = PyObject_GetAttr(object, attribute);
  *id = IdOfTime(seconds);
  Py_XDECREF(seconds);
  return DropError();
}

}  // namespace

uint64_t IdOfTime(PyObject* seconds) {
  constexpr double kMost = 9e9;  // what 63 bits of ns can hold
  const double value = seconds == nullptr ? 0 : PyFloat_AsDouble(seconds);
  if (!(value > 0 && value < kMost)) return 0;
  return GPUBOUND_AT_TIME | static_cast<uint64_t>(value * 1e9);
}

PyObject* CallSettingTime(PyObject* self, PyObject* const* arguments, size_t nargsf,
                          PyObject* keywords) {
  const Wrapper* wrapper = Cast(self);
  PyObject* result = Call(wrapper->wrapped, arguments, nargsf, keywords);
  uint64_t time = 0;
  if (result == nullptr) return nullptr;
  if (!ReadTime(result, wrapper->helper, &time)) {
    Py_DECREF(result);
    return nullptr;
  }
  if (time != 0) g_table.wake(time);
  return result;
}

PyObject* CallFindingTime(PyObject* self, PyObject* const* arguments, size_t nargsf,
                          PyObject* keywords) {
  const Wrapper* wrapper = Cast(self);
  uint64_t time = 0;
  if (ArgumentCount(nargsf) != 0 && !ReadTime(arguments[0], wrapper->helper, &time)) return nullptr;
  if (time != 0) g_table.found(time);
  return Call(wrapper->wrapped, arguments, nargsf, keywords);
}

}  // namespace gpubound
