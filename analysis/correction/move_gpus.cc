// SPDX-License-Identifier: Apache-2.0
//
// Counts the GPUs of roles. No state.
#include "analysis/correction/move_gpus.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "analysis/base/short_name.h"
#include "analysis/base/suggestion.h"
#include "analysis/report/report_training.h"
#include "analysis/trace/name_lists.h"
#include "analysis/trace/row_names.h"

namespace gpubound {
namespace {

std::optional<uint32_t> CountOf(std::string_view text) {
  uint32_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || end != text.data() + text.size() || count == 0) return std::nullopt;
  return count;
}

Error Unmovable(const GpuMove& move, std::string found, std::string expected, std::string remedy) {
  return {"changing", "GPUs from " + move.from + " to " + move.to, std::move(found),
          std::move(expected), std::move(remedy)};
}

// Devices that processes of |role| worked on.
std::set<std::string> DevicesOf(const Report& report, const ReportRole& role) {
  std::set<std::string> devices;
  for (const ReportDevice& device : report.devices) {
    for (const ReportDeviceBand& band : device.processes) {
      const bool is_its = std::any_of(role.processes.begin(), role.processes.end(),
                                      [&band](const ReportRoleProcess& process) {
                                        return process.host == band.host && process.pid == band.pid;
                                      });
      if (is_its) devices.insert(device.uuid);
    }
  }
  return devices;
}

std::string Gpus(size_t count) { return std::to_string(count) + (count == 1 ? " GPU" : " GPUs"); }

// Weights are as large for any number of GPUs.
void ScaleRole(const ReportRole& role, double factor, ResizedRoles* resized) {
  for (const ReportRoleProcess& process : role.processes) {
    for (const std::string& operation : process.operations) {
      if (operation == kNoOperation || WeightSyncNames().Matches(operation)) continue;
      resized->by_process[process.place].push_back({ScaledPart::kOperation, operation, factor});
    }
  }
}

}  // namespace

SpanRatio WithUnevenShares(SpanRatio ratio) {
  constexpr double kDeviation = 0.007;
  const double uneven = 1.96 * kDeviation * ratio.part;
  ratio.low = ratio.part - std::hypot(ratio.part - ratio.low, uneven);
  ratio.high = ratio.part + std::hypot(ratio.high - ratio.part, uneven);
  return ratio;
}

Result<GpuMove> ParseGpuMove(std::string_view text) {
  const auto misread = [text](std::string found) {
    return Error{
        "reading", "'" + std::string(text) + "'", std::move(found),
        "FROM:TO:K, for instance rollout:train:1",
        "FROM and TO are roles of the run, as gpubound report names them; K is a number of "
        "GPUs."};
  };
  const size_t last = text.rfind(':');
  const size_t first = text.find(':');
  if (first == std::string_view::npos || first == last)
    return misread("not two roles and a number");
  GpuMove move;
  move.from = text.substr(0, first);
  move.to = text.substr(first + 1, last - first - 1);
  const std::optional<uint32_t> count = CountOf(text.substr(last + 1));
  if (!count) return misread("no whole number of GPUs from 1 on");
  if (move.from.empty() || move.to.empty()) return misread("a role without a name");
  if (move.from == move.to) return misread("one role twice");
  move.gpus = *count;
  return move;
}

Result<ResizedRoles> ResizeRoles(const Report& report, const GpuMove& move) {
  const std::string roles_page = "docs/report.md says how a run gets roles.";
  if (report.run.training == nullptr || !report.run.training->roles) {
    return Unmovable(move, "no roles in the run", "processes with two roles or more", roles_page);
  }
  const std::vector<ReportRole>& roles = report.run.training->roles->roles;
  std::vector<std::string> names;
  for (const ReportRole& role : roles) names.push_back(role.role);
  const auto role_of = [&](const std::string& name) -> const ReportRole* {
    const auto found = std::find_if(roles.begin(), roles.end(),
                                    [&name](const ReportRole& role) { return role.role == name; });
    return found == roles.end() ? nullptr : &*found;
  };
  for (const std::string& name : {move.from, move.to}) {
    if (role_of(name) != nullptr) continue;
    const std::string closest = ClosestName(name, names);
    return Unmovable(move, "no role '" + name + "' in the run", ListedNames(names),
                     closest.empty() ? roles_page : "Did you mean '" + closest + "'?");
  }
  const ReportRole& from = *role_of(move.from);
  const ReportRole& to = *role_of(move.to);
  const std::set<std::string> gives = DevicesOf(report, from);
  const std::set<std::string> takes = DevicesOf(report, to);
  const bool shared = std::any_of(gives.begin(), gives.end(), [&takes](const std::string& device) {
    return takes.count(device) != 0;
  });
  if (shared) {
    return Unmovable(move, "GPUs that both use", "roles that have GPUs of their own",
                     "Of roles that take turns on the same GPUs each has all of them already.");
  }
  if (gives.size() <= move.gpus) {
    return Unmovable(move, move.from + " has " + Gpus(gives.size()),
                     "more than " + std::to_string(move.gpus) + ", so that one is left", "");
  }
  if (takes.empty()) {
    return Unmovable(move, move.to + " has no GPU", "a role that uses one",
                     "How fast it would be on a GPU, no run without one tells.");
  }
  ResizedRoles resized;
  resized.by_process.resize(report.processes.size());
  resized.moved = {move.from, move.to, static_cast<uint32_t>(gives.size()),
                   static_cast<uint32_t>(takes.size()), move.gpus};
  const auto ratio = [](size_t was, size_t is) {
    return static_cast<double>(was) / static_cast<double>(is);
  };
  ScaleRole(from, ratio(gives.size(), gives.size() - move.gpus), &resized);
  ScaleRole(to, ratio(takes.size(), takes.size() + move.gpus), &resized);
  return resized;
}

}  // namespace gpubound
