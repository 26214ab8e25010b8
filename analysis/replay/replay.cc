// SPDX-License-Identifier: Apache-2.0
//
// Advances the processes of a run in step. No state.
#include "analysis/replay/replay.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/base/spill_file.h"
#include "analysis/processes/clock_align.h"
#include "analysis/processes/run_frame.h"
#include "analysis/processes/run_waits.h"
#include "analysis/replay/critical_path.h"
#include "analysis/replay/replay_peers.h"
#include "analysis/replay/replay_process.h"
#include "analysis/trace/memory_source.h"

namespace gpubound {
namespace {

// From the step that ends a recording to the end that all processes are told.
constexpr int64_t kSameInstantNs = 1'000'000;

// Of |process| what does not lie in the time of the recording.
ProcessTrace WithoutEvents(const ProcessTrace& process) {
  ProcessTrace copy;
  static_cast<ProcessFacts&>(copy) = process;
  for (const ThreadFacts& thread : process.threads) {
    static_cast<ThreadFacts&>(copy.threads.emplace_back()) = thread;
  }
  copy.counters.clear();
  copy.later_iterations.clear();
  return copy;
}

std::map<std::string, int64_t> HostOffsets(const Run& run) {
  std::map<std::string, int64_t> offsets;
  if (run.processes.empty()) return offsets;
  const std::string& reference = run.processes.front().identity.host;
  const ClockAlignment clocks = AlignClocks(run, reference);
  for (size_t p = 0; p < run.processes.size(); ++p) {
    offsets[run.processes[p].identity.host] = clocks.offset_ns[p];
  }
  if (run.info) {
    offsets.try_emplace(run.info->host, RealtimeShift(run, run.info->host, reference));
  }
  return offsets;
}

class RunReplay {
 public:
  RunReplay(const Run& run, const ReplayOptions& options)
      : run_(run),
        options_(options),
        natures_(NaturesOf(run)),
        peer_table_(run, natures_),
        peers_(run) {
    int64_t origin_ns = kOpenEnded;
    for (const ProcessTrace& process : run.processes) {
      origin_ns = std::min(origin_ns, process.span_begin_ns);
    }
    origin_ns_ = origin_ns;
    if (options.critical_path_of) {
      path_ = std::make_unique<PathLog>(SpillFolder());
    }
    for (size_t p = 0; p < run.processes.size(); ++p) AddRoles(p);
    some_inherit_ = std::any_of(replays_.begin(), replays_.end(),
                                [](const Entry& entry) { return !entry.opens_operations; });
    turns_.resize(options.copies);
    for (size_t p = 0; p < run.processes.size(); ++p) {
      AddProcess(p, origin_ns);
      AwaitTurn(p);
    }
  }

  Result<ReplayedRun> Execute() {
    if (turns_.size() == 1) {
      while (!turns_.front().empty()) TakeTurn(&turns_.front(), kOpenEnded);
    } else {
      ExecuteCopies();
    }
    return Finish();
  }

 private:
  struct Entry {
    std::vector<Peer> peers;
    std::shared_ptr<const EventSource> source;
    std::unique_ptr<LabelRoles> roles;
    std::shared_ptr<RetimedSource> output;
    std::unique_ptr<ProcessReplay> replay;
    size_t first_part = 0;  // of the critical path
    bool opens_operations = false;
    bool begun = false;
  };

  using Turn = std::pair<int64_t, size_t>;  // when a process does something next, and which one
  using Turns = std::priority_queue<Turn, std::vector<Turn>, std::greater<>>;

  // What comes next, and all that its process does before another one does something, or until
  // |limit_ns|.
  void TakeTurn(Turns* turns, int64_t limit_ns) {
    const size_t next = turns->top().second;
    turns->pop();
    Entry& entry = replays_[next];
    if (!entry.begun) {
      Begin(next);
    } else {
      entry.replay->RunUntil(turns->empty() ? limit_ns : std::min(limit_ns, turns->top().first));
    }
    AwaitTurn(next);
  }

  // Copies of a run share devices alone, and come to them in the order of the replay.
  void ExecuteCopies() {
    using Ready = std::pair<double, size_t>;  // when a copy does something next, and which one
    std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;
    const auto await = [&](size_t copy) {
      if (turns_[copy].empty()) return;
      const auto [time_ns, p] = turns_[copy].top();
      const Entry& entry = replays_[p];
      ready.emplace(
          entry.begun ? entry.replay->NextMoment() : static_cast<double>(time_ns - origin_ns_),
          copy);
    };
    for (size_t copy = 0; copy < turns_.size(); ++copy) await(copy);
    while (!ready.empty()) {
      const size_t copy = ready.top().second;
      ready.pop();
      TakeTurn(&turns_[copy], turns_[copy].top().first);
      await(copy);
    }
  }

  void AddRoles(size_t p) {
    const ProcessTrace& process = run_.processes[p];
    Entry& entry = replays_.emplace_back();
    entry.peers = peer_table_.Of(p);
    entry.source = SourceOf(process);
    entry.opens_operations = OpensOperations(process, *entry.source);
    SetRoles(p, {});
    const std::vector<std::string>& names = entry.roles->operations();
    operations_.insert(names.begin() + 1, names.end());  // but for (no operation)
  }

  // |operations|: names that it may come to need beside its own.
  void SetRoles(size_t p, std::vector<std::string> operations) {
    Entry& entry = replays_[p];
    LabelRoles::Input roles;
    roles.promoted = &options_.operations;
    roles.annotations_serve = !entry.opens_operations;
    roles.peers = &entry.peers;
    roles.operations = std::move(operations);
    entry.roles = std::make_unique<LabelRoles>(run_.processes[p], roles);
  }

  void AddProcess(size_t p, int64_t origin_ns) {
    const ProcessTrace& process = run_.processes[p];
    Entry& entry = replays_[p];
    if (!entry.opens_operations) SetRoles(p, {operations_.begin(), operations_.end()});
    if (options_.keep_events) {
      entry.output = std::make_shared<RetimedSource>(SpillFolder());
    }
    ProcessReplay::Input input;
    input.process = &process;
    input.source = entry.source.get();
    input.roles = entry.roles.get();
    input.costs = options_.process_costs.empty() ? &options_.costs : &options_.process_costs[p];
    input.changes =
        options_.process_changes.empty() ? &options_.changes : &options_.process_changes[p];
    input.origin_ns = origin_ns;
    input.output = entry.output.get();
    input.path = path_.get();
    input.shared = options_.shared;
    input.first_part = static_cast<uint32_t>(parts_);
    entry.first_part = parts_;
    parts_ += entry.roles->operations().size() * kPathColumns;
    input.peer_release = [this, p](PeerIndex peer, int64_t begun_ns, int64_t time_ns) {
      return peers_.ReleaseBy(p, replays_[p].peers[peer].pids, begun_ns, time_ns);
    };
    if (run_.processes.size() > 1) {
      input.others_gained = [this, p](int64_t begun_ns) {
        return peers_.OthersGained(p, begun_ns);
      };
    }
    if (some_inherit_) {
      input.peer_awaited = [this, p](PeerIndex peer, OperationIndex operation, int64_t time_ns) {
        const std::string& name = replays_[p].roles->operations()[operation];
        if (operation != kNoOperationIndex) PassOn(p, replays_[p].peers[peer].pids, name, time_ns);
      };
    }
    entry.replay = std::make_unique<ProcessReplay>(input);
  }

  // Process |p| waits for |pids|, which work for |operation| from now on.
  void PassOn(size_t p, const std::vector<int64_t>& pids, const std::string& operation,
              int64_t time_ns) {
    for (const int64_t pid : pids) {
      const std::optional<size_t> q = peers_.Find(run_.processes[p].identity.host, pid, time_ns);
      if (!q || !replays_[*q].replay->Inherits()) continue;
      const std::vector<std::string>& names = replays_[*q].roles->operations();
      const auto found = std::find(names.begin(), names.end(), operation);
      if (found == names.end()) continue;
      replays_[*q].replay->Inherit(static_cast<OperationIndex>(found - names.begin()), time_ns);
    }
  }

  // A process does nothing before its span begins. That is a time of its own: by the first event
  // its parent has gone on.
  void AwaitTurn(size_t p) {
    const int64_t time_ns =
        replays_[p].begun ? replays_[p].replay->NextTime() : run_.processes[p].BegunNs();
    if (time_ns == kOpenEnded) return;
    turns_[p / (run_.processes.size() / turns_.size())].emplace(time_ns, p);
  }

  // Of whom the critical path is, where it lives already when |p| begins; else null.
  const Entry* Leading(size_t p) const {
    if (!options_.critical_path_of || *options_.critical_path_of == p) return nullptr;
    const Entry& entry = replays_[*options_.critical_path_of];
    return entry.begun ? &entry : nullptr;
  }

  // Where the one is that |process| came from, if that was recorded: the program that an exec
  // replaced by it, else its parent.
  std::optional<Moment> OriginOf(const ProcessTrace& process) const {
    const std::string& host = process.identity.host;
    const std::optional<size_t> before = peers_.Find(host, process.identity.pid, process.BegunNs());
    if (before && run_.processes[*before].span_end == SpanEnd::kReplaced) {
      return replays_[*before].replay->LeadAt(process.BegunNs());
    }
    if (process.parent_pid == 0) return std::nullopt;
    return peers_.MomentOf(host, process.parent_pid, process.BegunNs());
  }

  // A process begins when the one that it came from has come to where that was. One of which that
  // is not known begins when it did; on the critical path lies before it what the path's process
  // did until then.
  void Begin(size_t p) {
    Entry& entry = replays_[p];
    entry.begun = true;
    const ProcessTrace& process = run_.processes[p];
    if (const std::optional<Moment> origin = OriginOf(process)) {
      entry.replay->BeginAt(*origin);
    } else if (const Entry* const leading = Leading(p)) {
      entry.replay->BeginBehind(leading->replay->LeadAt(process.BegunNs()));
    }
    peers_.Begin(p, entry.replay.get());
  }

  Result<ReplayedRun> Finish() {
    ReplayedRun replayed;
    replayed.run.path = run_.path;
    replayed.run.info = run_.info;
    replayed.run.steps = run_.steps;
    replayed.run.problems = run_.problems;
    replayed.run.lost = run_.lost;
    replayed.run.ledger = run_.ledger;
    if (options_.keep_events) replayed.run.recorded_offsets_ns = HostOffsets(run_);
    for (Entry& entry : replays_) replayed.facts.push_back(entry.replay->Finish());
    EndTogether(&replayed.facts);
    for (size_t p = 0; p < replays_.size(); ++p) {
      Entry& entry = replays_[p];
      if (entry.output != nullptr && entry.output->error()) return *entry.output->error();
      const ReplayFacts& facts = replayed.facts[p];
      ProcessTrace& process = replayed.run.processes.emplace_back(WithoutEvents(run_.processes[p]));
      process.span_begin_ns = facts.span_begin_ns;
      process.span_end_ns = facts.span_end_ns;
      process.unknown = facts.unknown;
      process.source = entry.output;
    }
    if (path_ != nullptr) {
      const ReplayFacts& facts = replayed.facts[*options_.critical_path_of];
      const Interval loop = LoopOf(facts);
      replayed.parts = PartsOf(facts, loop);
      replayed.path_loop_ns = loop.length();
      if (path_->error()) return *path_->error();
    }
    MoveEnd(&replayed.run);
    return replayed;
  }

  // What --steps asks for is over in every process of a host when one of them has come so far: that
  // one tells when the others end, whatever they did meanwhile.
  void EndTogether(std::vector<ReplayFacts>* facts) const {
    if (run_.steps.empty()) return;
    std::map<std::pair<std::string, int64_t>, size_t> ended_by;  // by host and recorded end
    const auto key = [this](size_t p) {
      const ProcessTrace& process = run_.processes[p];
      return std::pair(process.identity.host, process.span_end_ns);
    };
    for (size_t p = 0; p < facts->size(); ++p) {
      if ((*facts)[p].stepped_ns < run_.processes[p].span_end_ns - kSameInstantNs) continue;
      size_t& by = ended_by.try_emplace(key(p), p).first->second;
      if ((*facts)[p].stepped_ns > (*facts)[by].stepped_ns) by = p;
    }
    for (size_t p = 0; p < facts->size(); ++p) {
      const auto by = ended_by.find(key(p));
      const bool is_asked = run_.processes[p].span_end == SpanEnd::kAsked;
      if (!is_asked || by == ended_by.end() || by->second == p) continue;
      const ReplayFacts& ended = (*facts)[by->second];
      ReplayFacts& with_it = (*facts)[p];
      with_it.span_end_ns = std::max(with_it.span_begin_ns, ended.span_end_ns);
      with_it.span = ended.span;
      with_it.last_step = ended.last_step;
    }
  }

  // The launcher saw the run end as long after the process that decides its end as it did. How long
  // before the first one it began does not change: nothing of the run comes before that one.
  void MoveEnd(Run* replayed) const {
    if (!run_.info || !run_.info->end_monotonic_ns) return;
    const ProcessTrace* const was = LastOf(run_, FrameOf(run_));
    const ProcessTrace* const is = LastOf(*replayed, FrameOf(*replayed));
    if (was == nullptr || is == nullptr) return;
    const auto end_ns = [this](const ProcessTrace& process) {
      return process.span_end_ns + RealtimeShift(run_, process.identity.host, run_.info->host);
    };
    *replayed->info->end_monotonic_ns += end_ns(*is) - end_ns(*was);
  }

  // From the end of the first iteration to that of the last, within the span; empty where there is
  // nothing between.
  Interval LoopOf(const ReplayFacts& facts) const {
    const auto at = [&](double ns) {
      return std::clamp(origin_ns_ + Rounded(ns), facts.span_begin_ns, facts.span_end_ns);
    };
    const int64_t begin_ns = at(facts.steps.loop_begin_ns());
    return {begin_ns, std::max(begin_ns, at(facts.steps.loop_end_ns()))};
  }

  std::vector<CriticalPart> PartsOf(const ReplayFacts& facts, const Interval& loop) {
    const std::vector<PathTime> times = path_->PartsUntil(
        facts.last_step, origin_ns_, {facts.span_begin_ns, facts.span_end_ns}, loop);
    std::vector<CriticalPart> parts;
    size_t p = 0;
    for (size_t part = 0; part < times.size(); ++part) {
      if (times[part].ns == 0) continue;
      while (p + 1 < replays_.size() && replays_[p + 1].first_part <= part) ++p;
      const size_t own = part - replays_[p].first_part;
      parts.push_back({p, replays_[p].roles->operations()[own / kPathColumns],
                       PathColumnName(static_cast<uint32_t>(own % kPathColumns)), times[part].ns,
                       times[part].loop_ns});
    }
    std::stable_sort(parts.begin(), parts.end(),
                     [](const CriticalPart& a, const CriticalPart& b) { return a.ns > b.ns; });
    return parts;
  }

  const Run& run_;
  const ReplayOptions& options_;
  const std::vector<ProcessNature> natures_;
  const PeerTable peer_table_;
  std::deque<Entry> replays_;
  std::set<std::string> operations_;  // of all processes
  bool some_inherit_ = false;         // a process may: no wait needs to be told otherwise
  ReplayPeers peers_;
  std::vector<Turns> turns_;  // of each copy
  int64_t origin_ns_ = 0;
  std::unique_ptr<PathLog> path_;
  size_t parts_ = 0;
};

}  // namespace

Result<ReplayedRun> ReplayRun(const Run& run, const ReplayOptions& options) {
  if (run.sums != nullptr) {
    return Error{"replaying the run", run.path, "sums instead of its older events", "every event",
                 "Older detail was thinned; a replay needs a run that was kept whole."};
  }
  return RunReplay(run, options).Execute();
}

}  // namespace gpubound
