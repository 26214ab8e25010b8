// SPDX-License-Identifier: Apache-2.0
//
// Tables of roles and of what the program said of its training (report_training.h), as rows. No
// state.
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/output/tables/table_rows.h"
#include "analysis/report/report_training.h"

namespace gpubound {
namespace {

const RunTraining* TrainingOf(TraceRun* run) {
  const Report* const report = run->report();
  return report == nullptr ? nullptr : report->run.training.get();
}

const ReportRoles* RolesOf(TraceRun* run) {
  const RunTraining* const training = TrainingOf(run);
  return training == nullptr || !training->roles ? nullptr : &*training->roles;
}

struct RoleRow {
  const ReportRoles* roles = nullptr;
  const ReportRole* role = nullptr;
};

std::vector<RoleRow> CollectRoles(TraceRun* run) {
  std::vector<RoleRow> rows;
  const ReportRoles* const roles = RolesOf(run);
  if (roles == nullptr) return rows;
  for (const ReportRole& role : roles->roles) rows.push_back({roles, &role});
  return rows;
}

TraceTable RoleTable() {
  using Row = RoleRow;
  return MakeShortTable<Row, CollectRoles>(
      "role", "a role over all processes that had it, in the headline's part of the run",
      {{{"role", kText}, [](const Row& row) { return ToCell(row.role->role); }},
       {{"processes"}, [](const Row& row) { return ToCell(row.role->processes.size()); }},
       {{"ns"}, [](const Row& row) { return ToCell(row.roles->ns); }},
       {{"active_ns"}, [](const Row& row) { return ToCell(row.role->active_ns); }},
       {{"held_ns"}, [](const Row& row) { return ToCell(row.role->held_ns); }},
       {{"busy_ns"}, [](const Row& row) { return ToCell(row.role->busy_ns); }},
       {{"idle_ns"}, [](const Row& row) { return ToCell(row.role->idle_ns); }},
       {{"unknown_ns"}, [](const Row& row) { return ToCell(row.role->unknown_ns); }},
       {{"bubble_ratio", kReal}, [](const Row& row) { return ToCell(row.role->BubbleRatio()); }}});
}

struct RoleProcessRow {
  size_t process = 0;
  const std::string* role = nullptr;
  const ReportRoleProcess* of = nullptr;
};

std::vector<RoleProcessRow> CollectRoleProcesses(TraceRun* run) {
  std::vector<RoleProcessRow> rows;
  const ReportRoles* const roles = RolesOf(run);
  if (roles == nullptr) return rows;
  for (const ReportRole& role : roles->roles) {
    for (const ReportRoleProcess& of : role.processes) {
      const std::optional<size_t> process = run->ProcessOf(of.place);
      if (process) rows.push_back({*process, &role.role, &of});
    }
  }
  return rows;
}

TraceTable RoleProcessTable() {
  using Row = RoleProcessRow;
  return MakeShortTable<Row, CollectRoleProcesses>(
      "role_process", "a process while it had a role, in the headline's part of the run",
      {{{"process", kInteger, ColumnRole::kProcess},
        [](const Row& row) { return ToCell(row.process + 1); }},
       {{"role", kText}, [](const Row& row) { return ToCell(*row.role); }},
       {{"inferred"}, [](const Row& row) { return ToCell(row.of->inferred); }},
       {{"ns"}, [](const Row& row) { return ToCell(row.of->ns); }},
       {{"active_ns"}, [](const Row& row) { return ToCell(row.of->active_ns); }}});
}

struct BubbleRow {
  const std::string* role = nullptr;
  const ReportBubble* bubble = nullptr;
};

std::vector<BubbleRow> CollectBubbles(TraceRun* run) {
  std::vector<BubbleRow> rows;
  const ReportRoles* const roles = RolesOf(run);
  if (roles == nullptr) return rows;
  for (const ReportRole& role : roles->roles) {
    for (const ReportBubble& bubble : role.bubbles) rows.push_back({&role.role, &bubble});
  }
  return rows;
}

TraceTable BubbleTable() {
  using Row = BubbleRow;
  return MakeShortTable<Row, CollectBubbles>(
      "role_bubble", "GPU time in which a device was idle that a role held, by cause",
      {{{"role", kText}, [](const Row& row) { return ToCell(*row.role); }},
       {{"cause", kText}, [](const Row& row) { return ToCell(row.bubble->cause); }},
       {{"ns"}, [](const Row& row) { return ToCell(row.bubble->ns); }}});
}

struct OverlapRow {
  std::string roles;
  int64_t ns = 0;
};

std::vector<OverlapRow> CollectOverlap(TraceRun* run) {
  std::vector<OverlapRow> rows;
  const ReportRoles* const roles = RolesOf(run);
  if (roles == nullptr) return rows;
  for (const ReportRoleOverlap& of : roles->overlap) {
    OverlapRow& row = rows.emplace_back();
    for (const std::string& role : of.roles) row.roles += (row.roles.empty() ? "" : "+") + role;
    row.ns = of.ns;
  }
  return rows;
}

TraceTable OverlapTable() {
  using Row = OverlapRow;
  return MakeShortTable<Row, CollectOverlap>(
      "role_overlap", "for how long these roles, and no others, were at work at once",
      {{{"roles", kText}, [](const Row& row) { return ToCell(row.roles); }},
       {{"ns"}, [](const Row& row) { return ToCell(row.ns); }}});
}

// A figure of the training of the run.
struct FigureRow {
  const char* figure = "";
  std::string name;
  double value = 0;
};

class Figures {
 public:
  template <typename Value>
  void Add(const char* figure, const std::string& name, Value value) {
    rows_.push_back({figure, name, static_cast<double>(value)});
  }
  void Add(const char* figure, const std::string& name, const std::optional<double>& value) {
    if (value) Add(figure, name, *value);
  }
  std::vector<FigureRow> Take() { return std::move(rows_); }

 private:
  std::vector<FigureRow> rows_;
};

void AddWork(const ReportWork& work, Figures* figures) {
  const std::string& of = work.counter;
  figures->Add("work_done", of, work.done);
  figures->Add("work_ns", of, work.ns);
  figures->Add("work_per_second", of, work.per_second);
  figures->Add("work_per_simulation_second", of, work.per_simulation_second);
  figures->Add("work_per_simulation_and_inference_second", of,
               work.per_simulation_and_inference_second);
  figures->Add("gpu_seconds_per_million", of, work.gpu_seconds_per_million);
  figures->Add("gpu_busy_seconds_per_million", of, work.gpu_busy_seconds_per_million);
}

void AddSamples(const ReportSamples& samples, Figures* figures) {
  figures->Add("samples_consumed", "", samples.consumed);
  figures->Add("samples_discarded", "", samples.discarded);
  figures->Add("samples_discarded_share", "", samples.discarded_share);
  for (const DiscardedSamples& row : samples.reasons) {
    figures->Add("samples_discarded_because", row.reason, row.samples);
  }
  figures->Add("samples_of_unknown_version", "", samples.unknown_version);
  for (const VersionsBehind& row : samples.versions_behind) {
    figures->Add("samples_behind", std::to_string(row.behind), row.samples);
  }
  figures->Add("versions_behind_mean", "", samples.mean_behind);
  figures->Add("rollout_gpu_ns", "", samples.rollout_gpu_ns);
  figures->Add("goodput", "", samples.goodput);
}

void AddRoles(const ReportRoles& roles, Figures* figures) {
  figures->Add("perfect_overlap_ns", "", roles.perfect_overlap_ns);
  figures->Add("perfect_overlap_saves", "", roles.PerfectOverlapSaves());
  if (!roles.tail) return;
  const ReportTail& tail = *roles.tail;
  figures->Add("tail_rollouts", "", tail.rollouts);
  figures->Add("tail_parts", "", tail.parts);
  figures->Add("tail_median_ns", "", tail.median_ns);
  figures->Add("tail_p95_ns", "", tail.p95_ns);
  figures->Add("tail_max_ns", "", tail.max_ns);
  figures->Add("tail_rollout_ns", "", tail.rollout_ns);
  figures->Add("tail_ns", "", tail.tail_ns);
  figures->Add("tail_held_ns", "", tail.held_ns);
  figures->Add("tail_busy_ns", "", tail.busy_ns);
}

std::vector<FigureRow> CollectFigures(TraceRun* run) {
  Figures figures;
  const RunTraining* const training = TrainingOf(run);
  if (training == nullptr) return {};
  for (const ReportWork& work : training->work) AddWork(work, &figures);
  if (training->samples) AddSamples(*training->samples, &figures);
  if (training->roles) AddRoles(*training->roles, &figures);
  return figures.Take();
}

TraceTable TrainingTable() {
  using Row = FigureRow;
  return MakeShortTable<Row, CollectFigures>(
      "training", "a figure of what the program said of its training",
      {{{"figure", kText}, [](const Row& row) { return ToCell(std::string_view(row.figure)); }},
       {{"name", kText}, [](const Row& row) { return TextOrNull(row.name); }},
       {{"value", kReal}, [](const Row& row) { return ToCell(row.value); }}});
}

struct ProcessTrainingRow {
  size_t process = 0;
  ReportFlops flops;
  ReportWeightSync sync;
  bool has_flops = false;
  bool has_sync = false;
};

std::vector<ProcessTrainingRow> CollectProcessTraining(TraceRun* run) {
  std::vector<ProcessTrainingRow> rows;
  const Report* const report = run->report();
  if (report == nullptr) return rows;
  for (size_t p = 0; p < report->processes.size(); ++p) {
    const auto& training = report->processes[p].training;
    const std::optional<size_t> process = run->ProcessOf(p);
    if (!process || training == nullptr) continue;
    ProcessTrainingRow& row = rows.emplace_back();
    row.process = *process;
    row.has_flops = training->flops.has_value();
    row.has_sync = training->weight_sync.has_value();
    row.flops = training->flops.value_or(ReportFlops{});
    row.sync = training->weight_sync.value_or(ReportWeightSync{});
  }
  return rows;
}

template <auto kMember>
Cell OfFlops(const ProcessTrainingRow& row) {
  return row.has_flops ? ToCell(row.flops.*kMember) : Cell();
}
template <auto kMember>
Cell OfSync(const ProcessTrainingRow& row) {
  return row.has_sync ? ToCell(row.sync.*kMember) : Cell();
}

TraceTable ProcessTrainingTable() {
  using Row = ProcessTrainingRow;
  return MakeShortTable<Row, CollectProcessTraining>(
      "process_training", "model FLOPs and weight syncs of a process",
      {{{"process", kInteger, ColumnRole::kProcess},
        [](const Row& row) { return ToCell(row.process + 1); }},
       {{"flops", kReal}, OfFlops<&ReportFlops::done>},
       {{"flops_ns"}, OfFlops<&ReportFlops::ns>},
       {{"flops_gpu_busy_ns"}, OfFlops<&ReportFlops::gpu_busy_ns>},
       {{"mfu", kReal}, OfFlops<&ReportFlops::mfu>},
       {{"busy_mfu", kReal}, OfFlops<&ReportFlops::busy_mfu>},
       {{"weight_syncs"}, OfSync<&ReportWeightSync::count>},
       {{"weight_sync_exposed_ns"}, OfSync<&ReportWeightSync::exposed_ns>},
       {{"weight_sync_hidden_ns"}, OfSync<&ReportWeightSync::hidden_ns>},
       {{"weight_sync_of_ns"}, OfSync<&ReportWeightSync::ns>},
       {{"weight_sync_bytes", kReal}, OfSync<&ReportWeightSync::bytes>}});
}

}  // namespace

std::vector<TraceTable> TrainingTables() {
  return {RoleTable(),    RoleProcessTable(), BubbleTable(),
          OverlapTable(), TrainingTable(),    ProcessTrainingTable()};
}

}  // namespace gpubound
