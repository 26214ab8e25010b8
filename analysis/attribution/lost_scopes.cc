// SPDX-License-Identifier: Apache-2.0
//
// No state.
#include "analysis/attribution/lost_scopes.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/base/interval.h"
#include "analysis/base/text_table.h"
#include "analysis/trace/most_notes.h"

namespace gpubound {
namespace {

struct OfThread {
  std::vector<Interval> times;
  bool certain = false;
};

std::string NameOf(const ProcessTrace& process, ThreadId ordinal) {
  const auto thread = std::find_if(
      process.threads.begin(), process.threads.end(),
      [ordinal](const ThreadTrace& candidate) { return candidate.ordinal == ordinal; });
  if (thread == process.threads.end()) return "thread ?";
  return "thread " + (thread->name.empty() ? "" : thread->name + " ") + std::to_string(thread->tid);
}

}  // namespace

void NoteLostScopes(const ProcessTrace& process, std::vector<std::string>* notes) {
  const Interval span{process.span_begin_ns, process.span_end_ns};
  std::map<ThreadId, OfThread> lost;
  for (const LostScopes& part : process.lost_scopes) {
    if (part.thread == kNoThreadKnown) continue;
    OfThread& of_thread = lost[part.thread];
    of_thread.times.push_back(Interval{part.start_ns, part.end_ns}.ClippedTo(span));
    of_thread.certain |= part.certain;
  }
  const std::string pid = "pid " + std::to_string(process.identity.pid);
  size_t noted = 0;
  for (auto& [ordinal, of_thread] : lost) {
    if (noted++ == kMostNotes) break;
    notes->push_back(pid + ": scopes of " + NameOf(process, ordinal) +
                     (of_thread.certain ? " are" : " may be") + " missing for " +
                     FormatTime(UnionLength(std::move(of_thread.times))) +
                     "; time of its operations and phases may be in other rows.");
  }
  if (lost.size() <= kMostNotes) return;
  notes->push_back(pid + ": scopes of " + Counted(lost.size() - kMostNotes, "more thread") +
                   " are or may be missing.");
}

}  // namespace gpubound
