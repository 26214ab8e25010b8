// SPDX-License-Identifier: Apache-2.0
//
// Tables of what threads recorded: scopes, and single events. No state.
#include <bit>
#include <string>

#include "analysis/output/tables/event_scan.h"
#include "analysis/output/tables/scope_rows.h"
#include "analysis/output/tables/table_rows.h"
#include "analysis/trace/work_classes.h"

namespace gpubound {
namespace {

const char* KindName(LabelKind kind) {
  switch (kind) {
    case LabelKind::kOperation:
      return "operation";
    case LabelKind::kAnnotation:
      return "annotation";
    case LabelKind::kLayer:
      return "layer";
    case LabelKind::kPhase:
      return "phase";
    case LabelKind::kCounter:
      return "counter";
    case LabelKind::kApi:
      return "api";
    case LabelKind::kOverhead:
      return "overhead";
    case LabelKind::kNone:
      break;
  }
  return "none";
}

const char* EventName(const ThreadEvent& event) {
  switch (event.kind) {
    case SlotKind::kBegin:
      return "begin";
    case SlotKind::kEnd:
      return "end";
    case SlotKind::kPhase:
      return "phase";
    case SlotKind::kStep:
      return "step";
    case SlotKind::kCounter:
      return "counter";
    case SlotKind::kRangeStart:
      return "range_start";
    case SlotKind::kRangeEnd:
      return "range_end";
    case SlotKind::kMark:
      return "mark";
    case SlotKind::kAdopt:
      return event.label == LabelId{} ? "found" : "adopt";
    case SlotKind::kHandOver:
      return event.label == LabelId{} ? "wake" : "hand_over";
    case SlotKind::kWoken:
      return "woken";
    case SlotKind::kPause:
      return "pause";
    case SlotKind::kResume:
      return "resume";
    case SlotKind::kUnbalanced:
      return "unbalanced";
  }
  return "unknown";
}

Cell LayerCell(Layer layer) {
  return layer == Layer::kUnset ? Cell() : Cell(std::string_view(LayerName(layer)));
}

const Label& LabelOf(const ScopeRow& row) { return row.trace->LabelOf(row.scope.label); }

Cell CutCell(const Scope& scope) {
  const char* const cut = CutOf(scope);
  return cut == nullptr ? Cell() : Cell(std::string_view(cut));
}

using ScopeColumns = std::vector<Column<ScopeRow>>;

ScopeColumns ColumnsOfScope() {
  return {
      {{"process", kInteger, ColumnRole::kProcess},
       [](const ScopeRow& row) { return ToCell(row.process + 1); }},
      {{"thread", kInteger, ColumnRole::kThread},
       [](const ScopeRow& row) { return ToCell(row.thread + 1); }},
      {{"begin_ns", kInteger, ColumnRole::kBegin, true},
       [](const ScopeRow& row) { return ToCell(row.scope.begin_ns); }},
      {{"end_ns", kInteger, ColumnRole::kEnd},
       [](const ScopeRow& row) { return ToCell(row.scope.end_ns); }},
      {{"duration_ns"},
       [](const ScopeRow& row) { return ToCell(row.scope.end_ns - row.scope.begin_ns); }},
      {{"kind", kText}, [](const ScopeRow& row) { return ToCell(KindName(LabelOf(row).kind)); }},
      {{"name", kText}, [](const ScopeRow& row) { return ToCell(LabelOf(row).text); }},
      {{"domain", kText}, [](const ScopeRow& row) { return TextOrNull(LabelOf(row).domain); }},
      {{"layer", kText}, [](const ScopeRow& row) { return LayerCell(LabelOf(row).layer); }},
      {{"depth"}, [](const ScopeRow& row) { return ToCell(row.scope.depth); }},
      {{"is_range"}, [](const ScopeRow& row) { return ToCell(row.scope.is_range); }},
      {{"cut", kText}, [](const ScopeRow& row) { return CutCell(row.scope); }},
  };
}

struct EventRow {
  size_t process = 0;
  size_t thread = 0;
  const ProcessTrace* trace = nullptr;
  const ThreadEvent* event = nullptr;
};

const std::string& NameOf(const EventRow& row) { return row.trace->LabelOf(row.event->label).text; }

bool BeginsIterations(const ThreadEvent& event) {
  return gpubound::BeginsIterations(event.kind, event.payload);
}

// Every event, or those of one kind; of steps those that end an iteration.
template <int kKind>
class EventRows {
 public:
  EventRows(TraceRun* run, const RowFilter& filter) : run_(*run), scan_(run, filter) {}
  const EventRow* Next() {
    do {
      row_.event = scan_.Next();
      if (row_.event == nullptr) return nullptr;
    } while (kKind != 0 && !IsWanted(*row_.event));
    row_.process = scan_.process();
    row_.thread = scan_.thread();
    row_.trace = &run_.process(row_.process);
    return &row_;
  }

 private:
  static bool IsWanted(const ThreadEvent& event) {
    return static_cast<int>(event.kind) == kKind && !BeginsIterations(event);
  }

  TraceRun& run_;
  ThreadEventScan scan_;
  EventRow row_;
};

using EventColumns = std::vector<Column<EventRow>>;

// What all of them begin with, and |more|.
EventColumns ColumnsOfEvent(const EventColumns& more) {
  EventColumns columns = {
      {{"process", kInteger, ColumnRole::kProcess},
       [](const EventRow& row) { return ToCell(row.process + 1); }},
      {{"thread", kInteger, ColumnRole::kThread},
       [](const EventRow& row) { return ToCell(row.thread + 1); }},
      {{"time_ns", kInteger, ColumnRole::kTime, true},
       [](const EventRow& row) { return ToCell(row.event->time_ns); }},
  };
  columns.insert(columns.end(), more.begin(), more.end());
  return columns;
}

constexpr Cell (*kName)(const EventRow&) = [](const EventRow& row) { return ToCell(NameOf(row)); };
constexpr Cell (*kPayload)(const EventRow&) = [](const EventRow& row) -> Cell {
  const bool is_one = HasPayload(row.event->kind) && !BeginsIterations(*row.event);
  return is_one ? ToCell(row.event->payload) : Cell();
};
constexpr Cell (*kKind)(const EventRow&) = [](const EventRow& row) {
  const bool begins = BeginsIterations(*row.event);
  return ToCell(begins ? "iterations_begin" : EventName(*row.event));
};
constexpr Cell (*kValue)(const EventRow&) = [](const EventRow& row) {
  return ToCell(std::bit_cast<double>(row.event->payload));
};

}  // namespace

std::vector<TraceTable> ThreadEventTables() {
  return {
      MakeTable<ScopeRow, ScopeRows>(
          "scope", "an operation, annotation, layer or range that was open on a thread", true,
          ColumnsOfScope()),
      MakeTable<EventRow, EventRows<static_cast<int>(SlotKind::kStep)>>(
          "step", "the end of an iteration, as the program numbers it", true,
          ColumnsOfEvent({{{"number"}, kPayload}})),
      MakeTable<EventRow, EventRows<static_cast<int>(SlotKind::kPhase)>>(
          "phase", "a phase begins, for the whole process", true,
          ColumnsOfEvent({{{"name", kText}, kName}})),
      MakeTable<EventRow, EventRows<static_cast<int>(SlotKind::kCounter)>>(
          "counter", "a value that the program gave", true,
          ColumnsOfEvent({{{"name", kText}, kName}, {{"value", kReal}, kValue}})),
      MakeTable<EventRow, EventRows<0>>(
          "event", "anything that a thread recorded, as it is stored", true,
          ColumnsOfEvent(
              {{{"kind", kText}, kKind}, {{"name", kText}, kName}, {{"payload"}, kPayload}})),
  };
}

}  // namespace gpubound
