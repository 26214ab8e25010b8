// SPDX-License-Identifier: Apache-2.0
//
// What is done around a call of a wrapper: scopes, and the questions that hooks ask before.
#include "annotate/python/extension/wrapper_calls.h"

#include "annotate/python/extension/channels.h"
#include "annotate/python/extension/open_scopes.h"
#include "annotate/python/extension/queue_items.h"
#include "annotate/python/extension/table.h"
#include "annotate/python/extension/task_steps.h"
#include "annotate/python/extension/timers.h"

namespace gpubound {
namespace {

// Label of the innermost hook that is open on this thread, and of the innermost stage; 0 without
// one.
thread_local uint32_t t_hook_label = 0;
thread_local uint32_t t_stage_label = 0;
// A wrapper in the role of a wait has its label open on this thread.
thread_local bool t_waiting = false;

// The caller holds a reference to |self|, and so |wrapped| lives as long as the call.
PyObject* CallWrapped(PyObject* self, PyObject* const* arguments, size_t nargsf,
                      PyObject* keywords) {
  const Wrapper* wrapper = Cast(self);
  const uint32_t label = wrapper->label;
  BeginScope(label);
  PyObject* result = Call(wrapper->wrapped, arguments, nargsf, keywords);
  EndScope(label);
  return result;
}

// What a helper says; interrupted: the program is to end, with the error that is set.
enum class Answer { kNo, kYes, kInterrupted };

Answer GuardDeclines(const Wrapper* wrapper) {
  if (wrapper->helper == nullptr || t_hook_label != 0) return Answer::kNo;
  PyObject* answer = PyObject_CallObject(wrapper->helper, nullptr);
  const bool declines = answer == Py_True;
  Py_XDECREF(answer);
  if (!DropError()) return Answer::kInterrupted;
  return declines ? Answer::kYes : Answer::kNo;
}

PyObject* CallHooked(PyObject* self, PyObject* const* arguments, size_t nargsf,
                     PyObject* keywords) {
  const Wrapper* wrapper = Cast(self);
  const uint32_t label = wrapper->label;
  uint32_t& innermost = wrapper->stage ? t_stage_label : t_hook_label;
  const uint32_t outer = innermost;
  Answer declines = Answer::kYes;
  if (outer != label && (!wrapper->alone || outer == 0)) declines = GuardDeclines(wrapper);
  if (declines == Answer::kInterrupted) return nullptr;
  if (declines == Answer::kYes) {
    return Call(wrapper->wrapped, arguments, nargsf, keywords);
  }
  // What the program has named itself has its name once.
  const bool opens = wrapper->own == 0 || wrapper->own != InnermostLabel();
  innermost = label;
  if (opens) BeginScope(label);
  PyObject* result = Call(wrapper->wrapped, arguments, nargsf, keywords);
  if (opens) EndScope(label);
  innermost = outer;
  return result;
}

// The label of a call with |object| as |helper| has it; 0 with an error set.
uint32_t LabelOfFact(PyObject* helper, PyObject* object) {
  auto* type = reinterpret_cast<PyObject*>(Py_TYPE(object));
  PyObject* pair = PyDict_GetItemWithError(PyTuple_GetItem(helper, 0), type);
  if (pair != nullptr) {
    Py_INCREF(pair);
  } else if (PyErr_Occurred() == nullptr) {
    pair = PyObject_CallFunctionObjArgs(PyTuple_GetItem(helper, 2), type, nullptr);
  }
  PyObject* second =
      pair == nullptr ? nullptr : PyObject_CallObject(PyTuple_GetItem(helper, 1), nullptr);
  uint32_t label = 0;
  if (second != nullptr && PyTuple_Check(pair) && PyTuple_Size(pair) == 2) {
    label = static_cast<uint32_t>(
        PyLong_AsUnsignedLong(PyTuple_GetItem(pair, second == Py_True ? 1 : 0)));
  }
  Py_XDECREF(second);
  Py_XDECREF(pair);
  return PyErr_Occurred() == nullptr ? label : 0;
}

PyObject* CallTelling(PyObject* self, PyObject* const* arguments, size_t nargsf,
                      PyObject* keywords) {
  const Wrapper* wrapper = Cast(self);
  uint32_t label = 0;
  if (t_hook_label == 0 && ArgumentCount(nargsf) != 0) {
    label = LabelOfFact(wrapper->helper, arguments[0]);
    if (!DropError()) return nullptr;
  }
  if (label == 0) return Call(wrapper->wrapped, arguments, nargsf, keywords);
  t_hook_label = label;
  BeginScope(label);
  PyObject* result = Call(wrapper->wrapped, arguments, nargsf, keywords);
  EndScope(label);
  t_hook_label = 0;
  return result;
}

PyObject* CallInWait(const Wrapper* wrapper, uint32_t label, PyObject* const* arguments,
                     size_t nargsf, PyObject* keywords) {
  if (label == 0) label = wrapper->label;
  t_waiting = true;
  BeginScope(label);
  PyObject* result = Call(wrapper->wrapped, arguments, nargsf, keywords);
  EndScope(label);
  t_waiting = false;
  return result;
}

// What the helper says of a call with these arguments: a label, or 0; no where it says None.
Answer AskLabel(const Wrapper* wrapper, PyObject* const* arguments, size_t nargsf,
                PyObject* keywords, uint32_t* label) {
  *label = 0;
  if (wrapper->helper == nullptr) return Answer::kYes;
  const auto count = static_cast<size_t>(ArgumentCount(nargsf));
  PyObject* answer = Call(wrapper->helper, arguments, count, keywords);
  if (answer != nullptr && answer != Py_None) {
    *label = static_cast<uint32_t>(PyLong_AsUnsignedLong(answer));
  }
  if (PyErr_Occurred() != nullptr) *label = 0;
  const bool is_label = answer != Py_None;
  Py_XDECREF(answer);
  if (!DropError()) return Answer::kInterrupted;
  return is_label ? Answer::kYes : Answer::kNo;
}

PyObject* CallWaiting(PyObject* self, PyObject* const* arguments, size_t nargsf,
                      PyObject* keywords) {
  const Wrapper* wrapper = Cast(self);
  uint32_t label = 0;
  Answer told = Answer::kNo;
  if (!t_waiting) told = AskLabel(wrapper, arguments, nargsf, keywords, &label);
  if (told == Answer::kInterrupted) return nullptr;
  if (told == Answer::kNo) {
    return Call(wrapper->wrapped, arguments, nargsf, keywords);
  }
  return CallInWait(wrapper, label, arguments, nargsf, keywords);
}

PyObject* CallReceiving(PyObject* self, PyObject* const* arguments, size_t nargsf,
                        PyObject* keywords) {
  const Wrapper* wrapper = Cast(self);
  if (t_waiting || ArgumentCount(nargsf) == 0) {
    return Call(wrapper->wrapped, arguments, nargsf, keywords);
  }
  const uint32_t label = ChannelLabel(arguments[0], wrapper->helper);
  return CallInWait(wrapper, label, arguments, nargsf, keywords);
}

PyObject* CallWriting(PyObject* self, PyObject* const* arguments, size_t nargsf,
                      PyObject* keywords) {
  if (ArgumentCount(nargsf) != 0) NoteWriter(arguments[0], Cast(self)->helper);
  return Call(Cast(self)->wrapped, arguments, nargsf, keywords);
}

PyObject* CallMaking(PyObject* self, PyObject* const* arguments, size_t nargsf,
                     PyObject* keywords) {
  PyObject* result = Call(Cast(self)->wrapped, arguments, nargsf, keywords);
  if (result != nullptr && ArgumentCount(nargsf) != 0) {
    ForgetChannel(arguments[0], Cast(self)->helper);
  }
  return result;
}

// What |helper| makes of |result|, which is |result| where it fails, as a new reference. Null with
// an error set where the program is to end.
PyObject* AskAbout(PyObject* helper, PyObject* result) {
  PyObject* answer = PyObject_CallFunctionObjArgs(helper, result, nullptr);
  if (answer != nullptr) return answer;
  return DropError() ? NewReference(result) : nullptr;
}

PyObject* CallReturning(PyObject* self, PyObject* const* arguments, size_t nargsf,
                        PyObject* keywords) {
  const Wrapper* wrapper = Cast(self);
  PyObject* result = Call(wrapper->wrapped, arguments, nargsf, keywords);
  if (result == nullptr || wrapper->helper == nullptr) return result;
  PyObject* ignored = AskAbout(wrapper->helper, result);
  Py_XDECREF(ignored);
  if (ignored != nullptr) return result;
  Py_DECREF(result);
  return nullptr;
}

PyObject* CallReplacing(PyObject* self, PyObject* const* arguments, size_t nargsf,
                        PyObject* keywords) {
  const Wrapper* wrapper = Cast(self);
  PyObject* result = Call(wrapper->wrapped, arguments, nargsf, keywords);
  if (result == nullptr || wrapper->helper == nullptr) return result;
  PyObject* answer = AskAbout(wrapper->helper, result);
  Py_DECREF(result);
  return answer;
}

PyObject* CallFollowed(PyObject* self, PyObject* const* arguments, size_t nargsf,
                       PyObject* keywords) {
  const Wrapper* wrapper = Cast(self);
  PyObject* result = Call(wrapper->wrapped, arguments, nargsf, keywords);
  if (wrapper->helper == nullptr) return result;
  const Raised raised = TakeRaised();
  PyObject* answer = PyObject_CallObject(wrapper->helper, nullptr);
  Py_XDECREF(answer);
  if (DropError()) {
    RaiseAgain(raised);
    return result;
  }
  ForgetRaised(raised);
  Py_XDECREF(result);
  return nullptr;
}

PyObject* CallOpening(PyObject* self, PyObject* const* arguments, size_t nargsf,
                      PyObject* keywords) {
  PyObject* result = Call(Cast(self)->wrapped, arguments, nargsf, keywords);
  uint32_t label = 0;
  if (result == nullptr) return nullptr;
  if (AskLabel(Cast(self), arguments, nargsf, keywords, &label) == Answer::kInterrupted) {
    Py_DECREF(result);
    return nullptr;
  }
  if (label != 0) BeginScope(label);
  return result;
}

PyObject* CallClosing(PyObject* self, PyObject* const* arguments, size_t nargsf,
                      PyObject* keywords) {
  uint32_t label = 0;
  if (AskLabel(Cast(self), arguments, nargsf, keywords, &label) == Answer::kInterrupted) {
    return nullptr;
  }
  if (label != 0) EndScope(label);
  return Call(Cast(self)->wrapped, arguments, nargsf, keywords);
}

PyObject* CallWorking(PyObject* self, PyObject* const* arguments, size_t nargsf,
                      PyObject* keywords) {
  const bool outer = t_waiting;
  t_waiting = false;
  PyObject* result = CallWrapped(self, arguments, nargsf, keywords);
  t_waiting = outer;
  return result;
}

// As the collector knows it.
uint64_t IdOf(PyObject* object) { return reinterpret_cast<uintptr_t>(object); }

Answer IsTrue(PyObject* object, PyObject* attribute) {
  PyObject* value = PyObject_GetAttr(object, attribute);
  const bool is_true = value != nullptr && PyObject_IsTrue(value) == 1;
  Py_XDECREF(value);
  if (!DropError()) return Answer::kInterrupted;
  return is_true ? Answer::kYes : Answer::kNo;
}

PyObject* CallWaking(PyObject* self, PyObject* const* arguments, size_t nargsf,
                     PyObject* keywords) {
  const Wrapper* wrapper = Cast(self);
  Answer wakes = Answer::kNo;
  if (ArgumentCount(nargsf) != 0) {
    wakes = wrapper->helper == nullptr ? Answer::kYes : IsTrue(arguments[0], wrapper->helper);
  }
  if (wakes == Answer::kInterrupted) return nullptr;
  if (wakes == Answer::kYes) g_table.wake(IdOf(arguments[0]));
  return Call(wrapper->wrapped, arguments, nargsf, keywords);
}

PyObject* CallWakingItsOwn(PyObject* self, PyObject* const* arguments, size_t nargsf,
                           PyObject* keywords) {
  const Wrapper* wrapper = Cast(self);
  if (ArgumentCount(nargsf) != 0 && wrapper->helper != nullptr) {
    PyObject* awaited = PyObject_GetAttr(arguments[0], wrapper->helper);
    if (awaited != nullptr) g_table.wake(IdOf(awaited));
    Py_XDECREF(awaited);
    if (!DropError()) return nullptr;
  }
  return Call(wrapper->wrapped, arguments, nargsf, keywords);
}

PyObject* CallEnding(PyObject* self, PyObject* const* arguments, size_t nargsf,
                     PyObject* keywords) {
  PyObject* result = Call(Cast(self)->wrapped, arguments, nargsf, keywords);
  if (ArgumentCount(nargsf) != 0) g_table.wake(IdOf(arguments[0]));
  return result;
}

// Because of what a wait for |awaited| ended with |result|, as the collector knows it; 0 for
// nothing that it knows. False where the program is to end.
bool FindWaker(PyObject* helper, PyObject* awaited, PyObject* result, uint64_t* id) {
  PyObject* waker = PyObject_CallFunctionObjArgs(helper, awaited, result, nullptr);
  *id = 0;
  if (waker != nullptr && waker != Py_None) {
    *id = waker == awaited ? IdOf(awaited) : IdOfTime(waker);
  }
  Py_XDECREF(waker);
  return DropError();
}

// Whether the second argument, a timeout, asks not to wait.
bool IsPoll(PyObject* const* arguments, size_t nargsf) {
  if (ArgumentCount(nargsf) < 2 || arguments[1] == Py_None) return false;
  const double timeout = PyFloat_AsDouble(arguments[1]);
  if (PyErr_Occurred() == nullptr) return timeout <= 0;
  PyErr_Clear();
  return false;
}

bool IsEmptyList(PyObject* object) { return PyList_Check(object) && PyList_Size(object) == 0; }

// An event loop polls before each round of what there is to do, mostly for nothing.
PyObject* CallPolling(const Wrapper* wrapper, PyObject* const* arguments, size_t nargsf,
                      PyObject* keywords) {
  const bool outer = t_waiting;
  t_waiting = true;  // it is no wait, and what it calls is none
  PyObject* result = Call(wrapper->wrapped, arguments, nargsf, keywords);
  t_waiting = outer;
  if (result == nullptr || IsEmptyList(result)) return result;
  uint64_t waker = 0;
  if (!FindWaker(wrapper->helper, arguments[0], result, &waker)) {
    Py_DECREF(result);
    return nullptr;
  }
  if (waker != 0) g_table.found(waker);
  return result;
}

PyObject* CallAwaiting(PyObject* self, PyObject* const* arguments, size_t nargsf,
                       PyObject* keywords) {
  const Wrapper* wrapper = Cast(self);
  if (wrapper->helper != nullptr && IsPoll(arguments, nargsf)) {
    return CallPolling(wrapper, arguments, nargsf, keywords);
  }
  const bool outermost = !t_waiting;
  t_waiting = true;
  if (outermost) BeginScope(wrapper->label);
  PyObject* result = Call(wrapper->wrapped, arguments, nargsf, keywords);
  uint64_t waker = 0;
  if (result != nullptr && result != Py_False && ArgumentCount(nargsf) != 0) {
    waker = IdOf(arguments[0]);
    if (wrapper->helper != nullptr && !FindWaker(wrapper->helper, arguments[0], result, &waker)) {
      Py_DECREF(result);
      result = nullptr;
    }
  }
  if (waker != 0) g_table.woken(waker);
  if (outermost) EndScope(wrapper->label);
  t_waiting = !outermost;
  return result;
}

PyObject* CallStarting(PyObject* self, PyObject* const* arguments, size_t nargsf,
                       PyObject* keywords) {
  if (ArgumentCount(nargsf) != 0) g_table.woken(IdOf(arguments[0]));
  return Call(Cast(self)->wrapped, arguments, nargsf, keywords);
}

PyObject* CallFinding(PyObject* self, PyObject* const* arguments, size_t nargsf,
                      PyObject* keywords) {
  PyObject* result = Call(Cast(self)->wrapped, arguments, nargsf, keywords);
  const bool found = result != nullptr && result != Py_False && ArgumentCount(nargsf) != 0;
  if (found) g_table.found(IdOf(arguments[0]));
  return result;
}

PyObject* CallPutting(PyObject* self, PyObject* const* arguments, size_t nargsf,
                      PyObject* keywords) {
  const Wrapper* wrapper = Cast(self);
  QueuePlace place;
  if (ArgumentCount(nargsf) != 0 && !FindPlaceToPut(arguments[0], wrapper->helper, &place)) {
    return nullptr;
  }
  if (place.room != 0) g_table.found(place.room);
  PyObject* result = Call(wrapper->wrapped, arguments, nargsf, keywords);
  if (place.item != 0 && result != nullptr) g_table.wake(place.item);
  return result;
}

PyObject* CallTaking(PyObject* self, PyObject* const* arguments, size_t nargsf,
                     PyObject* keywords) {
  const Wrapper* wrapper = Cast(self);
  PyObject* result = Call(wrapper->wrapped, arguments, nargsf, keywords);
  if (result == nullptr || ArgumentCount(nargsf) == 0) return result;
  QueuePlace place;
  if (!FindPlaceTaken(arguments[0], wrapper->helper, &place)) {
    Py_DECREF(result);
    return nullptr;
  }
  if (place.item != 0) g_table.found(place.item);
  if (place.room != 0) g_table.wake(place.room);
  return result;
}

bool IsOf(PyObject* object, PyTypeObject* type) {
  return PyType_IsSubtype(Py_TYPE(object), type) != 0 ||
         (PyType_Check(object) && PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(object), type));
}

PyObject* CallChosen(PyObject* self, PyObject* const* arguments, size_t nargsf,
                     PyObject* keywords) {
  const Wrapper* wrapper = Cast(self);
  auto* type = reinterpret_cast<PyTypeObject*>(PyTuple_GetItem(wrapper->helper, 0));
  const bool chosen = ArgumentCount(nargsf) != 0 && IsOf(arguments[0], type);
  PyObject* callee = chosen ? PyTuple_GetItem(wrapper->helper, 1) : wrapper->wrapped;
  return Call(callee, arguments, nargsf, keywords);
}

PyObject* CallGiven(PyObject* self, PyObject* const* arguments, size_t nargsf, PyObject* keywords) {
  const Wrapper* wrapper = Cast(self);
  const bool given = ArgumentCount(nargsf) > 1 || keywords != nullptr;
  PyObject* callee = given && wrapper->helper != nullptr ? wrapper->helper : wrapper->wrapped;
  return Call(callee, arguments, nargsf, keywords);
}

constexpr vectorcallfunc kRoleCalls[kCallRoles] = {
    CallWaiting,      CallReceiving,   CallWriting,     CallMaking,    CallReturning, CallOpening,
    CallClosing,      CallWorking,     CallChosen,      CallReplacing, CallFollowed,  CallWaking,
    CallEnding,       CallAwaiting,    CallStarting,    CallFinding,   CallPutting,   CallTaking,
    CallWakingItsOwn, CallSettingTime, CallFindingTime, CallStep,      CallGiven,     CallTelling};

}  // namespace

vectorcallfunc CallInRole(CallRole role) { return kRoleCalls[static_cast<uint32_t>(role)]; }

vectorcallfunc CallInLabel() { return CallWrapped; }

vectorcallfunc CallByRules() { return CallHooked; }

void ForgetOpenHooks() {
  t_hook_label = t_stage_label = 0;
  t_waiting = false;
}

}  // namespace gpubound
