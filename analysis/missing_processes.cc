// SPDX-License-Identifier: Apache-2.0
//
// Looks for who is missing, and through the events for waits that nobody who is there explains.
#include "analysis/missing_processes.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "analysis/event_source.h"
#include "analysis/label_roles.h"
#include "analysis/memory_source.h"
#include "analysis/segment.h"
#include "analysis/text_table.h"
#include "analysis/wait_channels.h"

namespace gpubound {
namespace {

using Wanted = std::function<bool(const Label&)>;

std::optional<ProcessIdentity> IdentityFrom(const std::string& recorded) {
  const auto name = ParseTraceFileName(recorded + ".live");
  return name ? std::optional(name->identity) : std::nullopt;
}

std::set<ProcessIdentity> RecordedOf(const RunInfo& info) {
  std::set<ProcessIdentity> all;
  for (const std::string& recorded : info.recorded) {
    if (const auto identity = IdentityFrom(recorded)) all.insert(*identity);
  }
  return all;
}

// Processes of one import have host and start in common, and say the same.
std::set<ProcessIdentity> ImportedOf(const std::vector<ProcessTrace>& processes) {
  std::set<std::tuple<std::string_view, int64_t, std::string_view>> imports;
  for (const ProcessTrace& process : processes) {
    const ProcessIdentity& identity = process.identity;
    imports.emplace(identity.host, identity.start_realtime_ns, process.imported_pids);
  }
  std::set<ProcessIdentity> all;
  for (const auto& [host, start_ns, pids] : imports) {
    std::istringstream words{std::string(pids)};
    for (int64_t pid = 0; words >> pid;) all.insert({std::string(host), pid, start_ns});
  }
  return all;
}

// Whether a wait under |label| is for |pid|, among others perhaps.
bool Awaits(const Label& label, int64_t pid) {
  if (label.domain == kChannelDomain) {
    return label.text.find("process:[" + std::to_string(pid) + "]") != std::string::npos;
  }
  const std::vector<int64_t> pids = AwaitedPids(label);
  return std::binary_search(pids.begin(), pids.end(), pid);
}

// How long scopes with labels that are wanted were open on |thread|; nested ones count once.
int64_t OpenTime(const ProcessTrace& process, uint32_t thread, const std::vector<bool>& wanted) {
  const auto is_wanted = [&wanted](LabelId label) {
    return Raw(label) < wanted.size() && wanted[Raw(label)];
  };
  int64_t sum_ns = 0;
  int64_t since_ns = 0;
  int64_t open = 0;
  const auto go_to = [&](int64_t depth, int64_t now_ns) {
    if (open > 0) sum_ns += now_ns - since_ns;
    open = std::max<int64_t>(0, depth);
    since_ns = now_ns;
  };
  const std::unique_ptr<ThreadCursor> cursor = SourceOf(process)->ThreadEvents(thread);
  ThreadBatch batch;
  while (cursor->Next(&batch)) {
    if (batch.resync) {
      go_to(std::count_if(batch.open.begin(), batch.open.end(), is_wanted),
            batch.events.front().time_ns);
    }
    for (const ThreadEvent& event : batch.events) {
      if (!is_wanted(event.label)) continue;
      if (event.kind == SlotKind::kBegin) go_to(open + 1, event.time_ns);
      if (event.kind == SlotKind::kEnd) go_to(open - 1, event.time_ns);
    }
  }
  go_to(0, std::max(since_ns, process.span_end_ns));
  return sum_ns;
}

// How long threads of |host| waited under wait labels that are |wanted|.
int64_t WaitTime(const Run& run, const std::string& host, const Wanted& wanted) {
  int64_t sum_ns = 0;
  for (const ProcessTrace& process : run.processes) {
    if (process.identity.host != host) continue;
    std::vector<bool> labels;
    for (const Label& label : process.labels) {
      labels.push_back(label.kind == LabelKind::kLayer && label.layer == Layer::kWait &&
                       wanted(label));
    }
    if (std::find(labels.begin(), labels.end(), true) == labels.end()) continue;
    for (uint32_t t = 0; t < process.threads.size(); ++t) sum_ns += OpenTime(process, t, labels);
  }
  return sum_ns;
}

std::string NoteOn(const Run& run, const ProcessIdentity& missing, const std::string& had) {
  const int64_t named_ns = WaitTime(
      run, missing.host, [&missing](const Label& label) { return Awaits(label, missing.pid); });
  // Who held the other end of a channel that nobody claims may have said so in a missing file.
  const int64_t unclaimed_ns = WaitTime(
      run, missing.host, [](const Label& label) { return label.domain == kChannelDomain; });
  std::string note = "pid " + std::to_string(missing.pid) + " of host " + missing.host + " was " +
                     had + ", but none of its files is there.";
  if (named_ns > 0) note += " Others waited " + FormatTime(named_ns) + " for it.";
  if (unclaimed_ns > named_ns) {
    note += " Processes waited " + FormatTime(unclaimed_ns) +
            " for pipes and sockets of which nobody who is there has the other end.";
  }
  return note;
}

std::string NoteOnUnlisted(const RunInfo& info, const ProcessTrace& process) {
  const int64_t begun_ns = process.BegunNs();
  std::string note = "pid " + std::to_string(process.identity.pid) +
                     (process.name.empty() ? "" : " (" + process.name + ")") + " of host " +
                     process.identity.host +
                     " has files here, but had none when the command had ended";
  if (begun_ns >= *info.end_monotonic_ns) {
    note += "; it began " + FormatTime(begun_ns - *info.end_monotonic_ns) + " after that";
  } else if (begun_ns < info.start_monotonic_ns) {
    note += "; it began " + FormatTime(info.start_monotonic_ns - begun_ns) + " before the run";
  }
  return note + ". If it is of another run, move its files away.";
}

bool IsListed(const ProcessIdentity& identity, const std::set<ProcessIdentity>& listed) {
  return std::any_of(listed.begin(), listed.end(), [&identity](const ProcessIdentity& known) {
    return known.pid == identity.pid && known.start_realtime_ns == identity.start_realtime_ns &&
           IsNameOfHost(known.host, identity.host);
  });
}

}  // namespace

void NoteMissingProcesses(const std::set<ProcessIdentity>& present,
                          const std::set<ProcessIdentity>& overwritten, Run* run) {
  std::map<ProcessIdentity, std::string> missing;  // and what it was
  const auto look_for = [&](const std::set<ProcessIdentity>& all, const std::string& had) {
    for (const ProcessIdentity& identity : all) {
      if (!present.contains(identity)) missing.emplace(identity, had);
    }
  };
  look_for(overwritten, "recorded");
  if (run->info) look_for(RecordedOf(*run->info), "recorded");
  look_for(ImportedOf(run->processes), "imported");
  for (const auto& [identity, had] : missing) {
    ++run->Count(LedgerCounter::processes_missing);
    run->lost.push_back(identity);
    run->problems.push_back(NoteOn(*run, identity, had));
  }
}

void NoteUnlistedProcesses(Run* run) {
  // On a full disk the launcher leaves the list out.
  if (!run->info || !run->info->end_monotonic_ns || run->info->recorded.empty()) return;
  const std::set<ProcessIdentity> listed = RecordedOf(*run->info);
  for (const ProcessTrace& process : run->processes) {
    if (process.identity.host != run->info->host || IsListed(process.identity, listed)) continue;
    ++run->Count(LedgerCounter::processes_unlisted);
    run->problems.push_back(NoteOnUnlisted(*run->info, process));
  }
}

}  // namespace gpubound
