// SPDX-License-Identifier: Apache-2.0
//
// The module gpubound._core: scopes, wrappers and the calls that need no object. The package around
// it (gpubound/) documents them for users; here each takes exactly what the package passes.
#include "annotate/python/extension/channels.h"
#include "annotate/python/extension/compat.h"
#include "annotate/python/extension/construction.h"
#include "annotate/python/extension/open_scopes.h"
#include "annotate/python/extension/scope.h"
#include "annotate/python/extension/scope_cache.h"
#include "annotate/python/extension/subscripts.h"
#include "annotate/python/extension/table.h"
#include "annotate/python/extension/wrapper.h"

#include <atomic>
#include <iterator>

namespace gpubound {
namespace {

constexpr uint32_t kLayers = GPUBOUND_LAYER_backend + 1;

struct ModuleState {
  ScopeTypes scope_types;
  WrapperTypes wrapper_types;
  std::atomic<PyObject*> at_end;  // called once when the recording has ended; null: nothing
  ScopeCache operations;
  ScopeCache layers[kLayers];
};

ModuleState* StateOf(PyObject* module) {
  return static_cast<ModuleState*>(PyModule_GetState(module));
}

// Arguments of a METH_FASTCALL function as numbers and bytes; false with an error set.
bool CheckCount(const char* function, Py_ssize_t count, Py_ssize_t expected) {
  if (count == expected) return true;
  PyErr_Format(PyExc_TypeError, "%s() takes %zd arguments, not %zd", function, expected, count);
  return false;
}

bool ReadNumber(PyObject* object, uint32_t* number) {
  const unsigned long value = PyLong_AsUnsignedLong(object);
  if (PyErr_Occurred() != nullptr) return false;
  *number = static_cast<uint32_t>(value);
  return true;
}

bool ReadToken(PyObject* object, uint64_t* token) {
  *token = PyLong_AsUnsignedLongLong(object);
  return PyErr_Occurred() == nullptr;
}

bool ReadLabel(uint32_t kind, PyObject* name, uint32_t* label) {
  if (PyUnicode_Check(name)) return InternText(kind, GPUBOUND_LAYER_unset, nullptr, name, label);
  PyErr_SetString(PyExc_TypeError, "the name must be a str");
  return false;
}

PyObject* Operation(PyObject* module, PyObject* const* arguments, Py_ssize_t count) {
  if (count == 1) {
    ModuleState* state = StateOf(module);
    return state->operations.Get(state->scope_types, arguments[0]);
  }
  CheckCount("operation", count, 1);
  return nullptr;
}

PyObject* LayerScope(PyObject* module, PyObject* const* arguments, Py_ssize_t count) {
  uint32_t layer = 0;
  if (!CheckCount("layer_scope", count, 2) || !ReadNumber(arguments[0], &layer)) return nullptr;
  if (layer == GPUBOUND_LAYER_unset || layer >= kLayers) {
    PyErr_SetString(PyExc_ValueError, "no such layer");
    return nullptr;
  }
  ModuleState* state = StateOf(module);
  return state->layers[layer].Get(state->scope_types, arguments[1]);
}

// attach(): whether a collector records now, which may have come since the import.
PyObject* Attach(PyObject* module, PyObject*) {
  if (LoadTableAgain()) {
    ModuleState* state = StateOf(module);
    bool forgot = state->operations.Forget();
    for (ScopeCache& layer : state->layers) forgot = layer.Forget() && forgot;
    if (!forgot || PyModule_AddIntConstant(module, "recording", 1) != 0) return nullptr;
  }
  return PyObject_GetAttrString(module, "recording");
}

PyObject* Wrap(PyObject* module, PyObject* const* arguments, Py_ssize_t count) {
  uint32_t label = 0;
  if (!CheckCount("wrap", count, 3) || !ReadNumber(arguments[1], &label)) return nullptr;
  return NewWrapper(StateOf(module)->wrapper_types, arguments[0], label, arguments[2] == Py_True,
                    nullptr);
}

// hook(wrapped, label, binds, own, alone, guard, stage): a guard of None stands for none.
PyObject* Hook(PyObject* module, PyObject* const* arguments, Py_ssize_t count) {
  uint32_t label = 0;
  uint32_t own = 0;
  if (!CheckCount("hook", count, 7) || !ReadNumber(arguments[1], &label)) return nullptr;
  if (!ReadNumber(arguments[3], &own)) return nullptr;
  const HookRules rules = {own, arguments[4] == Py_True, arguments[6] == Py_True,
                           arguments[5] == Py_None ? nullptr : arguments[5]};
  return NewWrapper(StateOf(module)->wrapper_types, arguments[0], label, arguments[2] == Py_True,
                    &rules);
}

// watch(wrapped, label, binds, role, helper): a helper of None stands for none.
PyObject* Watch(PyObject* module, PyObject* const* arguments, Py_ssize_t count) {
  uint32_t label = 0;
  uint32_t role = 0;
  if (!CheckCount("watch", count, 5) || !ReadNumber(arguments[1], &label)) return nullptr;
  if (!ReadNumber(arguments[3], &role)) return nullptr;
  if (role >= kCallRoles) {
    PyErr_SetString(PyExc_ValueError, "no such role");
    return nullptr;
  }
  return NewCallWrapper(StateOf(module)->wrapper_types, arguments[0], label,
                        arguments[2] == Py_True, static_cast<CallRole>(role),
                        arguments[4] == Py_None ? nullptr : arguments[4]);
}

// The label of (domain, name); an empty domain stands for none.
PyObject* LabelIn(gpubound_label_kind kind, PyObject* const* arguments) {
  const char* domain = PyUnicode_AsUTF8AndSize(arguments[0], nullptr);
  uint32_t label = 0;
  if (domain == nullptr || !PyUnicode_Check(arguments[1]) ||
      !InternText(kind, GPUBOUND_LAYER_unset, *domain == '\0' ? nullptr : domain, arguments[1],
                  &label)) {
    if (PyErr_Occurred() == nullptr) PyErr_SetString(PyExc_TypeError, "the name must be a str");
    return nullptr;
  }
  return PyLong_FromUnsignedLong(label);
}

PyObject* AnnotationLabel(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  if (!CheckCount("annotation_label", count, 2)) return nullptr;
  return LabelIn(GPUBOUND_LABEL_ANNOTATION, arguments);
}

PyObject* OperationLabel(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  if (!CheckCount("operation_label", count, 2)) return nullptr;
  return LabelIn(GPUBOUND_LABEL_OPERATION, arguments);
}

PyObject* AfterForkInChild(PyObject*, PyObject*) {
  ForgetOpenHooks();
  ForgetChannels();
  Py_RETURN_NONE;
}

PyObject* Wrapped(PyObject* module, PyObject* object) {
  PyObject* wrapped = WrappedBy(StateOf(module)->wrapper_types, object);
  return wrapped == nullptr ? NewReference(Py_None) : wrapped;
}

// channel_name(connection): "socket:[5]", or None where it is neither socket nor pipe.
PyObject* NameOfChannel(PyObject* module, PyObject* connection) {
  return ChannelName(connection, StateOf(module)->wrapper_types.handle);
}

// note_channel_ends(one, other): both ends of a socket pair.
PyObject* NoteEnds(PyObject* module, PyObject* const* arguments, Py_ssize_t count) {
  if (!CheckCount("note_channel_ends", count, 2)) return nullptr;
  NoteChannelEnds(arguments[0], arguments[1], StateOf(module)->wrapper_types.handle);
  Py_RETURN_NONE;
}

PyObject* LabelOfWait(PyObject*, PyObject* words) {
  Py_ssize_t length = 0;
  const char* text = PyUnicode_AsUTF8AndSize(words, &length);
  if (text == nullptr) return nullptr;
  return PyLong_FromUnsignedLong(WaitLabel(text, static_cast<size_t>(length)));
}

PyObject* HoldChannelOfName(PyObject*, PyObject* name) {
  Py_ssize_t length = 0;
  const char* text = PyUnicode_AsUTF8AndSize(name, &length);
  if (text == nullptr) return nullptr;
  if (HoldChannel(text, static_cast<size_t>(length))) Py_RETURN_NONE;
  PyErr_SetString(PyExc_ValueError, "the name of a channel is too long");
  return nullptr;
}

// watch_subscripts(cls, read_label, change_label) -> bool
PyObject* Watched(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  uint32_t read = 0;
  uint32_t change = 0;
  if (!CheckCount("watch_subscripts", count, 3)) return nullptr;
  if (!ReadNumber(arguments[1], &read) || !ReadNumber(arguments[2], &change)) return nullptr;
  return PyBool_FromLong(WatchSubscripts(arguments[0], read, change) ? 1 : 0);
}

// watch_construction(cls, label) -> bool
PyObject* WatchedCalls(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  uint32_t label = 0;
  if (!CheckCount("watch_construction", count, 2)) return nullptr;
  if (!ReadNumber(arguments[1], &label)) return nullptr;
  return PyBool_FromLong(WatchConstruction(arguments[0], label) ? 1 : 0);
}

// phase(name) -> label of the phase before, 0 for none
PyObject* Phase(PyObject*, PyObject* name) {
  uint32_t label = 0;
  if (!ReadLabel(GPUBOUND_LABEL_PHASE, name, &label)) return nullptr;
  const uint32_t before = g_table.current_phase();
  g_table.phase(label);
  return PyLong_FromUnsignedLong(before);
}

// resume_phase(label), which phase() returned and is not 0
PyObject* ResumePhase(PyObject*, PyObject* argument) {
  uint32_t label = 0;
  if (!ReadNumber(argument, &label)) return nullptr;
  g_table.phase(label);
  Py_RETURN_NONE;
}

// The number that follows the last iteration's; after the last comes 0.
std::atomic<uint64_t> g_next_iteration{0};

// at_end(function): called without arguments, in place of an earlier one, at the first step behind
// the end of the recording.
PyObject* AtEnd(PyObject* module, PyObject* function) {
  Py_XDECREF(StateOf(module)->at_end.exchange(NewReference(function)));
  Py_RETURN_NONE;
}

// False with an error set where the program is to end meanwhile: then it is called again.
bool CallAtEnd(ModuleState* state) {
  PyObject* function = state->at_end.exchange(nullptr);
  if (function == nullptr) return true;
  PyObject* result = PyObject_CallObject(function, nullptr);
  if (!DropError()) {
    Py_XDECREF(state->at_end.exchange(function));
    return false;
  }
  Py_XDECREF(result);
  Py_DECREF(function);
  return true;
}

// step(iteration): None stands for the next one.
PyObject* Step(PyObject* module, PyObject* iteration) {
  uint64_t number = 0;
  if (iteration == Py_None) {
    number = g_next_iteration.fetch_add(1, std::memory_order_relaxed);
  } else {
    if (!ReadToken(iteration, &number)) return nullptr;
    g_next_iteration.store(number + 1, std::memory_order_relaxed);
  }
  g_table.step(number);
  ModuleState* state = StateOf(module);
  const bool is_awaited = state->at_end.load(std::memory_order_relaxed) != nullptr;
  if (is_awaited && g_table.ended() != 0 && !CallAtEnd(state)) return nullptr;
  Py_RETURN_NONE;
}

PyObject* BeginIterations(PyObject*, PyObject*) {
  g_table.begin_iterations();
  Py_RETURN_NONE;
}

PyObject* Counter(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  uint32_t label = 0;
  if (!CheckCount("counter", count, 2)) return nullptr;
  const double value = PyFloat_AsDouble(arguments[1]);
  if (PyErr_Occurred() != nullptr) return nullptr;
  if (!ReadLabel(GPUBOUND_LABEL_COUNTER, arguments[0], &label)) return nullptr;
  g_table.counter(label, value);
  Py_RETURN_NONE;
}

PyObject* HandOver(PyObject*, PyObject*) {
  return PyLong_FromUnsignedLongLong(g_table.hand_over());
}

// adopt(token), drop(token); wake(what), woken(what): of a wait that the caller knows to end.
template <auto Call>
PyObject* WithToken(PyObject*, PyObject* token) {
  uint64_t number = 0;
  if (!ReadToken(token, &number)) return nullptr;
  (g_table.*Call)(number);
  Py_RETURN_NONE;
}

// begin(label), end(label): for scopes that no object stands for.
PyObject* BeginLabel(PyObject*, PyObject* number) {
  uint32_t label = 0;
  if (!ReadNumber(number, &label)) return nullptr;
  BeginScope(label);
  Py_RETURN_NONE;
}

PyObject* EndLabel(PyObject*, PyObject* number) {
  uint32_t label = 0;
  if (!ReadNumber(number, &label)) return nullptr;
  EndScope(label);
  Py_RETURN_NONE;
}

PyObject* Pause(PyObject*, PyObject*) {
  g_table.pause();
  Py_RETURN_NONE;
}

PyObject* Resume(PyObject*, PyObject*) {
  g_table.resume();
  Py_RETURN_NONE;
}

// ledger(counter, amount, note): an empty counter or note stands for none.
PyObject* AddToLedger(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  uint32_t amount = 0;
  Py_ssize_t note_length = 0;
  if (!CheckCount("ledger", count, 3) || !ReadNumber(arguments[1], &amount)) return nullptr;
  const char* counter = PyUnicode_AsUTF8AndSize(arguments[0], nullptr);
  const char* note = PyUnicode_AsUTF8AndSize(arguments[2], &note_length);
  if (counter == nullptr || note == nullptr) return nullptr;
  g_table.ledger(*counter == '\0' ? nullptr : counter, amount, note_length == 0 ? nullptr : note,
                 static_cast<size_t>(note_length));
  Py_RETURN_NONE;
}

PyMethodDef functions[] = {
    {"operation", AsMethod(Operation), METH_FASTCALL,
     PyDoc_STR(
         "operation(name, /)\n--\n\n"
         "The scope of an algorithmic operation: simulation, inference, backpropagation...\n\n"
         "    with gpubound.operation(\"inference\"):\n"
         "        action = policy(observation)\n\n"
         "    @gpubound.operation(\"simulation\")\n"
         "    def step_environments(actions): ...\n\n"
         "Of the open operations of a thread the one begun last owns the time. As a decorator\n"
         "it takes functions, generator functions and coroutine functions; one that is\n"
         "suspended owns nothing until it goes on. The result may be kept and used again.\n\n"
         "Raises TypeError if the name is not a str. Names longer than 4096 bytes are cut and\n"
         "counted in the ledger. Without a collector nothing is recorded.")},
    {"layer_scope", AsMethod(LayerScope), METH_FASTCALL, nullptr},
    {"wrap", AsMethod(Wrap), METH_FASTCALL, nullptr},
    {"hook", AsMethod(Hook), METH_FASTCALL, nullptr},
    {"watch", AsMethod(Watch), METH_FASTCALL, nullptr},
    {"channel_name", NameOfChannel, METH_O, nullptr},
    {"note_channel_ends", AsMethod(NoteEnds), METH_FASTCALL, nullptr},
    {"wait_label", LabelOfWait, METH_O, nullptr},
    {"hold_channel", HoldChannelOfName, METH_O, nullptr},
    {"annotation_label", AsMethod(AnnotationLabel), METH_FASTCALL, nullptr},
    {"operation_label", AsMethod(OperationLabel), METH_FASTCALL, nullptr},
    {"after_fork_in_child", AfterForkInChild, METH_NOARGS, nullptr},
    {"wrapped", Wrapped, METH_O, nullptr},
    {"watch_subscripts", AsMethod(Watched), METH_FASTCALL, nullptr},
    {"leave_subscripts", LeaveSubscripts, METH_O, nullptr},
    {"watch_construction", AsMethod(WatchedCalls), METH_FASTCALL, nullptr},
    {"leave_construction", LeaveConstruction, METH_O, nullptr},
    {"phase", Phase, METH_O, nullptr},
    {"resume_phase", ResumePhase, METH_O, nullptr},
    {"step", Step, METH_O, nullptr},
    {"begin_iterations", BeginIterations, METH_NOARGS, nullptr},
    {"at_end", AtEnd, METH_O, nullptr},
    {"attach", Attach, METH_NOARGS, nullptr},
    {"counter", AsMethod(Counter), METH_FASTCALL, nullptr},
    {"hand_over", HandOver, METH_NOARGS, nullptr},
    {"adopt", WithToken<&gpubound_api::adopt>, METH_O, nullptr},
    {"drop", WithToken<&gpubound_api::drop>, METH_O, nullptr},
    {"wake", WithToken<&gpubound_api::wake>, METH_O, nullptr},
    {"woken", WithToken<&gpubound_api::woken>, METH_O, nullptr},
    {"begin", BeginLabel, METH_O, nullptr},
    {"end", EndLabel, METH_O, nullptr},
    {"pause", Pause, METH_NOARGS, nullptr},
    {"resume", Resume, METH_NOARGS, nullptr},
    {"ledger", AsMethod(AddToLedger), METH_FASTCALL, nullptr},
    {"thread_ident", ThreadIdent, METH_NOARGS, nullptr},
    {"depth", ScopeDepth, METH_NOARGS, nullptr},
    {"innermost", InnermostScope, METH_NOARGS, nullptr},
    {"suspend", SuspendScopes, METH_O, nullptr},
    {"reopen", ReopenScopes, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr}};

int Execute(PyObject* module) {
  ModuleState* state = StateOf(module);
  if (!MakeScopeTypes(module, &state->scope_types)) return -1;
  if (!MakeWrapperTypes(module, &state->wrapper_types)) return -1;
  if (!state->operations.Start(GPUBOUND_LABEL_OPERATION, GPUBOUND_LAYER_unset)) return -1;
  for (uint32_t layer = 0; layer < kLayers; ++layer) {
    if (!state->layers[layer].Start(GPUBOUND_LABEL_LAYER, layer)) return -1;
  }
  if (PyModule_AddIntConstant(module, "recording", LoadTable() ? 1 : 0) != 0) return -1;
  if (PyModule_AddStringConstant(module, "version", GPUBOUND_VERSION) != 0) return -1;
  if (PyObject_SetAttrString(module, "Wrapper", state->wrapper_types.callable) != 0 ||
      PyObject_SetAttrString(module, "ObjectWrapper", state->wrapper_types.object) != 0 ||
      PyObject_SetAttrString(module, "FunctionWrapper", state->wrapper_types.function) != 0 ||
      PyObject_SetAttrString(module, "DescriptorWrapper", state->wrapper_types.descriptor) != 0) {
    return -1;
  }
  return PyObject_SetAttrString(module, "Scope", state->scope_types.scope);
}

int Traverse(PyObject* module, visitproc visit, void* arg) {
  ModuleState* state = StateOf(module);
  Py_VISIT(state->scope_types.scope);
  Py_VISIT(state->scope_types.method);
  Py_VISIT(state->wrapper_types.callable);
  Py_VISIT(state->wrapper_types.object);
  Py_VISIT(state->wrapper_types.function);
  Py_VISIT(state->wrapper_types.descriptor);
  Py_VISIT(state->wrapper_types.method);
  Py_VISIT(state->at_end.load());
  for (ScopeCache& layer : state->layers) {
    if (const int stop = layer.Traverse(visit, arg); stop != 0) return stop;
  }
  return state->operations.Traverse(visit, arg);
}

int Clear(PyObject* module) {
  ModuleState* state = StateOf(module);
  Py_CLEAR(state->scope_types.scope);
  Py_CLEAR(state->scope_types.method);
  Py_CLEAR(state->wrapper_types.callable);
  Py_CLEAR(state->wrapper_types.object);
  Py_CLEAR(state->wrapper_types.function);
  Py_CLEAR(state->wrapper_types.descriptor);
  Py_CLEAR(state->wrapper_types.method);
  Py_CLEAR(state->wrapper_types.handle);
  Py_XDECREF(state->at_end.exchange(nullptr));
  for (ScopeCache& layer : state->layers) layer.Clear();
  state->operations.Clear();
  return 0;
}

void Free(void* module) { Clear(static_cast<PyObject*>(module)); }

// Py_mod_multiple_interpreters, with a lock of its own for each: 3.12 and later know of it.
constexpr int kMultipleInterpreters = 3;
void* const kOwnLocks = reinterpret_cast<void*>(2);

PyModuleDef_Slot slots[] = {{Py_mod_exec, SlotOf(Execute)},
#ifdef Py_GIL_DISABLED  // else the import would switch the lock on that the program runs without
                            {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
                            {kMultipleInterpreters, kOwnLocks},
                            {0, nullptr}};

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "gpubound._core",
                          "Scopes and wrappers over the collector's C table.",
                          sizeof(ModuleState),
                          functions,
                          slots,
                          Traverse,
                          Clear,
                          Free};

}  // namespace
}  // namespace gpubound

PyMODINIT_FUNC PyInit__core() {
  // A version before refuses what it does not know; it imports a module once, and with its lock
  // held.
  if (gpubound::InterpreterVersion() < 0x030C0000) *(std::end(gpubound::slots) - 2) = {0, nullptr};
  return PyModuleDef_Init(&gpubound::definition);
}
