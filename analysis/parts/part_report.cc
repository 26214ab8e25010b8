// SPDX-License-Identifier: Apache-2.0
//
// No state.
#include "analysis/parts/part_report.h"

#include <utility>
#include <vector>

#include "analysis/attribution/build_report.h"
#include "analysis/base/text_table.h"
#include "analysis/parts/machine_part.h"
#include "analysis/parts/part_file.h"

namespace gpubound {
namespace {

constexpr char kNoEvents[] = "parts of a run hold no events";

}  // namespace

Result<std::vector<MachinePart>> LoadParts(const std::string& path) {
  const Result<std::vector<StoredPart>> stored = ReadParts(path);
  if (!stored.ok()) return stored.error();
  return LoadParts(*stored, path);
}

Result<PartsReport> ReportOfParts(const std::string& path, const BreakdownOptions& options) {
  Result<std::vector<MachinePart>> parts = LoadParts(path);
  if (!parts.ok()) return parts.error();
  const size_t machines = parts->size();
  Result<CombinedRun> combined = CombineParts(std::move(*parts));
  if (!combined.ok()) return combined.error();
  if (!options.operations.empty() && options.operations != combined->operations) {
    return Error{"choosing operations", path, "--operations for a report of parts",
                 "those that the parts were made with",
                 "Give --operations to gpubound part, and leave it out here."};
  }
  if (!options.targets.empty()) {
    return Error{"looking for a target", path, "parts of a run, which hold no counters",
                 "the run's directory", "Give the directory in which it was recorded."};
  }
  Run& run = combined->run;
  run.path = path;
  const bool explained = !combined->share.late.empty();
  Result<Report> made = ReportOfShare(run, std::move(combined->share), options);
  if (!made.ok()) return made.error();
  Report& report = *made;
  for (ReportProcess& process : report.processes) process.corrected_why_not = kNoEvents;
  report.notes.push_back(
      "This is made from parts of " + Counted(machines, "machine") +
      ", which hold no events: there are no corrected values, no critical path, no what-if, no "
      "timeline, no time to a target and no bound of roles" +
      (machines > 1 ? "; roles, samples and work per second need the events of all machines" : "") +
      (explained ? "." : ", and nobody knows what late ranks did."));
  return PartsReport{std::move(run), std::move(*made)};
}

}  // namespace gpubound
