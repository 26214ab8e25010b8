// SPDX-License-Identifier: Apache-2.0
//
// Scope, the two methods bound to each, and the descriptor that hands them out.
#include "annotate/python/extension/scope.h"

#include "annotate/python/extension/table.h"

namespace gpubound {
namespace {

struct ScopeMethod {
  PyObject_HEAD vectorcallfunc vectorcall;
  PyObject* scope;
  uint32_t label;
};

// __enter__ or __exit__ in the dictionary of the type, which is called with a scope as well
// (`type(scope).__enter__(scope)`, as contextlib.ExitStack does).
struct MethodDescriptor {
  PyObject_HEAD vectorcallfunc vectorcall;
  PyObject* scope_type;
  Py_ssize_t offset;  // of the bound method in Scope
};

PyObject* Enter(PyObject* self, PyObject* const*, size_t nargsf, PyObject* keywords) {
  if (ArgumentCount(nargsf) != 0 || keywords != nullptr) {
    PyErr_SetString(PyExc_TypeError, "Scope.__enter__() takes no arguments");
    return nullptr;
  }
  const auto* method = reinterpret_cast<ScopeMethod*>(self);
  BeginScope(method->label);
  return NewReference(method->scope);
}

// Whatever the arguments are: an exception is never swallowed and a scope always closed.
PyObject* Exit(PyObject* self, PyObject* const*, size_t, PyObject*) {
  EndScope(reinterpret_cast<ScopeMethod*>(self)->label);
  return NewReference(Py_None);
}

void FreeObject(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_Del(self);
  Py_DECREF(type);
}

int TraverseMethod(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(reinterpret_cast<ScopeMethod*>(self)->scope);
  return 0;
}

int ClearMethod(PyObject* self) {
  Py_CLEAR(reinterpret_cast<ScopeMethod*>(self)->scope);
  return 0;
}

void DeallocateMethod(PyObject* self) {
  PyObject_GC_UnTrack(self);
  ClearMethod(self);
  FreeObject(self);
}

int TraverseScope(PyObject* self, visitproc visit, void* arg) {
  auto* scope = reinterpret_cast<Scope*>(self);
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(scope->enter);
  Py_VISIT(scope->exit);
  return 0;
}

int ClearScope(PyObject* self) {
  auto* scope = reinterpret_cast<Scope*>(self);
  Py_CLEAR(scope->enter);
  Py_CLEAR(scope->exit);
  return 0;
}

void DeallocateScope(PyObject* self) {
  PyObject_GC_UnTrack(self);
  ClearScope(self);
  Py_CLEAR(reinterpret_cast<Scope*>(self)->text);
  FreeObject(self);
}

PyObject* ReprScope(PyObject* self) {
  const auto* scope = reinterpret_cast<Scope*>(self);
  if (scope->kind == GPUBOUND_LABEL_OPERATION) {
    return PyUnicode_FromFormat("gpubound.operation(%R)", scope->text);
  }
  return PyUnicode_FromFormat("<gpubound layer scope %R>", scope->text);
}

// The decorator lives in Python: it tells functions, generators and coroutines apart.
PyObject* Decorate(PyObject* self, PyObject* args, PyObject* keywords) {
  PyObject* module = PyImport_ImportModule("gpubound._decorate");
  if (module == nullptr) return nullptr;
  PyObject* decorate = PyObject_GetAttrString(module, "decorate");
  Py_DECREF(module);
  if (decorate == nullptr) return nullptr;
  PyObject* result = nullptr;
  if (keywords == nullptr && PyTuple_Size(args) == 1) {
    result = PyObject_CallFunctionObjArgs(decorate, self, PyTuple_GetItem(args, 0), nullptr);
  } else {
    PyErr_SetString(PyExc_TypeError, "a scope is called as a decorator, with one function");
  }
  Py_DECREF(decorate);
  return result;
}

// As a call of `gpubound.operation` or `gpubound.layer`, in whatever process unpickles it.
PyObject* ReduceScope(PyObject* self, PyObject*) {
  PyObject* module = PyImport_ImportModule("gpubound._pickling");
  if (module == nullptr) return nullptr;
  PyObject* result = PyObject_CallMethod(module, "reduce_scope", "O", self);
  Py_DECREF(module);
  return result;
}

// The method that |self| describes, bound to |object|. A borrowed reference; null with an error set
// where |object|, which may be null, is no scope.
PyObject* BoundMethod(PyObject* self, PyObject* object) {
  const auto* descriptor = reinterpret_cast<MethodDescriptor*>(self);
  if (object == nullptr || reinterpret_cast<PyObject*>(Py_TYPE(object)) != descriptor->scope_type) {
    PyErr_SetString(PyExc_TypeError, "a method of gpubound.Scope is called with a Scope first");
    return nullptr;
  }
  return *reinterpret_cast<PyObject**>(reinterpret_cast<char*>(object) + descriptor->offset);
}

PyObject* GetDescribed(PyObject* self, PyObject* scope, PyObject*) {
  if (scope == nullptr) return NewReference(self);
  PyObject* method = BoundMethod(self, scope);
  return method == nullptr ? nullptr : NewReference(method);
}

// The scope's own methods take whatever follows it.
PyObject* CallDescribed(PyObject* self, PyObject* const* arguments, size_t nargsf,
                        PyObject* keywords) {
  const Py_ssize_t count = ArgumentCount(nargsf);
  PyObject* method = BoundMethod(self, count == 0 ? nullptr : arguments[0]);
  if (method == nullptr) return nullptr;
  return Call(method, arguments + 1, static_cast<size_t>(count - 1), keywords);
}

int TraverseDescriptor(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(reinterpret_cast<MethodDescriptor*>(self)->scope_type);
  return 0;
}

int ClearDescriptor(PyObject* self) {
  Py_CLEAR(reinterpret_cast<MethodDescriptor*>(self)->scope_type);
  return 0;
}

void DeallocateDescriptor(PyObject* self) {
  PyObject_GC_UnTrack(self);
  ClearDescriptor(self);
  FreeObject(self);
}

PyMemberDef method_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(ScopeMethod, vectorcall), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};
PyType_Slot method_slots[] = {
    {Py_tp_call, SlotOf(PyVectorcall_Call)},   {Py_tp_members, method_members},
    {Py_tp_traverse, SlotOf(TraverseMethod)},  {Py_tp_clear, SlotOf(ClearMethod)},
    {Py_tp_dealloc, SlotOf(DeallocateMethod)}, {0, nullptr}};
PyType_Spec method_spec = {"gpubound._core.ScopeMethod", sizeof(ScopeMethod), 0,
                           kDefaultTypeFlags | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
                           method_slots};

PyMemberDef scope_members[] = {
    {"name", T_OBJECT, offsetof(Scope, text), READONLY, "What the scope is called."},
    {"label", T_UINT, offsetof(Scope, label), READONLY, "Number in the collector; 0 without one."},
    {"kind", T_UINT, offsetof(Scope, kind), READONLY, "Kind of label, of gpubound/api.h."},
    {"layer", T_UINT, offsetof(Scope, layer), READONLY, "Layer, of gpubound/api.h; 0 for none."},
    {nullptr, 0, 0, 0, nullptr}};
PyMethodDef scope_methods[] = {{"__reduce__", ReduceScope, METH_NOARGS, nullptr},
                               {nullptr, nullptr, 0, nullptr}};
PyDoc_STRVAR(
    scope_doc,
    "A named scope: `with scope:` and `@scope`.\n\n"
    "Made by gpubound.operation() and gpubound.layer(). It may be kept and used again, by\n"
    "any thread; open and close it on the same one.");
PyType_Slot scope_slots[] = {{Py_tp_doc, const_cast<char*>(scope_doc)},
                             {Py_tp_members, scope_members},
                             {Py_tp_methods, scope_methods},
                             {Py_tp_call, SlotOf(Decorate)},
                             {Py_tp_repr, SlotOf(ReprScope)},
                             {Py_tp_traverse, SlotOf(TraverseScope)},
                             {Py_tp_clear, SlotOf(ClearScope)},
                             {Py_tp_dealloc, SlotOf(DeallocateScope)},
                             {0, nullptr}};
PyType_Spec scope_spec = {"gpubound.Scope", sizeof(Scope), 0,
                          kDefaultTypeFlags | Py_TPFLAGS_HAVE_GC, scope_slots};

PyMemberDef descriptor_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(MethodDescriptor, vectorcall), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};
PyType_Slot descriptor_slots[] = {{Py_tp_descr_get, SlotOf(GetDescribed)},
                                  {Py_tp_call, SlotOf(PyVectorcall_Call)},
                                  {Py_tp_members, descriptor_members},
                                  {Py_tp_traverse, SlotOf(TraverseDescriptor)},
                                  {Py_tp_clear, SlotOf(ClearDescriptor)},
                                  {Py_tp_dealloc, SlotOf(DeallocateDescriptor)},
                                  {0, nullptr}};
PyType_Spec descriptor_spec = {"gpubound._core.MethodDescriptor", sizeof(MethodDescriptor), 0,
                               kDefaultTypeFlags | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
                               descriptor_slots};

bool AddDescriptor(PyObject* descriptor_type, PyObject* scope_type, const char* name,
                   Py_ssize_t offset) {
  auto* descriptor =
      PyObject_GC_New(MethodDescriptor, reinterpret_cast<PyTypeObject*>(descriptor_type));
  if (descriptor == nullptr) return false;
  descriptor->vectorcall = CallDescribed;
  descriptor->scope_type = NewReference(scope_type);
  descriptor->offset = offset;
  PyObject* object = reinterpret_cast<PyObject*>(descriptor);
  PyObject_GC_Track(object);
  const int failed = PyObject_SetAttrString(scope_type, name, object);
  Py_DECREF(object);
  return failed == 0;
}

PyObject* NewMethod(const ScopeTypes& types, vectorcallfunc call, PyObject* scope, uint32_t label) {
  auto* method = PyObject_GC_New(ScopeMethod, reinterpret_cast<PyTypeObject*>(types.method));
  if (method == nullptr) return nullptr;
  method->vectorcall = call;
  method->scope = NewReference(scope);
  method->label = label;
  PyObject_GC_Track(reinterpret_cast<PyObject*>(method));
  return reinterpret_cast<PyObject*>(method);
}

}  // namespace

bool MakeScopeTypes(PyObject* module, ScopeTypes* types) {
  types->method = PyType_FromModuleAndSpec(module, &method_spec, nullptr);
  types->scope = PyType_FromModuleAndSpec(module, &scope_spec, nullptr);
  PyObject* descriptor = PyType_FromModuleAndSpec(module, &descriptor_spec, nullptr);
  const bool made = types->method != nullptr && types->scope != nullptr && descriptor != nullptr &&
                    AddDescriptor(descriptor, types->scope, "__enter__", offsetof(Scope, enter)) &&
                    AddDescriptor(descriptor, types->scope, "__exit__", offsetof(Scope, exit));
  Py_XDECREF(descriptor);
  return made;
}

bool InternText(uint32_t kind, uint32_t layer, const char* domain, PyObject* text,
                uint32_t* label) {
  Py_ssize_t length = 0;
  const char* utf8 = PyUnicode_AsUTF8AndSize(text, &length);
  if (utf8 != nullptr) {
    *label = g_table.label(kind, layer, domain, utf8, static_cast<size_t>(length));
    return true;
  }
  if (PyErr_ExceptionMatches(PyExc_UnicodeEncodeError) == 0) return false;
  PyErr_Clear();  // lone surrogates: a file name of other bytes, for one
  PyObject* escaped = PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace");
  if (escaped == nullptr) return false;
  char* bytes = nullptr;
  const bool read = PyBytes_AsStringAndSize(escaped, &bytes, &length) == 0;
  if (read) *label = g_table.label(kind, layer, domain, bytes, static_cast<size_t>(length));
  Py_DECREF(escaped);
  return read;
}

PyObject* NewScope(const ScopeTypes& types, uint32_t kind, uint32_t layer, PyObject* text) {
  uint32_t label = 0;
  if (!InternText(kind, layer, nullptr, text, &label)) return nullptr;
  auto* scope = PyObject_GC_New(Scope, reinterpret_cast<PyTypeObject*>(types.scope));
  if (scope == nullptr) return nullptr;
  PyObject* self = reinterpret_cast<PyObject*>(scope);
  scope->label = label;
  scope->kind = kind;
  scope->layer = layer;
  scope->text = NewReference(text);
  scope->enter = NewMethod(types, Enter, self, label);
  scope->exit = NewMethod(types, Exit, self, label);
  if (scope->enter == nullptr || scope->exit == nullptr) {
    PyObject_GC_Track(self);
    Py_DECREF(self);
    return nullptr;
  }
  PyObject_GC_Track(self);
  return self;
}

}  // namespace gpubound
