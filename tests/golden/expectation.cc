// SPDX-License-Identifier: Apache-2.0
//
// Reads expectations, and reports in their terms. No state beyond the parser.
#include "tests/golden/expectation.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <sstream>

#include "analysis/output/text/headline.h"
#include "analysis/report/report_training.h"
#include "analysis/trace/row_names.h"
#include "tests/golden/expectation_keys.h"

namespace gpubound::golden {
namespace {

bool IsList(const std::string& section) {
  return section.starts_with("cells") || section.starts_with("lane ") ||
         section.starts_with("gaps");
}
bool IsTable(const std::string& section) {
  return section.starts_with("rows") || section.starts_with("idle") ||
         section.starts_with("kernels") || section == "devices" || section == "parts" ||
         section == "iterations by operation" || section == "operations on devices" ||
         section == "ranks" || section == "targets" || section == "work" || section == "roles" ||
         section == "overlap";
}
bool IsValues(const std::string& section) {
  return section.starts_with("process") || section == "iterations" || section == "run" ||
         section == "ledger" || section.starts_with("flops") ||
         section.starts_with("weight-sync") || section == "samples" || section == "tail" ||
         section == "together";
}

std::string Trim(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

bool AddValue(const std::string& section, const std::string& word, Values* values) {
  const size_t equals = word.rfind('=');
  if (equals == std::string::npos || !IsKey(section, word.substr(0, equals))) return false;
  (*values)[word.substr(0, equals)] = std::stoll(word.substr(equals + 1));
  return true;
}

const ReportProcess& ProcessOf(const Report& report, const std::string& section) {
  const size_t of = section.rfind(" of ");
  if (of == std::string::npos) return report.processes.front();
  const int64_t pid = std::stoll(section.substr(of + 4));
  return *std::find_if(report.processes.begin(), report.processes.end(),
                       [pid](const ReportProcess& process) { return process.pid == pid; });
}

std::vector<std::string> CellLines(const std::vector<ReportCell>& cells) {
  std::vector<std::string> lines;
  for (const ReportCell& cell : cells) {
    lines.push_back(cell.phase + " | " + cell.operation + " | " + cell.layer + " | " + cell.gpu +
                    " | " + std::to_string(cell.ns));
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

std::vector<std::string> GapLines(const ReportProcess& process) {
  std::vector<std::string> lines;
  for (const ReportGap& gap : process.gaps) {
    lines.push_back(std::to_string(gap.begin_ns) + " | " + std::to_string(gap.ns) + " | " +
                    gap.cause + " | " + gap.operation_at_begin + ", " + gap.layer_at_begin + " | " +
                    gap.operation_at_end + ", " + gap.layer_at_end);
  }
  return lines;
}

Values RowValues(const ReportOperation& row) {
  Values values = {{"wall", row.wall_ns},
                   {"cpu_only", row.cpu_only_ns},
                   {"cpu_gpu", row.cpu_gpu_ns},
                   {"gpu_only", row.gpu_only_ns},
                   {"waiting", row.waiting_ns},
                   {"idle", row.idle_ns},
                   {"unknown", row.unknown_ns},
                   {"gpu_busy", row.gpu_busy_ns},
                   {"gpu_compute", row.gpu_compute_ns},
                   {"gpu_comm", row.gpu_comm_ns},
                   {"gpu_copy", row.gpu_copy_ns},
                   {"gpu_wait", row.gpu_wait_ns},
                   {"gpu_caused", row.gpu_caused_ns},
                   {"gpu_sum", row.gpu_sum_ns},
                   {"sm_filled", row.sm_filled_ns},
                   {"count", static_cast<int64_t>(row.count)},
                   {"inclusive_wall", row.inclusive_wall_ns},
                   {"launches", static_cast<int64_t>(row.launches.count)},
                   {"launch_lead", row.launches.lead_median_ns.value_or(0)},
                   {"queue_depth", row.launches.depth_p95.value_or(0)},
                   {"inherited", row.inherited ? 1 : 0},
                   {"busy_bound", row.gpu_busy_is_upper_bound ? 1 : 0},
                   {"caused_bound", row.gpu_caused_is_upper_bound ? 1 : 0},
                   {"caused_at_least", row.gpu_caused_is_lower_bound ? 1 : 0}};
  for (const auto& [name, count] : row.transitions) values[name] = static_cast<int64_t>(count);
  return values;
}

Values IdleValues(const ReportOperation& row) {
  Values values;
  for (const CauseTime& cause : row.device_idle) {
    values[cause.cause] = cause.ns;
    values["sum"] += cause.ns;
  }
  return values;
}

Values KernelValues(const ReportKernel& kernel) {
  Values values = {{"count", static_cast<int64_t>(kernel.count)},
                   {"sum", kernel.sum_ns},
                   {"mean", kernel.mean_ns},
                   {"median", kernel.median_ns},
                   {"p95", kernel.p95_ns},
                   {"sm_filled", kernel.sm_filled_ns},
                   {"bound", kernel.sm_fill_is_upper_bound ? 1 : 0}};
  for (const ReportGraphNode& node : kernel.nodes) {
    values[node.name + "," + node.captured_in] = static_cast<int64_t>(node.count);
  }
  values["nodes"] = static_cast<int64_t>(kernel.nodes.size());
  values["comm"] = kernel.work_class == "comm" ? 1 : 0;
  values["copy"] = kernel.work_class == "copy" ? 1 : 0;
  return values;
}

Values DeviceValues(const ReportDevice& device) {
  Values values = {{"busy", device.busy_ns},
                   {"unused", device.used ? 0 : 1},
                   {"unknown", device.has_unknown_time ? 1 : 0},
                   {"busy_bound", device.busy_is_upper_bound ? 1 : 0}};
  for (const ReportDeviceBand& band : device.processes) {
    values["alone:" + std::to_string(band.pid)] = band.alone_ns;
    values["contended:" + std::to_string(band.pid)] = band.contended_ns;
  }
  return values;
}

Values RankValues(const ReportRank& rank) {
  Values values = {{"collectives", static_cast<int64_t>(rank.collectives)},
                   {"time", rank.comm_sum_ns},
                   {"peer_wait", rank.peer_wait_ns},
                   {"moving", rank.moving_ns},
                   {"unmatched", rank.unmatched_ns},
                   {"late", static_cast<int64_t>(rank.late)},
                   {"waited_for", rank.waited_for_ns},
                   {"wait_at_most", rank.peer_wait_is_upper_bound ? 1 : 0},
                   {"wait_at_least", rank.peer_wait_is_lower_bound ? 1 : 0},
                   {"late_doubtful", rank.late_is_doubtful ? 1 : 0}};
  for (const ReportActivity& activity : rank.while_late) {
    values["late_in:" + activity.operation + "," + activity.layer] = activity.ns;
  }
  return values;
}

Values IterationValues(const Report& report) {
  const std::optional<ReportIterations>& found = report.processes.front().iterations;
  if (!found) return {};
  Values values = {{"warm_up", static_cast<int64_t>(found->warm_up)},
                   {"count", static_cast<int64_t>(found->count)},
                   {"start_up", found->start_up_ns},
                   {"warm_up_ns", found->warm_up_ns},
                   {"total", found->total_ns},
                   {"shutdown", found->shutdown_ns},
                   {"mean", found->mean_ns},
                   {"median", found->median_ns},
                   {"p95", found->p95_ns},
                   {"gpu_busy", found->gpu_busy_ns},
                   {"named_by_program", found->naming.program_ns},
                   {"named_by_rules", found->naming.rules_ns},
                   {"waiting_unnamed", found->naming.waiting_ns},
                   {"stage_alone", found->naming.stage_ns},
                   {"unnamed", found->naming.none_ns}};
  for (const auto& [cause, idle_ns] : found->series.idle_ns) {
    for (size_t i = 0; i < idle_ns.size(); ++i) {
      values[cause + ":" + std::to_string(i + 1)] = idle_ns[i];
    }
  }
  if (!found->slowest.empty()) {
    values["slowest"] = static_cast<int64_t>(found->slowest.front().number);
    values["slowest_ns"] = found->slowest.front().ns;
  }
  return values;
}

Values TargetValues(const ReportTarget& target) {
  Values values = {{"reached", target.reached_ns.value_or(-1)},
                   {"known", target.why_not.empty() ? 1 : 0},
                   {"records", static_cast<int64_t>(target.records)},
                   {"pid", target.pid},
                   {"parts", target.parts_ns}};
  for (const TargetPart& part : target.parts) {
    values["wall:" + part.operation] = part.wall_ns;
    values["busy:" + part.operation] = part.gpu_busy_ns;
  }
  return values;
}

int64_t PerMille(const std::optional<double>& share) {
  return share ? std::llround(*share * 1000) : -1;
}

Values WorkValues(const ReportWork& work) {
  const auto rounded = [](const std::optional<double>& value) {
    return value ? std::llround(*value) : -1;
  };
  // Seconds for a million are thousands of ns for each.
  const auto ns_each = [&rounded](std::optional<double> seconds_per_million) {
    if (seconds_per_million) *seconds_per_million *= 1000;
    return rounded(seconds_per_million);
  };
  return {{"done", std::llround(work.done)},
          {"ns", work.ns},
          {"per_second", std::llround(work.per_second)},
          {"per_simulation", rounded(work.per_simulation_second)},
          {"per_both", rounded(work.per_simulation_and_inference_second)},
          {"gpu_ns", ns_each(work.gpu_seconds_per_million)},
          {"gpu_busy_ns", ns_each(work.gpu_busy_seconds_per_million)}};
}

Values FlopsValues(const ReportProcess& process) {
  if (process.training == nullptr || !process.training->flops) return {};
  const ReportFlops& flops = *process.training->flops;
  return {{"done", std::llround(flops.done)},
          {"ns", flops.ns},
          {"busy", flops.gpu_busy_ns},
          {"mfu", PerMille(flops.mfu)},
          {"busy_mfu", PerMille(flops.busy_mfu)},
          {"impossible", flops.IsImpossible() ? 1 : 0}};
}

Values SyncValues(const ReportProcess& process) {
  if (process.training == nullptr || !process.training->weight_sync) return {};
  const ReportWeightSync& sync = *process.training->weight_sync;
  return {{"count", static_cast<int64_t>(sync.count)},
          {"iterations", static_cast<int64_t>(sync.iterations)},
          {"ns", sync.ns},
          {"exposed", sync.exposed_ns},
          {"hidden", sync.hidden_ns},
          {"bytes", sync.bytes ? std::llround(*sync.bytes) : -1}};
}

Values SampleValues(const ReportRun& run) {
  if (run.training == nullptr || !run.training->samples) return {};
  const ReportSamples& samples = *run.training->samples;
  Values values = {{"consumed", std::llround(samples.consumed)},
                   {"discarded", std::llround(samples.discarded)},
                   {"unknown_version", std::llround(samples.unknown_version)},
                   {"discarded_share", PerMille(samples.discarded_share)},
                   {"goodput", PerMille(samples.goodput)},
                   {"rollout_gpu", samples.rollout_gpu_ns}};
  for (const VersionsBehind& row : samples.versions_behind) {
    values["behind:" + std::to_string(row.behind)] = std::llround(row.samples);
  }
  for (const DiscardedSamples& row : samples.reasons) {
    values["reason:" + row.reason] = std::llround(row.samples);
  }
  return values;
}

const ReportRoles* RolesOf(const Report& report) {
  const auto& training = report.run.training;
  return training == nullptr || !training->roles ? nullptr : &*training->roles;
}

Values RoleValues(const ReportRole& role) {
  Values values = {{"active", role.active_ns},
                   {"held", role.held_ns},
                   {"busy", role.busy_ns},
                   {"idle", role.idle_ns},
                   {"unknown", role.unknown_ns},
                   {"bubble_ratio", PerMille(role.BubbleRatio())},
                   {"processes", static_cast<int64_t>(role.processes.size())},
                   {"inferred", 0}};
  for (const ReportRoleProcess& process : role.processes) {
    values["inferred"] += process.inferred ? 1 : 0;
    values["active:" + std::to_string(process.pid)] += process.active_ns;
  }
  for (const ReportBubble& bubble : role.bubbles) {
    std::string cause = bubble.cause;
    std::replace(cause.begin(), cause.end(), ' ', '_');
    values[cause] = bubble.ns;
  }
  return values;
}

std::string NameOf(const ReportRoleOverlap& row) {
  std::string name;
  for (const std::string& role : row.roles) name += (name.empty() ? "" : "+") + role;
  return name.empty() ? "none" : name;
}

Values TailValues(const ReportRoles& roles) {
  if (!roles.tail) return {{"rollouts", 0}};
  const ReportTail& tail = *roles.tail;
  return {{"rollouts", static_cast<int64_t>(tail.rollouts)},
          {"parts", static_cast<int64_t>(tail.parts)},
          {"median", tail.median_ns},
          {"p95", tail.p95_ns},
          {"max", tail.max_ns},
          {"rollout", tail.rollout_ns},
          {"tail", tail.tail_ns},
          {"held", tail.held_ns},
          {"busy", tail.busy_ns}};
}

Values ProcessValues(const ReportProcess& process) {
  Values values = {{"span", process.span_ns},
                   {"gpu_busy", process.gpu_busy_ns},
                   {"gpu_wait", process.gpu_wait_ns},
                   {"gpu_sum", process.gpu_sum_ns},
                   {"unknown", process.unknown_ns},
                   {"lanes", static_cast<int64_t>(process.lanes.size())},
                   {"queued_gaps", static_cast<int64_t>(process.queued_gaps.count)},
                   {"queued_gaps_mean", process.queued_gaps.mean_ns},
                   {"event_wait_gaps", static_cast<int64_t>(process.event_wait_gaps.count)},
                   {"event_wait_gaps_mean", process.event_wait_gaps.mean_ns},
                   {"busy_bound", process.gpu_busy_is_upper_bound ? 1 : 0}};
  for (const ReportWait& wait : process.waits) {
    std::string pids;
    for (const int64_t pid : wait.pids) pids += (pids.empty() ? "" : "+") + std::to_string(pid);
    values["waits:" + pids] += wait.ns;
  }
  for (const ReportAwaited& awaited : process.awaited) {
    const std::string pid = std::to_string(awaited.pid);
    values["awaited:" + pid] += awaited.ns;
    values["worker:" + pid] = awaited.worker ? 1 : 0;
    for (const ReportActivity& activity : awaited.meanwhile) {
      const bool none = activity.operation == kNoOperation;
      values["meanwhile:" + pid + ":" + (none ? "-" : activity.operation) + "," + activity.layer] =
          activity.ns;
    }
  }
  return values;
}

Values RunValues(const ReportRun& run) {
  return {{"wall", run.wall_ns},
          {"devices_used", run.devices_used},
          {"headline", run.headline_ns},
          {"gpu_busy_percent", std::llround(run.gpu_busy_share * 100)},
          {"whole_gpu_busy_percent", std::llround(run.whole_gpu_busy_share * 100)},
          {"devices_unused", static_cast<int64_t>(run.devices_unused.size())},
          {"busy_bound", run.gpu_busy_is_upper_bound ? 1 : 0},
          {"busy_at_least", run.gpu_busy_is_lower_bound ? 1 : 0},
          {"whole_busy_bound", run.whole_gpu_busy_is_upper_bound ? 1 : 0}};
}

}  // namespace

bool ExpectationParser::Begin(const std::vector<std::string>& words) {
  section_.clear();
  if (words.size() > 2 && words[1] == "headline") {
    std::string& text = expectation_.lists["headline"].emplace_back();
    for (size_t i = 2; i < words.size(); ++i) text += (i == 2 ? "" : " ") + words[i];
    return true;
  }
  size_t next = 1;
  for (; next < words.size() && words[next].find('=') == std::string::npos; ++next) {
    section_ += (section_.empty() ? "" : " ") + words[next];
  }
  if (IsList(section_)) return expectation_.lists[section_], next == words.size();
  if (IsTable(section_)) return expectation_.tables[section_], next == words.size();
  if (!IsValues(section_) || next == words.size()) return false;
  Values& values = expectation_.values[section_];
  for (; next < words.size(); ++next) {
    if (!AddValue(section_, words[next], &values)) return false;
  }
  section_.clear();
  return true;
}

bool ExpectationParser::Line(const std::string& line) {
  if (IsList(section_) && line.find('|') != std::string::npos) {
    std::string normal;
    std::istringstream parts(line);
    std::string part;
    while (std::getline(parts, part, '|')) normal += (normal.empty() ? "" : " | ") + Trim(part);
    expectation_.lists[section_].push_back(normal);
    return true;
  }
  const size_t colon = line.find(": ");
  if (!IsTable(section_) || colon == std::string::npos) return false;
  Values& values = expectation_.tables[section_][line.substr(0, colon)];
  std::istringstream words(line.substr(colon + 2));
  std::string word;
  while (words >> word) {
    if (!AddValue(section_, word, &values)) return false;
  }
  return true;
}

std::vector<std::string> ActualList(const Report& report, const std::string& section) {
  if (section == "headline") return {HeadlineText(report)};
  const ReportProcess& process = ProcessOf(report, section);
  if (section.starts_with("cells")) return CellLines(process.cells);
  if (section.starts_with("gaps")) return GapLines(process);
  const std::string name = section.substr(5, section.rfind(" of ") - 5);
  for (const ReportLane& lane : process.lanes) {
    if (lane.thread == name) return CellLines(lane.cells);
  }
  return {"no lane " + name};
}

Table ActualTable(const Report& report, const std::string& section) {
  Table table;
  if (section == "devices") {
    for (const ReportDevice& device : report.devices) table[device.name] = DeviceValues(device);
  } else if (section == "parts") {
    for (const ReportPart& part : report.run.parts) {
      table[part.part] = {{"wall", part.wall_ns},
                          {"gpu_busy", part.gpu_busy_ns},
                          {"busy_bound", part.gpu_busy_is_upper_bound ? 1 : 0}};
    }
  } else if (section == "iterations by operation") {
    for (const ReportIterationOperation& row : report.processes.front().iterations->operations) {
      table[row.operation] = {{"wall", row.wall_ns}, {"gpu_busy", row.gpu_busy_ns}};
    }
  } else if (section == "work") {
    if (report.run.training == nullptr) return table;
    for (const ReportWork& work : report.run.training->work) table[work.counter] = WorkValues(work);
  } else if (section == "roles" || section == "overlap") {
    const ReportRoles* const roles = RolesOf(report);
    if (roles == nullptr) return table;
    for (const ReportRole& role : roles->roles) {
      if (section == "roles") table[role.role] = RoleValues(role);
    }
    for (const ReportRoleOverlap& row : roles->overlap) {
      if (section == "overlap") table[NameOf(row)] = {{"ns", row.ns}};
    }
  } else if (section == "targets") {
    if (report.run.training == nullptr) return table;
    for (const ReportTarget& target : report.run.training->targets) {
      table[target.target] = TargetValues(target);
    }
  } else if (section == "ranks") {
    for (const ReportRank& rank : report.ranks) {
      table[std::to_string(rank.pid) + " on " + std::to_string(rank.ordinal)] = RankValues(rank);
    }
  } else if (section == "operations on devices") {
    for (const ReportOperationDevice& row : report.operation_devices) {
      table[row.operation + " on " + row.device] = {
          {"wall", row.wall_ns},
          {"busy", row.busy_ns},
          {"idle", row.idle_ns},
          {"unknown", row.unknown_ns},
          {"busy_bound", row.busy_is_upper_bound ? 1 : 0}};
    }
  } else if (section.starts_with("kernels")) {
    for (const ReportOperationKernel& row : ProcessOf(report, section).operation_kernels) {
      table[row.kernel.name + " in " + row.operation] = KernelValues(row.kernel);
    }
  } else {
    const bool idle = section.starts_with("idle");
    for (const ReportOperation& row : ProcessOf(report, section).operations) {
      table[row.operation] = idle ? IdleValues(row) : RowValues(row);
    }
  }
  return table;
}

Values ActualValues(const Report& report, const std::string& section) {
  if (section == "iterations") return IterationValues(report);
  if (section == "run") return RunValues(report.run);
  if (section == "samples") return SampleValues(report.run);
  if (section == "tail" || section == "together") {
    const ReportRoles* const roles = RolesOf(report);
    if (roles == nullptr) return {{"roles", 0}};
    if (section == "tail") return TailValues(*roles);
    return {{"ns", roles->ns},
            {"roles", static_cast<int64_t>(roles->roles.size())},
            {"perfect_overlap", roles->perfect_overlap_ns}};
  }
  if (section.starts_with("flops")) return FlopsValues(ProcessOf(report, section));
  if (section.starts_with("weight-sync")) return SyncValues(ProcessOf(report, section));
  if (section.starts_with("process")) return ProcessValues(ProcessOf(report, section));
  Values values;
  for (const ReportLedgerEntry& entry : report.ledger) {
    values[entry.counter] = static_cast<int64_t>(entry.value);
  }
  return values;
}

}  // namespace gpubound::golden
