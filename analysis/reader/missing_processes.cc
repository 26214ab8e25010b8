// SPDX-License-Identifier: Apache-2.0
//
// Looks for who is missing, and through the events for waits that nobody who is there explains.
#include "analysis/reader/missing_processes.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/base/text_table.h"
#include "analysis/reader/wait_channels.h"
#include "analysis/segments/segment.h"
#include "analysis/trace/event_source.h"
#include "analysis/trace/label_roles.h"
#include "analysis/trace/memory_source.h"
#include "analysis/trace/most_notes.h"

namespace gpubound {
namespace {

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

// Whom the waits of a host are asked about: each of |pids|, and last the channels that nobody
// claims. Who held the other end of such a one may have said so in a missing file.
struct Questions {
  explicit Questions(const std::set<int64_t>& asked) : pids(asked.begin(), asked.end()) {}
  size_t size() const { return pids.size() + 1; }
  // Those that a scope with |label| is part of the answer to.
  std::vector<size_t> Of(const Label& label) const {
    std::vector<size_t> of;
    if (label.kind != LabelKind::kLayer || label.layer != Layer::kWait) return of;
    for (size_t i = 0; i < pids.size(); ++i) {
      if (Awaits(label, pids[i])) of.push_back(i);
    }
    if (label.domain == kChannelDomain) of.push_back(pids.size());
    return of;
  }
  std::vector<int64_t> pids;  // ascending
};

// For how long scopes of each of several kinds are open on a thread; nested ones count once.
class OpenTimes {
 public:
  explicit OpenTimes(std::vector<int64_t>* sums_ns)
      : depths_(sums_ns->size()), since_ns_(sums_ns->size()), sums_ns_(*sums_ns) {}

  void Open(size_t kind, int64_t now_ns) { MoveTo(depths_[kind] + 1, now_ns, kind); }
  void Close(size_t kind, int64_t now_ns) { MoveTo(depths_[kind] - 1, now_ns, kind); }
  // What is open ends at |now_ns|, or where something was last told of it.
  void CloseAll(int64_t now_ns) {
    for (size_t kind = 0; kind < depths_.size(); ++kind) {
      MoveTo(0, std::max(since_ns_[kind], now_ns), kind);
    }
  }

 private:
  void MoveTo(int64_t depth, int64_t now_ns, size_t kind) {
    if (depths_[kind] > 0) sums_ns_[kind] += now_ns - since_ns_[kind];
    depths_[kind] = std::max<int64_t>(0, depth);
    since_ns_[kind] = now_ns;
  }

  std::vector<int64_t> depths_;
  std::vector<int64_t> since_ns_;
  std::vector<int64_t>& sums_ns_;
};

// Adds the waits of |thread|; |asked|: by label, Questions::Of().
void AddWaits(const ProcessTrace& process, uint32_t thread,
              const std::vector<std::vector<size_t>>& asked, std::vector<int64_t>* sums_ns) {
  static const std::vector<size_t> nothing;
  const auto asked_by = [&asked](LabelId label) -> const std::vector<size_t>& {
    return Raw(label) < asked.size() ? asked[Raw(label)] : nothing;
  };
  OpenTimes times(sums_ns);
  const std::unique_ptr<ThreadCursor> cursor = SourceOf(process)->ThreadEvents(thread);
  ThreadBatch batch;
  while (cursor->Next(&batch)) {
    if (batch.resync) {
      const int64_t now_ns = batch.events.front().time_ns;
      times.CloseAll(now_ns);
      for (const LabelId label : batch.open) {
        for (const size_t question : asked_by(label)) times.Open(question, now_ns);
      }
    }
    for (const ThreadEvent& event : batch.events) {
      for (const size_t question : asked_by(event.label)) {
        if (event.kind == SlotKind::kBegin) times.Open(question, event.time_ns);
        if (event.kind == SlotKind::kEnd) times.Close(question, event.time_ns);
      }
    }
  }
  times.CloseAll(process.span_end_ns);
}

// The answers of the threads of |host|, in one pass over their events.
std::vector<int64_t> WaitTimes(const Run& run, const std::string& host,
                               const Questions& questions) {
  std::vector<int64_t> sums_ns(questions.size());
  for (const ProcessTrace& process : run.processes) {
    if (process.identity.host != host) continue;
    std::vector<std::vector<size_t>> asked;
    for (const Label& label : process.labels) asked.push_back(questions.Of(label));
    const bool any = std::any_of(asked.begin(), asked.end(),
                                 [](const auto& of_label) { return !of_label.empty(); });
    if (!any) continue;
    for (uint32_t t = 0; t < process.threads.size(); ++t) AddWaits(process, t, asked, &sums_ns);
  }
  return sums_ns;
}

std::string NoteOn(const ProcessIdentity& missing, const std::string& had, int64_t named_ns,
                   int64_t unclaimed_ns) {
  std::string note = "pid " + std::to_string(missing.pid) + " of host " + missing.host + " was " +
                     had + ", but none of its files is there.";
  if (named_ns > 0) note += " Others waited " + FormatTime(named_ns) + " for it.";
  if (unclaimed_ns > named_ns) {
    note += " Processes waited " + FormatTime(unclaimed_ns) +
            " for pipes and sockets of which nobody who is there has the other end.";
  }
  return note;
}

// Notes on the first of |missing|, which come with what each was, and how many more there are.
std::vector<std::string> NotesOn(const Run& run,
                                 const std::map<ProcessIdentity, std::string>& missing) {
  std::vector<std::string> notes;
  for (auto next = missing.begin(); next != missing.end() && notes.size() < kMostNotes;) {
    const std::string& host = next->first.host;
    auto end = next;
    std::set<int64_t> pids;
    for (size_t left = kMostNotes - notes.size();
         left > 0 && end != missing.end() && end->first.host == host; --left, ++end) {
      pids.insert(end->first.pid);
    }
    const Questions questions(pids);
    const std::vector<int64_t> waited_ns = WaitTimes(run, host, questions);
    for (; next != end; ++next) {
      const auto pid =
          std::lower_bound(questions.pids.begin(), questions.pids.end(), next->first.pid);
      const auto index = static_cast<size_t>(pid - questions.pids.begin());
      notes.push_back(NoteOn(next->first, next->second, waited_ns[index], waited_ns.back()));
    }
  }
  if (missing.size() > notes.size()) {
    const size_t more = missing.size() - notes.size();
    notes.push_back("Of " + FormatCount(more) + " more " + (more == 1 ? "process" : "processes") +
                    " that " + (more == 1 ? "was" : "were") +
                    " recorded or imported no file is there.");
  }
  return notes;
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
  }
  for (std::string& note : NotesOn(*run, missing)) run->problems.push_back(std::move(note));
}

void NoteUnlistedProcesses(Run* run) {
  // On a full disk the launcher leaves the list out.
  if (!run->info || !run->info->end_monotonic_ns || run->info->recorded.empty()) return;
  const std::set<ProcessIdentity> listed = RecordedOf(*run->info);
  size_t noted = 0;
  for (const ProcessTrace& process : run->processes) {
    if (process.identity.host != run->info->host || IsListed(process.identity, listed)) continue;
    ++run->Count(LedgerCounter::processes_unlisted);
    if (++noted > kMostNotes) continue;
    run->problems.push_back(NoteOnUnlisted(*run->info, process));
  }
  if (noted <= kMostNotes) return;
  const size_t more = noted - kMostNotes;
  run->problems.push_back(FormatCount(more) +
                          (more == 1 ? " more process has" : " more processes have") +
                          " files here, but had none when the command had ended.");
}

}  // namespace gpubound
