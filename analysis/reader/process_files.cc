// SPDX-License-Identifier: Apache-2.0
//
// Files whose names are right first, then the others where they find room. No state.
#include "analysis/reader/process_files.h"

#include <algorithm>
#include <utility>

namespace gpubound {
namespace {

std::string TextOf(const ProcessIdentity& identity) {
  return "process " + std::to_string(identity.pid) + " of host " + identity.host + ", begun at " +
         std::to_string(identity.start_realtime_ns);
}

bool Has(const ProcessFiles& files, uint32_t number) {
  return std::any_of(files.segments.begin(), files.segments.end(),
                     [number](const Segment& segment) { return segment.number() == number; });
}

std::string NoteOn(const Segment& segment, bool is_copy) {
  const TraceFileName& name = segment.name();
  return segment.path() + ": found segment " + std::to_string(segment.number()) + " of " +
         TextOf(segment.identity()) + ", expected segment " + std::to_string(name.segment) +
         " of " + TextOf(name.identity) + " as the file's name says. " +
         (is_copy
              ? "It is a copy of what is there under its own name too, and is left out. Whatever "
                "it was copied over is lost, unless it can be copied again."
              : "It is taken for what it says that it is.");
}

}  // namespace

GroupedFiles GroupByProcess(std::vector<Segment> segments) {
  GroupedFiles files;
  std::vector<Segment> misnamed;
  for (Segment& segment : segments) {
    if (segment.is_misnamed()) {
      misnamed.push_back(std::move(segment));
    } else {
      files.processes[segment.identity()].segments.push_back(std::move(segment));
    }
  }
  std::set<ProcessIdentity> there;
  for (const auto& [identity, of_process] : files.processes) {
    for (const Segment& segment : of_process.segments) there.insert(segment.name().identity);
  }
  for (Segment& segment : misnamed) {
    ProcessFiles& of_process = files.processes[segment.identity()];
    const bool is_copy = Has(of_process, segment.number());
    files.misnamed.push_back(NoteOn(segment, is_copy));
    const ProcessIdentity& named = segment.name().identity;
    if (!there.contains(named)) {
      files.not_there.insert(named);
      if (is_copy) files.overwritten.insert(named);
    }
    if (!is_copy) of_process.segments.push_back(std::move(segment));
  }
  for (auto& [identity, of_process] : files.processes) {
    std::sort(of_process.segments.begin(), of_process.segments.end(),
              [](const Segment& a, const Segment& b) { return a.number() < b.number(); });
  }
  return files;
}

void AddLive(const std::string& path, const TraceFileName& name, LiveFile live,
             GroupedFiles* files) {
  const ProcessIdentity& identity = name.identity;
  const LiveHeader& header = live.header();
  const ProcessIdentity found{identity.host, static_cast<int64_t>(header.pid),
                              header.start_realtime_ns};
  if (found == identity) {
    files->processes[identity].live = std::move(live);
    return;
  }
  files->misnamed.push_back(path + ": found the live mapping of " + TextOf(found) +
                            ", expected that of " + TextOf(identity) +
                            " as the file's name says. It is left out.");
}

}  // namespace gpubound
