// SPDX-License-Identifier: Apache-2.0
//
// Finds a figure by its name. No state.
#include "analysis/output/check/figure.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

#include "analysis/base/text_table.h"
#include "analysis/output/check/figure_catalogue.h"
#include "analysis/output/text/other_threads.h"
#include "analysis/output/text/training_text.h"
#include "analysis/report/main_process.h"
#include "analysis/report/report_json.h"
#include "analysis/report/report_training.h"
#include "analysis/report/target.h"

namespace gpubound {
namespace {

constexpr char kCountField[] = "count";
constexpr char kCausedField[] = "gpu_caused";

template <typename Row>
const Row* FindIn(std::span<const Row> table, const std::string& name) {
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const Row& row) { return row.name == name; });
  return found == table.end() ? nullptr : &*found;
}

template <typename Row>
std::vector<std::string> NamesIn(std::span<const Row> table, bool with_count) {
  std::vector<std::string> names;
  for (const auto& row : table) names.emplace_back(row.name);
  if (with_count) names.emplace_back(kCountField);
  return names;
}

enum class Group : uint8_t { kRun, kProcess, kOperation, kIteration, kLedger, kPointer, kTarget };

Group GroupOf(const FigureName& name) {
  if (!name.pointer.empty()) return Group::kPointer;
  if (!name.target.empty()) return Group::kTarget;
  if (name.group.empty()) return name.process.empty() ? Group::kRun : Group::kProcess;
  if (name.quoted) return Group::kOperation;
  if (name.group == "iteration") return Group::kIteration;
  return name.group == "ledger" ? Group::kLedger : Group::kOperation;
}

std::vector<std::string> FieldsOf(Group group) {
  std::vector<std::string> names;
  switch (group) {
    case Group::kRun:
      return NamesIn(RunFigures(), false);
    case Group::kProcess:
      return NamesIn(ProcessFigures(), false);
    case Group::kOperation:
      names = NamesIn(LaunchFigures(), false);
      for (const std::string& name : NamesIn(OperationFigures(), true)) names.push_back(name);
      return names;
    case Group::kIteration:
      return NamesIn(IterationFigures(), true);
    case Group::kLedger:
      for (const LedgerCounterInfo& counter : kLedgerCounters) names.emplace_back(counter.name);
      return names;
    case Group::kPointer:
    case Group::kTarget:
      break;
  }
  return names;
}

const char* OwnerText(Group group) {
  switch (group) {
    case Group::kRun:
      return "a run";
    case Group::kProcess:
      return "a process";
    case Group::kOperation:
      return "an operation";
    case Group::kIteration:
      return "the iterations";
    case Group::kLedger:
      return "the ledger";
    case Group::kPointer:
    case Group::kTarget:
      break;
  }
  return "the report";
}

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

bool IsPid(const std::string& text, int64_t* pid) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *pid);
  return error == std::errc() && end == text.data() + text.size();
}

std::vector<const ReportProcess*> SelectProcesses(const Report& report, const FigureName& name) {
  std::vector<const ReportProcess*> selected;
  if (name.process.empty()) {
    const ReportProcess* process =
        GroupOf(name) == Group::kIteration ? SteppingProcess(report) : ToldProcess(report);
    if (process != nullptr) selected.push_back(process);
    return selected;
  }
  int64_t pid = 0;
  const bool by_pid = IsPid(name.process, &pid);
  for (const ReportProcess& process : report.processes) {
    if (by_pid ? process.pid == pid : process.name == name.process) selected.push_back(&process);
  }
  return selected;
}

std::optional<Figure> OfIterations(const ReportProcess& process, const std::string& field) {
  if (!process.iterations) return std::nullopt;
  if (field == kCountField) {
    return Exact(FigureKind::kCount, static_cast<double>(process.iterations->count));
  }
  return IterationTime(process, *FindIn(IterationFigures(), field));
}

std::optional<Figure> OfProcess(const ReportProcess& process, const FigureName& name) {
  if (GroupOf(name) == Group::kProcess) return FindIn(ProcessFigures(), name.field)->get(process);
  if (GroupOf(name) == Group::kIteration) return OfIterations(process, name.field);
  for (const ReportOperation& row : process.operations) {
    if (row.operation != name.group) continue;
    if (const LaunchFigure* of_launches = FindIn(LaunchFigures(), name.field)) {
      return of_launches->get(row.launches);
    }
    // What threads share is of all of them; the rest of such a row nobody measured.
    if (row.other_threads_only && name.field != kCausedField) return std::nullopt;
    if (name.field == kCountField) {
      return Exact(FigureKind::kCount, static_cast<double>(row.count));
    }
    return OperationTime(process, row, *FindIn(OperationFigures(), name.field));
  }
  return std::nullopt;
}

// Where an operation that has no figures in |process| is; empty: it has no such operation.
std::string WhereElse(const ReportProcess& process, const std::string& operation) {
  for (const LaneTime& row : LaneTimes(process)) {
    if (row.operation != operation) continue;
    return FormatTime(row.wall_ns) + " of it is on other threads";
  }
  for (const ReportOperation& row : process.operations) {
    if (row.operation == operation) return "other threads have it";
  }
  return {};
}

FoundFigures OfProcesses(const Report& report, const FigureName& name) {
  FoundFigures found;
  std::vector<std::string> known;
  std::string elsewhere;
  const std::vector<const ReportProcess*> selected = SelectProcesses(report, name);
  for (const ReportProcess* process : selected) {
    std::optional<Figure> figure = OfProcess(*process, name);
    if (!figure) {
      for (const ReportOperation& row : process->operations) known.push_back(row.operation);
      for (const LaneTime& row : LaneTimes(*process)) known.push_back(row.operation);
      if (elsewhere.empty()) elsewhere = WhereElse(*process, name.group);
      continue;
    }
    if (!name.process.empty()) {
      figure->process = process->name + " (pid " + std::to_string(process->pid) + ")";
    }
    found.figures.push_back(std::move(*figure));
  }
  if (!found.figures.empty()) return found;
  if (selected.empty() && !name.process.empty()) {
    for (const ReportProcess& process : report.processes) known.push_back(process.name);
    found.missing = {"the run has no process '" + name.process + "'", name.process, known};
  } else if (GroupOf(name) == Group::kIteration) {
    const std::string of = name.process.empty() ? "the run" : "the process '" + name.process + "'";
    found.missing = {of + " has no iterations: nothing called step()", "", {}};
  } else if (!elsewhere.empty()) {
    found.missing = {"operation '" + name.group +
                         "' is not on the reporting thread, which figures of "
                         "operations are about: " +
                         elsewhere + " (gpubound report --by thread)",
                     "",
                     {}};
  } else {
    for (const char* group : {"iteration", "ledger"}) known.emplace_back(group);
    found.missing = {"the process has no operation '" + name.group + "'", name.group, known};
  }
  return found;
}

FoundFigures OfLedger(const Report& report, const std::string& counter) {
  const auto named = [&counter](const auto& what) { return what.counter == counter; };
  const auto find = [&named](const auto& list) {
    return std::find_if(list.begin(), list.end(), named);
  };
  if (find(report.not_counted) != report.not_counted.end()) {
    return {{NotKnown(FigureKind::kCount)}, {}};
  }
  const auto entry = find(report.ledger);  // has those that are not zero
  return {{Exact(FigureKind::kCount,
                 entry == report.ledger.end() ? 0 : static_cast<double>(entry->value))},
          {}};
}

// The figure whose name |name| leaves out a part of, or takes for another one: "iterations" is
// iteration.count, "median" iteration.median, "cpu_only" that of an operation, "simulation" how long
// it takes. Empty: none.
std::string ElsewhereNamed(const FigureName& name) {
  const std::string& word = name.field;
  if (GroupOf(name) == Group::kOperation && (name.group == "iterations" || name.group == "steps")) {
    return FindIn(IterationFigures(), word) != nullptr ? "iteration." + word : std::string();
  }
  if (!name.process.empty() && GroupOf(name) == Group::kProcess) {
    return FindIn(RunFigures(), word) != nullptr ? word : std::string();
  }
  if (GroupOf(name) != Group::kRun) return {};
  for (const char* iterations : {"iterations", "iteration", "steps", "iteration_count"}) {
    if (word == iterations) return "iteration.count";
  }
  for (const char* operation : {"simulation", "inference", "backpropagation", "optimizer",
                                "rollout", "update", "forward", "target", "sample"}) {
    if (word == operation) return word + ".wall";
  }
  if (FindIn(IterationFigures(), word) != nullptr) return "iteration." + word;
  if (FindIn(OperationFigures(), word) != nullptr || word == kCountField) {
    return "OPERATION." + word;
  }
  if (FindIn(ProcessFigures(), word) != nullptr) return word + "@PROCESS";
  for (const std::string& counter : FieldsOf(Group::kLedger)) {
    if (word == counter) return "ledger." + word;
  }
  return {};
}

// What the key tells: of a plain number it is the value that does.
std::optional<FigureKind> KindOfKey(std::string_view pointer) {
  const size_t last = pointer.rfind('/');
  const std::string_view parent = pointer.substr(0, last);
  if (parent.ends_with("/idle_causes") || parent.ends_with("/device_idle")) {
    return FigureKind::kTime;
  }
  std::string_view key = pointer.substr(last + 1);
  for (const std::string_view bound : {"_low", "_high"}) {
    if (key.ends_with(bound)) key.remove_suffix(bound.size());
  }
  if (key.ends_with("_ns") || key == "ns") return FigureKind::kTime;
  const bool share =
      key.ends_with("_share") || key == "smi_model" || key == "nvml_utilization" || key == "part";
  return share ? std::optional(FigureKind::kShare) : std::nullopt;
}

FigureKind KindOfNumber(const std::string& pointer, const nlohmann::json& value) {
  const FigureKind plain = value.is_number_integer() ? FigureKind::kCount : FigureKind::kRatio;
  return KindOfKey(pointer).value_or(plain);
}

FoundFigures OfPointer(const Report& report, const std::string& pointer) {
  const nlohmann::json document = nlohmann::json::parse(RenderJson(report), nullptr, false);
  nlohmann::json value;
  try {
    value = document.at(nlohmann::json::json_pointer(pointer));
  } catch (const nlohmann::json::
               exception&) {  // the library has no other way to say that nothing is there
    return {{}, NameProblem{"the report JSON has nothing at " + pointer, "", {}}};
  }
  if (!value.is_number() && !value.is_null()) {
    return {{}, NameProblem{"what the report JSON has at " + pointer + " is no number", "", {}}};
  }
  const FigureKind kind = KindOfNumber(pointer, value);
  return {{value.is_null() ? NotKnown(kind) : Exact(kind, value.get<double>())}, {}};
}

// As recorded, like every other time. A target that was never reached has no time; one of which
// nobody knows whether it was is not known.
FoundFigures OfTarget(const Report& report, const std::string& text) {
  if (report.run.training != nullptr) {
    for (const ReportTarget& target : report.run.training->targets) {
      if (target.target != text) continue;
      if (target.reached_ns) {
        return {{Exact(FigureKind::kTime, static_cast<double>(*target.reached_ns),
                       static_cast<double>(report.run.wall_ns))},
                {}};
      }
      const bool unknown = !target.why_not.empty();
      const std::string what = text + (unknown ? " is " : " was ") + TargetText(target, {});
      return {{}, NameProblem{what, "", {}, "", unknown}};
    }
  }
  return {{NotKnown(FigureKind::kTime)}, {}};
}

// As JSON defines it: '~' is followed by 0 or 1.
bool IsPointer(const std::string& text) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '~') continue;
    if (i + 1 == text.size() || (text[i + 1] != '0' && text[i + 1] != '1')) return false;
  }
  return text.starts_with('/');
}

std::string FormatNumber(FigureKind kind, double value, int digits) {
  if (std::isinf(value)) return "any";
  std::array<char, 64> text;
  const auto print = [&text, digits](double number, const char* unit) {
    std::snprintf(text.data(), text.size(), "%.*g%s", digits, number, unit);
    return std::string(text.data());
  };
  if (kind == FigureKind::kShare) return print(value * 100, " %");
  if (kind == FigureKind::kRatio) return print(value, " x");
  if (kind == FigureKind::kCount) {
    if (value != std::floor(value)) return print(value, "");  // a bound may be 1.5
    std::snprintf(text.data(), text.size(), "%.0f", value);
    return text.data();
  }
  const double size = std::abs(value);
  if (size < 1e3) return print(value, " ns");
  if (size < 1e6) return print(value / 1e3, " us");
  if (size < 1e9) return print(value / 1e6, " ms");
  return size < 1e13 ? print(value / 1e9, " s") : print(value / 3600e9, " h");
}

}  // namespace

std::optional<NameProblem> MistakeIn(const FigureName& name) {
  const Group group = GroupOf(name);
  if (group == Group::kPointer) {
    if (IsPointer(name.pointer)) return std::nullopt;
    return NameProblem{"'" + name.pointer + "' is no JSON pointer", "", {}};
  }
  if (group == Group::kTarget) {
    const Result<Target> target = ParseTarget(name.target);
    if (target.ok()) return std::nullopt;
    const Error& error = target.error();
    return NameProblem{"the target has " + error.found + ", expected " + error.expected, "", {}};
  }
  const std::vector<std::string> known = FieldsOf(group);
  if (std::find(known.begin(), known.end(), name.field) == known.end()) {
    const std::string expected = group == Group::kLedger
                                     ? "a counter that `gpubound doctor RUN --all` lists"
                                     : "one of " + Joined(known);
    return NameProblem{
        std::string(OwnerText(group)) + " has no figure '" + name.field + "', expected " + expected,
        name.field, known, ElsewhereNamed(name)};
  }
  if (group == Group::kLedger && !name.process.empty()) {
    return NameProblem{"the ledger is that of the whole run, expected no '@'", "", {}};
  }
  return std::nullopt;
}

std::optional<FigureKind> KindOf(const FigureName& name) {
  switch (GroupOf(name)) {
    case Group::kRun:
      return FindIn(RunFigures(), name.field)->kind;
    case Group::kProcess:
      return FindIn(ProcessFigures(), name.field)->kind;
    case Group::kOperation:
      if (const LaunchFigure* of_launches = FindIn(LaunchFigures(), name.field)) {
        return of_launches->kind;
      }
      [[fallthrough]];
    case Group::kIteration:
      return name.field == kCountField ? FigureKind::kCount : FigureKind::kTime;
    case Group::kLedger:
      return FigureKind::kCount;
    case Group::kPointer:
      return KindOfKey(name.pointer);
    case Group::kTarget:
      return FigureKind::kTime;
  }
  return std::nullopt;
}

FoundFigures FindFigures(const Report& report, const FigureName& name) {
  switch (GroupOf(name)) {
    case Group::kRun:
      return {{FindIn(RunFigures(), name.field)->get(report)}, {}};
    case Group::kLedger:
      return OfLedger(report, name.field);
    case Group::kPointer:
      return OfPointer(report, name.pointer);
    case Group::kTarget:
      return OfTarget(report, name.target);
    case Group::kProcess:
    case Group::kOperation:
    case Group::kIteration:
      break;
  }
  return OfProcesses(report, name);
}

std::string FormatFigure(const Figure& figure, int digits) {
  if (std::isnan(figure.low)) return "not known";
  const std::string low = FormatNumber(figure.kind, figure.low, digits);
  return figure.low == figure.high
             ? low
             : "from " + low + " to " + FormatNumber(figure.kind, figure.high, digits);
}

}  // namespace gpubound
