// SPDX-License-Identifier: Apache-2.0
//
// The wrapper types. Calls go through vectorcall, so arguments are passed on untouched.
#include "annotate/python/extension/wrapper.h"

#include <algorithm>
#include <iterator>

#include "annotate/python/extension/task_steps.h"
#include "annotate/python/extension/wrapper_calls.h"
#include "annotate/python/extension/wrapper_protocols.h"

namespace gpubound {
namespace {

// What a wrapper does around a call.
struct Around {
  vectorcallfunc call;
  uint32_t label = 0;
  PyObject* helper = nullptr;  // a hook's guard, what a CallRole asks, or WrapperTypes::handle
  uint32_t own = 0;
  bool alone = false;
  bool stage = false;
  bool asks_arguments = false;  // the object too, which what is bound is called without
};

Around AroundOf(const Wrapper* wrapper) {
  return {wrapper->vectorcall, wrapper->label, wrapper->helper,
          wrapper->own,        wrapper->alone, wrapper->stage};
}

int Traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(Cast(self)->wrapped);
  Py_VISIT(Cast(self)->bound_type);
  Py_VISIT(Cast(self)->helper);
  return 0;
}

// `wrapped` stays until the end: a call may be under way when a cycle is collected.
void Deallocate(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  // Another thread may be taking the last one off: the interpreter knows how to look.
  PyObject_ClearWeakRefs(self);
  Py_XDECREF(Cast(self)->wrapped);
  Py_XDECREF(Cast(self)->bound_type);
  Py_XDECREF(Cast(self)->helper);
  PyObject_GC_Del(self);
  Py_DECREF(type);
}

PyObject* GetAttribute(PyObject* self, PyObject* name) {
  PyObject* own = PyObject_GenericGetAttr(self, name);
  if (own != nullptr || PyErr_ExceptionMatches(PyExc_AttributeError) == 0) return own;
  PyErr_Clear();
  return PyObject_GetAttr(Cast(self)->wrapped, name);
}

// The type's own protocols are no sign that the wrapped callable has them.
PyObject* GetObjectAttribute(PyObject* self, PyObject* name) {
  return IsProtocol(name) ? PyObject_GetAttr(Cast(self)->wrapped, name) : GetAttribute(self, name);
}

int SetAttribute(PyObject* self, PyObject* name, PyObject* value) {
  return PyObject_SetAttr(Cast(self)->wrapped, name, value);
}

PyObject* Str(PyObject* self) { return PyObject_Str(Cast(self)->wrapped); }

PyObject* Repr(PyObject* self) { return PyObject_Repr(Cast(self)->wrapped); }

Py_hash_t Hash(PyObject* self) { return PyObject_Hash(Cast(self)->wrapped); }

// Equal to whatever the wrapped callable is equal to, so that a table keyed by functions finds
// both.
PyObject* Compare(PyObject* self, PyObject* other, int operation) {
  PyObject* theirs = other;
  if (Py_TYPE(other) == Py_TYPE(self)) theirs = Cast(other)->wrapped;
  return PyObject_RichCompare(Cast(self)->wrapped, theirs, operation);
}

PyObject* Bind(PyObject* self, PyObject* object, PyObject*) {
  if (object == nullptr || object == Py_None) return NewReference(self);
  return PyObject_CallFunctionObjArgs(Cast(self)->bound_type, self, object, nullptr);
}

// Null with an error set.
PyObject* Allocate(PyTypeObject* type, PyObject* wrapped, PyObject* bound_type,
                   const Around& around) {
  auto* wrapper = PyObject_GC_New(Wrapper, type);
  if (wrapper == nullptr) return nullptr;
  wrapper->vectorcall = around.call;
  wrapper->wrapped = NewReference(wrapped);
  wrapper->bound_type = NewReference(bound_type);
  wrapper->weak_references = nullptr;
  wrapper->helper = around.helper == nullptr ? nullptr : NewReference(around.helper);
  wrapper->label = around.label;
  wrapper->own = around.own;
  wrapper->alone = around.alone;
  wrapper->stage = around.stage;
  PyObject_GC_Track(reinterpret_cast<PyObject*>(wrapper));
  return reinterpret_cast<PyObject*>(wrapper);
}

// |bound| in a wrapper that does around a call what |wrapper| does.
PyObject* WrapBound(const Wrapper* wrapper, PyObject* bound) {
  return Allocate(reinterpret_cast<PyTypeObject*>(wrapper->bound_type), bound, wrapper->bound_type,
                  AroundOf(wrapper));
}

// The wrapped descriptor says what it is as an attribute of |object|, which need not be a method;
// if that can be called, each call opens what one of |self| does.
PyObject* BindAsWrapped(PyObject* self, PyObject* object, PyObject* type) {
  const Wrapper* wrapper = Cast(self);
  PyObject* bound = BinderOf(Py_TYPE(wrapper->wrapped))(wrapper->wrapped, object, type);
  if (bound == nullptr || PyCallable_Check(bound) == 0) return bound;
  PyObject* result = bound == wrapper->wrapped ? NewReference(self) : WrapBound(wrapper, bound);
  Py_DECREF(bound);
  return result;
}

// Of a decorated function (cached, jitted) the undecorated one, as the program knows it.
PyObject* GetWrapped(PyObject* self, void*) {
  PyObject* wrapped = Cast(self)->wrapped;
  PyObject* inner = PyObject_GetAttrString(wrapped, "__wrapped__");
  if (inner != nullptr || PyErr_ExceptionMatches(PyExc_AttributeError) == 0) return inner;
  PyErr_Clear();
  return NewReference(wrapped);
}

// For what an attribute of the type would otherwise hide.
PyObject* GetOfWrapped(PyObject* self, void* name) {
  return PyObject_GetAttrString(Cast(self)->wrapped, static_cast<const char*>(name));
}

int SetOfWrapped(PyObject* self, PyObject* value, void* name) {
  return PyObject_SetAttrString(Cast(self)->wrapped, static_cast<const char*>(name), value);
}

PyObject* Reduce(PyObject* self, PyObject*) {
  PyObject* module = PyImport_ImportModule("gpubound._pickling");
  if (module == nullptr) return nullptr;
  PyObject* result = PyObject_CallMethod(module, "reduce_wrapper", "O", self);
  Py_DECREF(module);
  return result;
}

// A copy of |self| around |wrapped|, a copy of what it wraps: itself where there is none, as of a
// function.
PyObject* CopyAround(PyObject* self, PyObject* wrapped) {
  const Wrapper* original = Cast(self);
  if (wrapped == original->wrapped) return NewReference(self);
  return Allocate(Py_TYPE(self), wrapped, original->bound_type, AroundOf(original));
}

// |memo| is null for a shallow copy.
PyObject* CopyWith(PyObject* self, PyObject* memo) {
  PyObject* module = PyImport_ImportModule("copy");
  if (module == nullptr) return nullptr;
  PyObject* wrapped =
      memo == nullptr ? PyObject_CallMethod(module, "copy", "O", Cast(self)->wrapped)
                      : PyObject_CallMethod(module, "deepcopy", "OO", Cast(self)->wrapped, memo);
  Py_DECREF(module);
  PyObject* copy = wrapped == nullptr ? nullptr : CopyAround(self, wrapped);
  Py_XDECREF(wrapped);
  return copy;
}

PyObject* Copy(PyObject* self, PyObject*) { return CopyWith(self, nullptr); }

char class_name[] = "__class__";
char doc_name[] = "__doc__";
char module_name[] = "__module__";

PyGetSetDef properties[] = {{"__wrapped__", GetWrapped, nullptr, nullptr, nullptr},
                            {class_name, GetOfWrapped, nullptr, nullptr, class_name},
                            {doc_name, GetOfWrapped, SetOfWrapped, nullptr, doc_name},
                            {module_name, GetOfWrapped, SetOfWrapped, nullptr, module_name},
                            {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Wrapper, vectorcall), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Wrapper, weak_references), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};
PyMethodDef methods[] = {{"__reduce_ex__", Reduce, METH_O, nullptr},
                         {"__copy__", Copy, METH_NOARGS, nullptr},
                         {"__deepcopy__", CopyWith, METH_O, nullptr},
                         {nullptr, nullptr, 0, nullptr}};

const PyType_Slot common_slots[] = {{Py_tp_call, SlotOf(PyVectorcall_Call)},
                                    {Py_tp_members, members},
                                    {Py_tp_methods, methods},
                                    {Py_tp_getset, properties},
                                    {Py_tp_setattro, SlotOf(SetAttribute)},
                                    {Py_tp_repr, SlotOf(Repr)},
                                    {Py_tp_str, SlotOf(Str)},
                                    {Py_tp_hash, SlotOf(Hash)},
                                    {Py_tp_richcompare, SlotOf(Compare)},
                                    {Py_tp_traverse, SlotOf(Traverse)},
                                    {Py_tp_dealloc, SlotOf(Deallocate)}};
const PyType_Slot callable_slots[] = {{Py_tp_getattro, SlotOf(GetAttribute)}};
const PyType_Slot object_slots[] = {
    {Py_tp_getattro, SlotOf(GetObjectAttribute)}, {Py_mp_length, SlotOf(WrappedLength)},
    {Py_mp_subscript, SlotOf(WrappedItem)},       {Py_mp_ass_subscript, SlotOf(SetWrappedItem)},
    {Py_sq_contains, SlotOf(WrappedHolds)},       {Py_tp_iter, SlotOf(WrappedIterator)},
    {Py_nb_bool, SlotOf(WrappedIsTrue)}};
const PyType_Slot function_slots[] = {{Py_tp_getattro, SlotOf(GetAttribute)},
                                      {Py_tp_descr_get, SlotOf(Bind)}};
const PyType_Slot descriptor_slots[] = {{Py_tp_getattro, SlotOf(GetAttribute)},
                                        {Py_tp_descr_get, SlotOf(BindAsWrapped)}};

// A type of wrappers with the common slots and |own|; null with an error set. |name| is static.
template <size_t kOwn>
PyObject* MakeType(PyObject* module, const char* name, const PyType_Slot (&own)[kOwn],
                   unsigned more_flags = 0) {
  const unsigned flags =
      kDefaultTypeFlags | ImmutableType() | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL;
  PyType_Slot slots[std::size(common_slots) + kOwn + 1] = {};
  std::copy(std::begin(own), std::end(own),
            std::copy(std::begin(common_slots), std::end(common_slots), slots));
  PyType_Spec spec = {name, sizeof(Wrapper), 0, flags | more_flags, slots};
  return PyType_FromModuleAndSpec(module, &spec, nullptr);
}

bool IsPair(PyObject* helper) {
  return helper != nullptr && PyTuple_Check(helper) && PyTuple_Size(helper) == 2;
}

bool IsChoice(PyObject* helper) {
  return IsPair(helper) && PyType_Check(PyTuple_GetItem(helper, 0)) &&
         PyCallable_Check(PyTuple_GetItem(helper, 1)) != 0;
}

bool IsHelperOfFacts(PyObject* helper) {
  return helper != nullptr && PyTuple_Check(helper) && PyTuple_Size(helper) == 3 &&
         PyDict_Check(PyTuple_GetItem(helper, 0)) &&
         PyCallable_Check(PyTuple_GetItem(helper, 1)) != 0 &&
         PyCallable_Check(PyTuple_GetItem(helper, 2)) != 0;
}

// The type of pybind11's methods, which is a type of the interpreter without a name in its API.
bool IsInstanceMethod(PyTypeObject* type) {
  PyObject* name = PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), "__name__");
  const bool is = name != nullptr && PyUnicode_Check(name) &&
                  PyUnicode_CompareWithASCIIString(name, "instancemethod") == 0;
  Py_XDECREF(name);
  PyErr_Clear();
  return is;
}

// Whether only |wrapped| itself knows what it is as an attribute of an object, as a decorator
// written as a class does (wrapt's), and not a method, which is called with the object first.
bool BindsByItself(PyObject* wrapped) {
  PyTypeObject* type = Py_TYPE(wrapped);
  return PyType_HasFeature(type, Py_TPFLAGS_METHOD_DESCRIPTOR) == 0 && BinderOf(type) != nullptr &&
         !IsInstanceMethod(type);
}

bool AsksArguments(CallRole role, const PyObject* helper) {
  if (role == CallRole::kWaits) return helper != nullptr;
  return role != CallRole::kReturns && role != CallRole::kWorks && role != CallRole::kReplaces &&
         role != CallRole::kFollows;
}

PyObject* Make(const WrapperTypes& types, PyObject* wrapped, bool binds, const Around& around) {
  if (PyCallable_Check(wrapped) == 0) {
    PyErr_SetString(PyExc_TypeError, "only a callable can be wrapped");
    return nullptr;
  }
  PyObject* type = types.function;
  PyObject* bound_type = types.method;
  if (!binds) {
    type = HasProtocols(wrapped) ? types.object : types.callable;
  } else if (BindsByItself(wrapped) && !around.asks_arguments) {
    type = types.descriptor;
    bound_type = types.callable;
  }
  return Allocate(reinterpret_cast<PyTypeObject*>(type), wrapped, bound_type, around);
}

}  // namespace

bool MakeWrapperTypes(PyObject* module, WrapperTypes* types) {
  types->callable = MakeType(module, "gpubound._core.Wrapper", callable_slots);
  types->object = MakeType(module, "gpubound._core.ObjectWrapper", object_slots);
  types->function = MakeType(module, "gpubound._core.FunctionWrapper", function_slots,
                             Py_TPFLAGS_METHOD_DESCRIPTOR);
  types->descriptor = MakeType(module, "gpubound._core.DescriptorWrapper", descriptor_slots);
  PyObject* library = PyImport_ImportModule("types");
  if (library != nullptr) types->method = PyObject_GetAttrString(library, "MethodType");
  Py_XDECREF(library);
  types->handle = PyUnicode_InternFromString("_handle");
  return types->callable != nullptr && types->object != nullptr && types->function != nullptr &&
         types->descriptor != nullptr && types->method != nullptr && types->handle != nullptr;
}

PyObject* NewWrapper(const WrapperTypes& types, PyObject* wrapped, uint32_t label, bool binds,
                     const HookRules* rules) {
  if (rules == nullptr) return Make(types, wrapped, binds, {CallInLabel(), label});
  return Make(types, wrapped, binds,
              {CallByRules(), label, rules->guard, rules->own, rules->alone, rules->stage});
}

PyObject* NewCallWrapper(const WrapperTypes& types, PyObject* wrapped, uint32_t label, bool binds,
                         CallRole role, PyObject* helper) {
  if (role == CallRole::kChooses && !IsChoice(helper)) {
    PyErr_SetString(PyExc_TypeError, "a choice is a tuple of a class and a callable");
    return nullptr;
  }
  if ((role == CallRole::kPuts || role == CallRole::kTakes) && !IsPair(helper)) {
    PyErr_SetString(PyExc_TypeError, "a queue's attributes are a tuple of two");
    return nullptr;
  }
  if (role == CallRole::kSteps && !IsHelperOfSteps(helper)) {
    PyErr_SetString(PyExc_TypeError, "a step's helper is a tuple of six that begins with a dict");
    return nullptr;
  }
  if (role == CallRole::kTells && !IsHelperOfFacts(helper)) {
    PyErr_SetString(PyExc_TypeError, "a fact's helper is a tuple of a dict and two callables");
    return nullptr;
  }
  const bool on_connection =
      role == CallRole::kReceives || role == CallRole::kWrites || role == CallRole::kMakes;
  Around around = {CallInRole(role), label, on_connection ? types.handle : helper};
  around.asks_arguments = AsksArguments(role, helper);
  return Make(types, wrapped, binds, around);
}

PyObject* WrappedBy(const WrapperTypes& types, PyObject* object) {
  PyObject* type = reinterpret_cast<PyObject*>(Py_TYPE(object));
  if (type != types.callable && type != types.object && type != types.function &&
      type != types.descriptor) {
    return nullptr;
  }
  return NewReference(Cast(object)->wrapped);
}

}  // namespace gpubound
