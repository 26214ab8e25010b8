// SPDX-License-Identifier: Apache-2.0
//
// One pass over each thread, then over the waits. No state.
#include "analysis/reader/late_ranks.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/base/interval.h"
#include "analysis/naming/named_source.h"
#include "analysis/reader/wait_channels.h"
#include "analysis/trace/label_roles.h"
#include "analysis/trace/late_rank_label.h"
#include "analysis/trace/memory_source.h"
#include "proto/wake_tokens.h"

namespace gpubound {
namespace {

constexpr char kCollectivePrefix[] = "collective:[";
constexpr char kReductionPrefix[] = "reduction:[";

struct Entry {
  size_t process = 0;
  int64_t time_ns = 0;
};

// The wait of a rank in one collective.
struct CollectiveWait {
  uint32_t thread = 0;
  uint64_t what = 0;
  uint64_t begin = 0;  // number of the event that begins it
  LabelId label{};
  Interval time;
  std::vector<int64_t> inside_ns;  // times of events between its begin and its end
};

// Of one host.
struct RankHost {
  std::unordered_map<uint64_t, std::vector<Entry>> entries;  // by collective
  std::unordered_map<uint64_t, int64_t> first_over_ns;       // of waits, by collective
  std::map<size_t, std::vector<CollectiveWait>> waits;       // by process
};

bool IsOf(const Label& label, const char* prefix) {
  return label.kind == LabelKind::kLayer && label.domain == kChannelDomain &&
         label.text.starts_with(prefix);
}

bool IsInCollectives(const ProcessTrace& process) {
  return std::any_of(process.labels.begin(), process.labels.end(), [](const Label& label) {
    return IsOf(label, kCollectivePrefix) || IsOf(label, kReductionPrefix);
  });
}

// Follows the outermost wait of a thread.
class ThreadReader {
 public:
  ThreadReader(const ProcessTrace& process, size_t number, uint32_t thread, RankHost* host)
      : process_(process), number_(number), thread_(thread), host_(*host) {}

  void Resync(std::span<const LabelId> open) {
    depth_ = static_cast<size_t>(
        std::count_if(open.begin(), open.end(), [this](LabelId label) { return Waits(label); }));
    known_ = false;
  }

  void Add(const ThreadEvent& event) {
    const uint64_t number = next_++;
    if (event.kind == SlotKind::kBegin && Waits(event.label) && depth_++ == 0) {
      known_ = true;
      wait_ = {thread_, 0, number, event.label, {event.time_ns, event.time_ns}, {}};
      return;
    }
    if (event.kind == SlotKind::kEnd && Waits(event.label) && depth_ > 0 && --depth_ == 0) {
      known_ = false;
    }
    if (IsWake(event) && IsShared(event.payload)) {
      host_.entries[event.payload].push_back({number_, event.time_ns});
    }
    const bool is_over = event.kind == SlotKind::kWoken && IsShared(event.payload);
    if (is_over) {
      int64_t& first_ns =
          host_.first_over_ns.try_emplace(event.payload, event.time_ns).first->second;
      first_ns = std::min(first_ns, event.time_ns);
    }
    if (!known_) return;
    if (!is_over) {
      wait_.inside_ns.push_back(event.time_ns);
      return;
    }
    wait_.what = event.payload;
    wait_.time.end_ns = event.time_ns;
    host_.waits[number_].push_back(std::move(wait_));
    known_ = false;
  }

 private:
  bool Waits(LabelId label) const {
    if (Raw(label) >= process_.labels.size()) return false;
    const Label& of = process_.labels[Raw(label)];
    return of.kind == LabelKind::kLayer && of.layer == Layer::kWait;
  }

  const ProcessTrace& process_;
  const size_t number_;
  const uint32_t thread_;
  RankHost& host_;
  uint64_t next_ = 0;
  size_t depth_ = 0;    // waits that are open
  bool known_ = false;  // one is open since |wait_| began, and it is not known yet for what
  CollectiveWait wait_;
};

void ReadCollectives(const ProcessTrace& process, size_t number, RankHost* host) {
  const std::shared_ptr<const EventSource> source = SourceOf(process);
  for (uint32_t thread = 0; thread < process.threads.size(); ++thread) {
    ThreadReader reader(process, number, thread, host);
    const std::unique_ptr<ThreadCursor> cursor = source->ThreadEvents(thread);
    ThreadBatch batch;
    while (cursor->Next(&batch)) {
      if (batch.resync || batch.thinned) reader.Resync(batch.open);
      for (const ThreadEvent& event : batch.events) reader.Add(event);
    }
  }
}

// Who entered last while |process| waited; absent: nobody did.
std::optional<Entry> LastWithin(const CollectiveWait& wait, size_t process, bool is_reduction,
                                const RankHost& host) {
  const auto entries = host.entries.find(wait.what);
  if (entries == host.entries.end()) return std::nullopt;
  Entry last{process, wait.time.begin_ns};
  for (Entry entry : entries->second) {
    if (is_reduction) entry.time_ns = std::min(entry.time_ns, host.first_over_ns.at(wait.what));
    if (entry.process == process || entry.time_ns > wait.time.end_ns) continue;
    if (entry.time_ns > last.time_ns) last = entry;
  }
  return last.process == process ? std::nullopt : std::optional(last);
}

LabelId WaitFor(int64_t pid, ProcessTrace* process) {
  const Label label{LabelKind::kLayer, Layer::kWait, kLateRankDomain, std::to_string(pid)};
  std::vector<Label>& labels = process->labels;
  const auto found = std::find_if(labels.begin(), labels.end(), [&label](const Label& other) {
    return other.domain == label.domain && other.text == label.text;
  });
  const auto id = static_cast<LabelId>(found - labels.begin());
  if (found == labels.end()) labels.push_back(label);
  return id;
}

// In place of the wait's begin that of a wait for the other rank; it begins when that one is over.
void CutWait(const CollectiveWait& wait, LabelId late, int64_t entered_ns,
             std::vector<NamingEdit>* edits) {
  using Rank = NamingEdit::Rank;
  const auto inside = std::lower_bound(wait.inside_ns.begin(), wait.inside_ns.end(), entered_ns);
  const uint64_t cut = wait.begin + 1 + static_cast<uint64_t>(inside - wait.inside_ns.begin());
  const auto edit = [](uint64_t before, Rank rank, SlotKind kind, LabelId label, int64_t time_ns) {
    ThreadEvent event;
    event.time_ns = time_ns;
    event.kind = kind;
    event.label = label;
    return NamingEdit{before, event, rank};
  };
  edits->push_back(edit(wait.begin, Rank::kBegin, SlotKind::kBegin, late, wait.time.begin_ns));
  edits->push_back(edit(wait.begin, Rank::kDrop, SlotKind::kBegin, late, wait.time.begin_ns));
  edits->push_back(edit(cut, Rank::kEnd, SlotKind::kEnd, late, entered_ns));
  edits->push_back(edit(cut, Rank::kBegin, SlotKind::kBegin, wait.label, entered_ns));
}

void NameLateRanks(const RankHost& host, Run* run) {
  for (const auto& [number, waits] : host.waits) {
    ProcessTrace* process = &run->processes[number];
    NamingEdits edits(process->threads.size());
    for (const CollectiveWait& wait : waits) {
      const bool is_reduction = IsOf(process->labels[Raw(wait.label)], kReductionPrefix);
      const std::optional<Entry> last = LastWithin(wait, number, is_reduction, host);
      if (!last) continue;
      const int64_t pid = run->processes[last->process].identity.pid;
      CutWait(wait, WaitFor(pid, process), last->time_ns, &edits[wait.thread]);
    }
    ApplyEdits(std::move(edits), process);
  }
}

}  // namespace

void NameLateRanks(Run* run) {
  std::map<std::string, RankHost> hosts;
  for (size_t p = 0; p < run->processes.size(); ++p) {
    const ProcessTrace& process = run->processes[p];
    if (IsInCollectives(process)) ReadCollectives(process, p, &hosts[process.identity.host]);
  }
  for (const auto& [name, host] : hosts) NameLateRanks(host, run);
}

}  // namespace gpubound
