// SPDX-License-Identifier: Apache-2.0
#include "annotate/python/extension/task_steps.h"

#include <algorithm>
#include <cstdint>

#include "annotate/python/extension/open_scopes.h"
#include "annotate/python/extension/table.h"
#include "annotate/python/extension/wrapper_calls.h"

namespace gpubound {
namespace {

// Items of the helper.
constexpr Py_ssize_t kSuspended = 0;
constexpr Py_ssize_t kResume = 1;
constexpr Py_ssize_t kSuspend = 2;
constexpr Py_ssize_t kCallback = 3;
constexpr Py_ssize_t kSelf = 4;
constexpr Py_ssize_t kFunction = 5;
constexpr Py_ssize_t kItems = 6;

PyObject* ItemOf(const Wrapper* wrapper, Py_ssize_t index) {
  return PyTuple_GetItem(wrapper->helper, index);
}

// Labels of the calling thread's open scopes, outermost first.
struct OpenScopes {
  OpenScopes() : count(std::min(g_table.open_scopes(labels, kMaxScopes), kMaxScopes)) {}

  // How many of them were open before as well, if |before| is what was.
  uint32_t Kept(const OpenScopes& before) const {
    const uint32_t most = std::min(count, before.count);
    return static_cast<uint32_t>(std::mismatch(labels, labels + most, before.labels).first -
                                 labels);
  }

  uint32_t labels[kMaxScopes];
  const uint32_t count;
};

// Whose step |handle| is, as a new reference: of a task the callback is a method, written in C or
// in Python. Null, maybe with an error set, for what is nobody's.
PyObject* OwnerOfStep(const Wrapper* wrapper, PyObject* handle) {
  PyObject* callback = PyObject_GetAttr(handle, ItemOf(wrapper, kCallback));
  PyObject* owner = nullptr;
  // A function, as a timer calls it, is no method, and has no attribute to say so.
  if (callback != nullptr &&
      reinterpret_cast<PyObject*>(Py_TYPE(callback)) != ItemOf(wrapper, kFunction)) {
    owner = PyObject_GetAttr(callback, ItemOf(wrapper, kSelf));
  }
  Py_XDECREF(callback);
  return owner;
}

bool HasSuspendedScopes(const Wrapper* wrapper, PyObject* owner) {
  PyObject* id = owner == nullptr ? nullptr : PyLong_FromVoidPtr(owner);
  const bool has = id != nullptr && PyDict_Contains(ItemOf(wrapper, kSuspended), id) == 1;
  Py_XDECREF(id);
  return has;
}

// Opens what the task of |handle| had open. False where the program is to end.
bool Resume(const Wrapper* wrapper, PyObject* handle) {
  if (PyDict_Size(ItemOf(wrapper, kSuspended)) == 0) return true;
  PyObject* owner = OwnerOfStep(wrapper, handle);
  PyObject* answer = nullptr;
  if (HasSuspendedScopes(wrapper, owner)) {
    answer = PyObject_CallFunctionObjArgs(ItemOf(wrapper, kResume), owner, nullptr);
  }
  Py_XDECREF(answer);
  Py_XDECREF(owner);
  return DropError();
}

// Closes what is open beyond the first |kept|, but for what the loop itself has open. False where
// the program is to end.
bool Suspend(const Wrapper* wrapper, PyObject* handle, PyObject* result, uint32_t kept) {
  PyObject* number = PyLong_FromUnsignedLong(kept);
  PyObject* answer = nullptr;
  if (number != nullptr) {
    answer = PyObject_CallFunctionObjArgs(ItemOf(wrapper, kSuspend), handle,
                                          result == nullptr ? Py_None : result, number, nullptr);
  }
  Py_XDECREF(answer);
  Py_XDECREF(number);
  return DropError();
}

}  // namespace

PyObject* CallStep(PyObject* self, PyObject* const* arguments, size_t nargsf, PyObject* keywords) {
  const Wrapper* wrapper = Cast(self);
  if (ArgumentCount(nargsf) == 0) {
    return Call(wrapper->wrapped, arguments, nargsf, keywords);
  }
  const OpenScopes before;
  if (!Resume(wrapper, arguments[0])) return nullptr;
  PyObject* result = Call(wrapper->wrapped, arguments, nargsf, keywords);
  const OpenScopes after;
  const uint32_t kept = after.Kept(before);
  if (kept == after.count) return result;
  const Raised raised = TakeRaised();
  if (Suspend(wrapper, arguments[0], result, kept)) {
    RaiseAgain(raised);
    return result;
  }
  ForgetRaised(raised);
  Py_XDECREF(result);
  return nullptr;
}

bool IsHelperOfSteps(PyObject* helper) {
  return helper != nullptr && PyTuple_Check(helper) && PyTuple_Size(helper) == kItems &&
         PyDict_Check(PyTuple_GetItem(helper, kSuspended));
}

}  // namespace gpubound
