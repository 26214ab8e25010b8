// SPDX-License-Identifier: Apache-2.0
//
// The module gpubound._reader: the analysis for programs that read runs. It is apart from
// gpubound._core, which every recorded program imports and which stays small. The package around it
// (gpubound/runs.py) documents everything for users; here each function takes exactly what that
// passes. Objects of ours are capsules:
//
//   "gpubound.run"    std::shared_ptr<ArrowRun>      of open()
//   "gpubound.table"  std::shared_ptr<ArrowTable>    of table() and query()
//
// and those that the Arrow PyCapsule protocol names. Interpreter's lock: given up while a run is
// read. No exception leaves a function.
#include "annotate/python/extension/compat.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/calibration/calibration_file.h"
#include "analysis/correction/report_options.h"
#include "analysis/correction/run_report.h"
#include "analysis/correction/what_if_report.h"
#include "analysis/output/check/compare.h"
#include "analysis/output/export/summary_json.h"
#include "analysis/output/page/notebook_html.h"
#include "analysis/output/tables/arrow_run.h"
#include "analysis/parts/machine_part.h"
#include "analysis/parts/part_file.h"
#include "analysis/reader/run_files.h"
#include "analysis/report/report_json.h"
#include "analysis/report/target.h"
#include "analysis/report/what_if_result.h"

namespace gpubound {
namespace {

constexpr char kRunCapsule[] = "gpubound.run";
constexpr char kTableCapsule[] = "gpubound.table";
constexpr char kStreamCapsule[] = "arrow_array_stream";
constexpr char kSchemaCapsule[] = "arrow_schema";

struct ModuleState {
  PyObject* run_error;  // the class gpubound.RunError
};

ModuleState* StateOf(PyObject* module) {
  return static_cast<ModuleState*>(PyModule_GetState(module));
}

// Of what the caller may do better: its words, not the run.
bool IsWrongUse(const Error& error) {
  return error.doing == "choosing a table" || error.doing == "running the query" ||
         error.doing == "changing";
}

PyObject* Raise(PyObject* module, const Error& error) {
  PyErr_SetString(IsWrongUse(error) ? PyExc_ValueError : StateOf(module)->run_error,
                  error.ToString().c_str());
  return nullptr;
}

// What |work| returns, made without the interpreter's lock. Memory is all that can run out.
template <typename Work>
auto WithoutLock(const Work& work) -> std::optional<decltype(work())> {
  std::optional<decltype(work())> result;
  PyThreadState* const thread = PyEval_SaveThread();
  try {
    result.emplace(work());
  } catch (const std::bad_alloc&) {
    result.reset();
  }
  PyEval_RestoreThread(thread);
  if (!result) PyErr_NoMemory();
  return result;
}

// Names of programs may be anything.
PyObject* Text(std::string_view text) {
  return PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
}

// Appends |value|, a new reference or null, and gives it up. False: an error is set.
bool AppendNew(PyObject* list, PyObject* value) {
  const bool added = value != nullptr && PyList_Append(list, value) == 0;
  Py_XDECREF(value);
  return added;
}

// |list| with what |add|(list) appends; null where it returns false.
template <typename Add>
PyObject* ListOf(const Add& add) {
  PyObject* const list = PyList_New(0);
  if (list == nullptr || add(list)) return list;
  Py_DECREF(list);
  return nullptr;
}

PyObject* ListOfTexts(const auto& texts) {
  return ListOf([&](PyObject* list) {
    return std::all_of(texts.begin(), texts.end(),
                       [list](const std::string& text) { return AppendNew(list, Text(text)); });
  });
}

// False with an error set where |object| is no str.
bool ReadText(PyObject* object, std::string* text) {
  Py_ssize_t size = 0;
  const char* const bytes = PyUnicode_AsUTF8AndSize(object, &size);
  if (bytes == nullptr) return false;
  text->assign(bytes, static_cast<size_t>(size));
  return true;
}

bool ReadTexts(PyObject* list, std::vector<std::string>* texts) {
  const Py_ssize_t size = PyList_Size(list);
  if (size < 0) return false;
  for (Py_ssize_t i = 0; i < size; ++i) {
    if (!ReadText(PyList_GetItem(list, i), &texts->emplace_back())) return false;
  }
  return true;
}

// False with an error set where |list| holds something else than targets.
bool ReadTargets(PyObject* list, std::vector<Target>* targets) {
  std::vector<std::string> texts;
  if (!ReadTexts(list, &texts)) return false;
  for (const std::string& text : texts) {
    Result<Target> target = ParseTarget(text);
    if (!target.ok()) {
      PyErr_SetString(PyExc_ValueError, target.error().ToString().c_str());
      return false;
    }
    targets->push_back(std::move(*target));
  }
  return true;
}

template <typename Held>
void FreeHeld(PyObject* capsule) {
  delete static_cast<std::shared_ptr<Held>*>(
      PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule)));
}

template <typename Held>
PyObject* CapsuleOf(std::shared_ptr<Held> held, const char* name) {
  auto owner = std::make_unique<std::shared_ptr<Held>>(std::move(held));
  PyObject* const capsule = PyCapsule_New(owner.get(), name, &FreeHeld<Held>);
  if (capsule != nullptr) static_cast<void>(owner.release());  // it is the capsule's
  return capsule;
}

template <typename Held>
const std::shared_ptr<Held>* HeldBy(PyObject* capsule, const char* name) {
  return static_cast<std::shared_ptr<Held>*>(PyCapsule_GetPointer(capsule, name));
}

// Structures of Arrow's, which the taker moves out of the capsule and marks as released.
template <typename Structure>
void FreeStructure(PyObject* capsule) {
  auto* const structure =
      static_cast<Structure*>(PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule)));
  if (structure->release != nullptr) structure->release(structure);
  delete structure;
}

template <typename Structure, typename Fill>
PyObject* StructureCapsule(const char* name, const Fill& fill) {
  auto structure = std::make_unique<Structure>();
  fill(structure.get());
  PyObject* const capsule = PyCapsule_New(structure.get(), name, &FreeStructure<Structure>);
  if (capsule == nullptr) {
    structure->release(structure.get());
    return nullptr;
  }
  static_cast<void>(structure.release());
  return capsule;
}

PyObject* TableCapsule(PyObject* module,
                       const std::optional<Result<std::shared_ptr<ArrowTable>>>& made) {
  if (!made) return nullptr;
  if (!made->ok()) return Raise(module, made->error());
  return CapsuleOf(**made, kTableCapsule);
}

// open(path)
PyObject* OpenRunAt(PyObject* module, PyObject* argument) {
  std::string path;
  if (!ReadText(argument, &path)) return nullptr;
  const auto run = WithoutLock([&] { return ArrowRun::Open(path); });
  if (!run) return nullptr;
  if (!run->ok()) return Raise(module, run->error());
  return CapsuleOf(**run, kRunCapsule);
}

// holds_parts(path): whether there are parts of a run, which open() refuses.
PyObject* HoldsPartsAt(PyObject*, PyObject* argument) {
  std::string path;
  if (!ReadText(argument, &path)) return nullptr;
  const auto holds = WithoutLock([&] { return HoldsParts(path); });
  return holds ? NewReference(*holds ? Py_True : Py_False) : nullptr;
}

// table(run, name, columns): a list of names, or None for all.
PyObject* TableOf(PyObject* module, PyObject* arguments) {
  PyObject* capsule = nullptr;
  PyObject* name_object = nullptr;
  PyObject* chosen_object = nullptr;
  std::string name;
  std::optional<std::vector<std::string>> chosen;
  if (PyArg_UnpackTuple(arguments, "table", 3, 3, &capsule, &name_object, &chosen_object) == 0) {
    return nullptr;
  }
  const auto* const run = HeldBy<ArrowRun>(capsule, kRunCapsule);
  if (run == nullptr || !ReadText(name_object, &name)) return nullptr;
  if (chosen_object != Py_None && !ReadTexts(chosen_object, &chosen.emplace())) return nullptr;
  return TableCapsule(module, WithoutLock([&] { return (*run)->Table(name, chosen); }));
}

// query(run, sql)
PyObject* QueryOf(PyObject* module, PyObject* arguments) {
  PyObject* capsule = nullptr;
  PyObject* sql_object = nullptr;
  std::string sql;
  if (PyArg_UnpackTuple(arguments, "query", 2, 2, &capsule, &sql_object) == 0) return nullptr;
  const auto* const run = HeldBy<ArrowRun>(capsule, kRunCapsule);
  if (run == nullptr || !ReadText(sql_object, &sql)) return nullptr;
  return TableCapsule(module, WithoutLock([&] { return (*run)->Query(sql); }));
}

// stream(table): what __arrow_c_stream__ returns.
PyObject* StreamOf(PyObject*, PyObject* capsule) {
  const auto* const table = HeldBy<ArrowTable>(capsule, kTableCapsule);
  if (table == nullptr) return nullptr;
  return StructureCapsule<ArrowArrayStream>(
      kStreamCapsule, [&](ArrowArrayStream* stream) { GiveStream(*table, stream); });
}

// schema(table): what __arrow_c_schema__ returns.
PyObject* SchemaOf(PyObject*, PyObject* capsule) {
  const auto* const table = HeldBy<ArrowTable>(capsule, kTableCapsule);
  if (table == nullptr) return nullptr;
  return StructureCapsule<ArrowSchema>(
      kSchemaCapsule, [&](ArrowSchema* schema) { GiveSchema((*table)->columns(), schema); });
}

// names(table)
PyObject* NamesOf(PyObject*, PyObject* capsule) {
  const auto* const table = HeldBy<ArrowTable>(capsule, kTableCapsule);
  if (table == nullptr) return nullptr;
  const std::vector<ArrowColumn>& columns = (*table)->columns();
  return ListOf([&](PyObject* list) {
    return std::all_of(columns.begin(), columns.end(), [list](const ArrowColumn& column) {
      return AppendNew(list, Text(column.name));
    });
  });
}

PyObject* ObjectOf(const Cell& cell) {
  if (const auto* integer = std::get_if<int64_t>(&cell)) return PyLong_FromLongLong(*integer);
  if (const auto* real = std::get_if<double>(&cell)) return PyFloat_FromDouble(*real);
  if (const auto* text = std::get_if<std::string_view>(&cell)) return Text(*text);
  return NewReference(Py_None);
}

// Appends the rows of |columns| to |lists|.
bool AppendRows(const std::vector<ColumnBuilder>& columns, PyObject* lists) {
  for (size_t c = 0; c < columns.size(); ++c) {
    PyObject* const list = PyList_GetItem(lists, static_cast<Py_ssize_t>(c));
    for (size_t row = 0; row < columns[c].size(); ++row) {
      if (!AppendNew(list, ObjectOf(columns[c].At(row)))) return false;
    }
  }
  return true;
}

// values(table, most): up to so many rows, as a list for each column.
PyObject* ValuesOf(PyObject*, PyObject* arguments) {
  PyObject* capsule = nullptr;
  PyObject* most_object = nullptr;
  if (PyArg_UnpackTuple(arguments, "values", 2, 2, &capsule, &most_object) == 0) return nullptr;
  const auto* const table = HeldBy<ArrowTable>(capsule, kTableCapsule);
  if (table == nullptr) return nullptr;
  const size_t most = PyLong_AsSize_t(most_object);
  if (PyErr_Occurred() != nullptr) return nullptr;
  return ListOf([&](PyObject* lists) {
    for (size_t c = 0; c < (*table)->columns().size(); ++c) {
      if (!AppendNew(lists, PyList_New(0))) return false;
    }
    const std::unique_ptr<RowBatches> rows = (*table)->Read();
    constexpr size_t kRowsAtOnce = 4096;
    for (size_t left = most; left > 0;) {
      std::vector<ColumnBuilder> columns;
      for (const ArrowColumn& column : (*table)->columns()) columns.emplace_back(column);
      const auto read =
          WithoutLock([&] { return rows->Read(&columns, std::min(left, kRowsAtOnce)); });
      if (!read || (*read > 0 && !AppendRows(columns, lists))) return false;
      if (*read == 0) break;
      left -= *read;
    }
    return true;
  });
}

// verdict(run): how far to believe its figures, in a line.
PyObject* VerdictOf(PyObject* module, PyObject* capsule) {
  const auto* const run = HeldBy<ArrowRun>(capsule, kRunCapsule);
  if (run == nullptr) return nullptr;
  const auto verdict = WithoutLock([&] { return (*run)->Verdict(); });
  if (!verdict) return nullptr;
  return verdict->ok() ? Text(**verdict) : Raise(module, verdict->error());
}

// problems(run): what could be read in part only, and why.
PyObject* ProblemsOf(PyObject*, PyObject* capsule) {
  const auto* const run = HeldBy<ArrowRun>(capsule, kRunCapsule);
  if (run == nullptr) return nullptr;
  const auto problems = WithoutLock([&] { return (*run)->Problems(); });
  if (!problems) return nullptr;
  return ListOfTexts(*problems);
}

// report(path, replays, "json", "summary" or "html", name of the run for HTML, targets).
PyObject* ReportOf(PyObject* module, PyObject* arguments) {
  PyObject* path_object = nullptr;
  PyObject* replays = nullptr;
  PyObject* form_object = nullptr;
  PyObject* name_object = nullptr;
  PyObject* target_list = nullptr;
  std::string path;
  std::string form;
  std::string name;
  ReportOptions options;
  if (PyArg_UnpackTuple(arguments, "report", 5, 5, &path_object, &replays, &form_object,
                        &name_object, &target_list) == 0 ||
      !ReadText(path_object, &path) || !ReadText(form_object, &form) ||
      !ReadText(name_object, &name) || !ReadTargets(target_list, &options.targets)) {
    return nullptr;
  }
  options.replays = replays == Py_True;
  options.why_not_replayed = "replay=False leaves that out";
  options.calibration_folder = CalibrationFolder();
  const auto report = WithoutLock([&]() -> Result<std::string> {
    const Result<Report> made = ReportOfRun(path, options);
    if (!made.ok()) return made.error();
    if (form == "summary") return RenderSummaryJson(*made);
    return form == "html" ? RenderNotebookHtml(*made, name) : RenderJson(*made);
  });
  if (!report) return nullptr;
  return report->ok() ? Text(**report) : Raise(module, report->error());
}

// what_if(path, scalings, captured operations, fused ones, another GPU or "", times as many
// environments, copies of the run or 0, GPUs to move or ""): JSON.
PyObject* WhatIfOf(PyObject* module, PyObject* arguments) {
  PyObject* path_object = nullptr;
  PyObject* scalings = nullptr;
  PyObject* captured = nullptr;
  PyObject* fused = nullptr;
  PyObject* gpu_object = nullptr;
  PyObject* environments = nullptr;
  PyObject* copies_object = nullptr;
  PyObject* move_object = nullptr;
  std::string path;
  std::vector<std::string> texts;
  std::string gpu;
  std::string move;
  WhatIfQuestion question;
  WhatIf& changes = question.changes;
  if (PyArg_UnpackTuple(arguments, "what_if", 8, 8, &path_object, &scalings, &captured, &fused,
                        &gpu_object, &environments, &copies_object, &move_object) == 0 ||
      !ReadText(path_object, &path) || !ReadTexts(scalings, &texts) ||
      !ReadTexts(captured, &changes.graph_capture) || !ReadTexts(fused, &changes.fuse) ||
      !ReadText(gpu_object, &gpu) || !ReadText(move_object, &move)) {
    return nullptr;
  }
  changes.environments = PyFloat_AsDouble(environments);
  const long long copies = PyLong_AsLongLong(copies_object);
  if (PyErr_Occurred() != nullptr) return nullptr;
  if (!(changes.environments >= 1 && changes.environments <= kMostEnvironments) || copies < 0 ||
      copies > static_cast<long long>(kMostCopies)) {
    PyErr_SetString(
        PyExc_ValueError,
        "found another number, expected 1 to 1000000 for vectorise and 0 to 64 for copies");
    return nullptr;
  }
  question.copies = static_cast<uint32_t>(copies);
  if (const Status added = AddWords(texts, gpu, move, &question); !added.ok()) {
    PyErr_SetString(PyExc_ValueError, added.error().ToString().c_str());
    return nullptr;
  }
  const auto imagined = WithoutLock([&]() -> Result<std::string> {
    ReportOptions options;
    options.calibration_folder = CalibrationFolder();
    const Result<WhatIfReport> made = ImagineRun(path, options, question);
    if (!made.ok()) return made.error();
    return RenderWhatIfJson(*made);
  });
  if (!imagined) return nullptr;
  return imagined->ok() ? Text(**imagined) : Raise(module, imagined->error());
}

// compare([(name, [path, ...]), ...], seed, targets): JSON.
PyObject* CompareOf(PyObject* module, PyObject* arguments) {
  PyObject* group_list = nullptr;
  PyObject* seed_object = nullptr;
  PyObject* target_list = nullptr;
  ReportOptions breakdown;
  breakdown.detail = ReportDetail::kBreakdown;
  if (PyArg_UnpackTuple(arguments, "compare", 3, 3, &group_list, &seed_object, &target_list) == 0 ||
      !ReadTargets(target_list, &breakdown.targets)) {
    return nullptr;
  }
  const uint64_t seed = PyLong_AsUnsignedLongLong(seed_object);
  const Py_ssize_t count = PyErr_Occurred() == nullptr ? PyList_Size(group_list) : -1;
  if (count < 0) return nullptr;
  std::vector<RunGroup> groups(static_cast<size_t>(count));
  for (Py_ssize_t i = 0; i < count; ++i) {
    RunGroup& group = groups[static_cast<size_t>(i)];
    PyObject* const pair = PyList_GetItem(group_list, i);
    PyObject* const name = PyTuple_GetItem(pair, 0);
    PyObject* const paths = name == nullptr ? nullptr : PyTuple_GetItem(pair, 1);
    if (paths == nullptr || !ReadText(name, &group.name) || !ReadTexts(paths, &group.runs)) {
      return nullptr;
    }
  }
  const auto compared = WithoutLock([&]() -> Result<std::string> {
    for (RunGroup& group : groups) {
      for (const std::string& path : group.runs) {
        Result<Report> report = ReportOfRun(path, breakdown);
        if (!report.ok()) return report.error();
        group.reports.push_back(std::move(*report));
      }
    }
    return RenderComparisonJson(CompareGroups(groups, seed), groups);
  });
  if (!compared) return nullptr;
  return compared->ok() ? Text(**compared) : Raise(module, compared->error());
}

PyObject* Bytes(const std::string& bytes) {
  return PyBytes_FromStringAndSize(bytes.data(), static_cast<Py_ssize_t>(bytes.size()));
}

// hosts(path): of the files of a run.
PyObject* HostsOf(PyObject* module, PyObject* path_object) {
  std::string path;
  if (!ReadText(path_object, &path)) return nullptr;
  const auto hosts = WithoutLock([&] { return HostsIn(path); });
  if (!hosts) return nullptr;
  if (!hosts->ok()) return Raise(module, hosts->error());
  return ListOfTexts(**hosts);
}

// What |bytes| hold; they outlive it. False: an error is set.
bool ReadBytes(PyObject* object, std::string_view* bytes) {
  char* begin = nullptr;
  Py_ssize_t size = 0;
  if (PyBytes_AsStringAndSize(object, &begin, &size) != 0) return false;
  *bytes = {begin, static_cast<size_t>(size)};
  return true;
}

Result<Lateness> LatenessIn(std::string_view packed) {
  constexpr char kName[] = "merged parts";
  if (packed.empty()) return Lateness();
  const Result<std::vector<StoredPart>> stored = UnpackParts(packed, kName);
  if (!stored.ok()) return stored.error();
  Result<std::vector<MachinePart>> parts = LoadParts(*stored, kName);
  if (!parts.ok()) return parts.error();
  return LatenessOf(std::move(*parts));
}

// late_hosts(merged): whose ranks kept others waiting.
PyObject* LateHostsOf(PyObject* module, PyObject* merged) {
  std::string_view packed;
  if (!ReadBytes(merged, &packed)) return nullptr;
  const auto lateness = WithoutLock([&] { return LatenessIn(packed); });
  if (!lateness) return nullptr;
  if (!lateness->ok()) return Raise(module, lateness->error());
  std::set<std::string> hosts;
  for (const Lateness::Rank& rank : (*lateness)->ranks) hosts.insert(rank.host);
  return ListOfTexts(hosts);
}

// absent(name, why): a part that says so.
PyObject* AbsentOf(PyObject*, PyObject* arguments) {
  PyObject* name_object = nullptr;
  PyObject* why_object = nullptr;
  std::string name;
  std::string why;
  if (PyArg_UnpackTuple(arguments, "absent", 2, 2, &name_object, &why_object) == 0 ||
      !ReadText(name_object, &name) || !ReadText(why_object, &why)) {
    return nullptr;
  }
  return Bytes(PackParts({StorePart(AbsentPart(name, why))}));
}

// part(path, host or "", operations, merged or b""): what a file of parts holds.
PyObject* PartOfRun(PyObject* module, PyObject* arguments) {
  PyObject* path_object = nullptr;
  PyObject* host_object = nullptr;
  PyObject* operation_list = nullptr;
  PyObject* merged = nullptr;
  std::string_view merged_parts;
  std::string path;
  std::string host;
  std::vector<std::string> operations;
  if (PyArg_UnpackTuple(arguments, "part", 4, 4, &path_object, &host_object, &operation_list,
                        &merged) == 0 ||
      !ReadText(path_object, &path) || !ReadText(host_object, &host) ||
      !ReadTexts(operation_list, &operations) || !ReadBytes(merged, &merged_parts)) {
    return nullptr;
  }
  const auto packed = WithoutLock([&]() -> Result<std::string> {
    const Result<Lateness> lateness = LatenessIn(merged_parts);
    if (!lateness.ok()) return lateness.error();
    const Result<std::vector<MachinePart>> parts = MakeParts(path, host, operations, *lateness);
    if (!parts.ok()) return parts.error();
    return PackParts(StoreParts(*parts));
  });
  if (!packed) return nullptr;
  return packed->ok() ? Bytes(**packed) : Raise(module, packed->error());
}

// merge([bytes, ...]): what a file of all of them holds.
PyObject* MergeOf(PyObject* module, PyObject* list) {
  const Py_ssize_t count = PyList_Size(list);
  if (count < 0) return nullptr;
  std::vector<std::string_view> texts;
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (!ReadBytes(PyList_GetItem(list, i), &texts.emplace_back())) return nullptr;
  }
  // The list and what is in it outlive the call.
  const auto packed = WithoutLock([&]() -> Result<std::string> {
    std::vector<StoredPart> all;
    for (const std::string_view text : texts) {
      Result<std::vector<StoredPart>> parts = UnpackParts(text, "a part");
      if (!parts.ok()) return parts.error();
      std::move(parts->begin(), parts->end(), std::back_inserter(all));
    }
    return PackParts(MergeParts(std::move(all)));
  });
  if (!packed) return nullptr;
  return packed->ok() ? Bytes(**packed) : Raise(module, packed->error());
}

// tables(): (name, what a row is) of each table.
PyObject* Tables(PyObject*, PyObject*) {
  const std::vector<TraceTable>& tables = AllTraceTables();
  return ListOf([&](PyObject* list) {
    return std::all_of(tables.begin(), tables.end(), [list](const TraceTable& table) {
      return AppendNew(list, Py_BuildValue("(ss)", table.name, table.summary));
    });
  });
}

PyMethodDef functions[] = {
    {"open", OpenRunAt, METH_O, nullptr},         {"holds_parts", HoldsPartsAt, METH_O, nullptr},
    {"tables", Tables, METH_NOARGS, nullptr},     {"table", TableOf, METH_VARARGS, nullptr},
    {"query", QueryOf, METH_VARARGS, nullptr},    {"stream", StreamOf, METH_O, nullptr},
    {"schema", SchemaOf, METH_O, nullptr},        {"names", NamesOf, METH_O, nullptr},
    {"values", ValuesOf, METH_VARARGS, nullptr},  {"verdict", VerdictOf, METH_O, nullptr},
    {"problems", ProblemsOf, METH_O, nullptr},    {"report", ReportOf, METH_VARARGS, nullptr},
    {"what_if", WhatIfOf, METH_VARARGS, nullptr}, {"compare", CompareOf, METH_VARARGS, nullptr},
    {"hosts", HostsOf, METH_O, nullptr},          {"part", PartOfRun, METH_VARARGS, nullptr},
    {"merge", MergeOf, METH_O, nullptr},          {"absent", AbsentOf, METH_VARARGS, nullptr},
    {"late_hosts", LateHostsOf, METH_O, nullptr}, {nullptr, nullptr, 0, nullptr}};

constexpr char kRunErrorHelp[] =
    "A run that cannot be read: what was done, to what, what was found, what was expected, and "
    "what "
    "to do about it.";

int Execute(PyObject* module) {
  ModuleState* const state = StateOf(module);
  state->run_error =
      PyErr_NewExceptionWithDoc("gpubound.RunError", kRunErrorHelp, PyExc_RuntimeError, nullptr);
  if (state->run_error == nullptr) return -1;
  PyObject* const shared = NewReference(state->run_error);  // PyModule_AddObject takes it
  if (PyModule_AddObject(module, "RunError", shared) == 0) return 0;
  Py_DECREF(shared);
  return -1;
}

int Traverse(PyObject* module, visitproc visit, void* arg) {
  Py_VISIT(StateOf(module)->run_error);
  return 0;
}

int Clear(PyObject* module) {
  Py_CLEAR(StateOf(module)->run_error);
  return 0;
}

void Free(void* module) { Clear(static_cast<PyObject*>(module)); }

PyModuleDef_Slot slots[] = {{Py_mod_exec, SlotOf(Execute)},
#ifdef Py_GIL_DISABLED
                            {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
                            {0, nullptr}};

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "gpubound._reader",
                          "Reads runs.",
                          sizeof(ModuleState),
                          functions,
                          slots,
                          Traverse,
                          Clear,
                          Free};

}  // namespace
}  // namespace gpubound

PyMODINIT_FUNC PyInit__reader() { return PyModuleDef_Init(&gpubound::definition); }
