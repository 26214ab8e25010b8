// SPDX-License-Identifier: Apache-2.0
//
// Follows each process and keeps what changes. No state.
#include "analysis/attribution/role_states.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "analysis/attribution/process_follower.h"
#include "analysis/attribution/sweep_setup.h"
#include "analysis/base/in_parallel.h"
#include "analysis/processes/run_waits.h"
#include "analysis/trace/memory_source.h"
#include "analysis/trace/name_lists.h"

namespace gpubound {
namespace {

// The book of a ProcessFollower.
class RoleBook {
 public:
  // |span|, |window|: in times of the process, as all that it is told.
  RoleBook(const ProcessRoles& roles, const LabelRoles& labels, const Interval& span,
           const Interval& window, int64_t offset_ns, RoleTimeline* timeline)
      : roles_(roles),
        span_(span),
        window_(window),
        offset_ns_(offset_ns),
        timeline_(*timeline),
        since_ns_(span.begin_ns) {
    for (const std::string& name : labels.operations()) {
      work_of_.push_back(WeightSyncNames().Matches(name) ? RoleWork::kSyncs
                         : RewardNames().Matches(name)   ? RoleWork::kRewards
                                                         : RoleWork::kOther);
    }
    for (const std::string& phase : labels.phases()) {
      const auto role = roles.of_phase.find(phase);
      role_of_.push_back(role == roles.of_phase.end() ? ProcessRole::kNone : role->second);
    }
    ns_.resize(work_of_.size());
  }

  void Pass(const CpuState& state, int64_t until_ns) {
    until_ns = std::min(until_ns, span_.end_ns);
    while (since_ns_ < until_ns) {
      // What was said at an instant holds at it.
      const std::vector<ProcessRoles::Since>& said = roles_.said;
      while (next_said_ < said.size() && said[next_said_].time_ns <= since_ns_) ++next_said_;
      const bool more = next_said_ < said.size();
      const int64_t end_ns = more ? std::min(until_ns, said[next_said_].time_ns) : until_ns;
      // The first that was said held already before.
      const size_t holds = next_said_ > 0 ? next_said_ - 1 : 0;
      Add(state, said.empty() ? role_of_[state.phase] : said[holds].role, end_ns);
      since_ns_ = end_ns;
    }
  }

  void Finish(const LabelRoles& labels) {
    for (size_t operation = 1; operation < ns_.size(); ++operation) {
      for (size_t role = 1; role < kProcessRoles; ++role) {
        const int64_t ns = ns_[operation][role];
        if (ns == 0) continue;
        timeline_.operations[labels.operations()[operation]][static_cast<ProcessRole>(role)] += ns;
      }
    }
  }

 private:
  void Add(const CpuState& state, ProcessRole role, int64_t until_ns) {
    ns_[state.operation][static_cast<size_t>(role)] += until_ns - since_ns_;
    if (until_ns <= window_.begin_ns || since_ns_ >= window_.end_ns) return;
    RoleState now;
    now.role = role;
    now.waits = state.layer == Layer::kWait;
    // Of the others it says nothing while they work, and there may be a change for each scope.
    now.in_operation =
        state.operation != kNoOperationIndex && (now.waits || role == ProcessRole::kRollout);
    now.peer = now.waits ? state.peer : kNotOne;
    now.work = work_of_[state.operation];
    if (state.cause == IdleCause::kStartUp) {
      now.work = RoleWork::kStartsUp;
    } else if (now.work == RoleWork::kOther && state.cause == IdleCause::kSimulation) {
      now.work = RoleWork::kSimulates;
    }
    std::vector<RoleChange>& changes = timeline_.changes;
    if (!changes.empty() && changes.back().state == now) return;
    changes.push_back({std::max(since_ns_, window_.begin_ns) + offset_ns_, now});
  }

  const ProcessRoles& roles_;
  const Interval span_;
  const Interval window_;
  const int64_t offset_ns_;
  RoleTimeline& timeline_;
  std::vector<RoleWork> work_of_;                       // by operation
  std::vector<ProcessRole> role_of_;                    // by phase
  std::vector<std::array<int64_t, kProcessRoles>> ns_;  // by operation, then role
  size_t next_said_ = 0;
  int64_t since_ns_;
};

std::vector<std::vector<size_t>> NumbersOf(const Run& run, const std::vector<Peer>& peers,
                                           const std::string& host) {
  std::map<int64_t, std::vector<size_t>> by_pid;
  for (size_t p = 0; p < run.processes.size(); ++p) {
    const ProcessIdentity& identity = run.processes[p].identity;
    if (identity.host == host) by_pid[identity.pid].push_back(p);
  }
  std::vector<std::vector<size_t>> numbers;
  for (const Peer& peer : peers) {
    std::vector<size_t>& of = numbers.emplace_back();
    for (const int64_t pid : peer.pids) {
      of.insert(of.end(), by_pid[pid].begin(), by_pid[pid].end());
    }
  }
  return numbers;
}

}  // namespace

std::vector<RoleTimeline> FollowRoles(const Run& run, const std::vector<ProcessRoles>& roles,
                                      const KnownWaits& waits, const ClockAlignment& clocks,
                                      const Interval& window, const BreakdownOptions& options) {
  const PeerTable peers(run, NaturesOf(run));
  std::vector<RoleTimeline> timelines(run.processes.size());
  ForEachInParallel(run.processes.size(), [&](size_t p) {
    const ProcessTrace& process = run.processes[p];
    const int64_t offset_ns = clocks.offset_ns[p];
    const Interval span{process.span_begin_ns, process.span_end_ns};
    RoleTimeline& timeline = timelines[p];
    timeline.span = {span.begin_ns + offset_ns, span.end_ns + offset_ns};
    if (span.empty()) return;
    ProcessContext context;
    context.peers = peers.Of(p);
    context.left = waits.HeritageOf(p);
    timeline.peers = NumbersOf(run, context.peers, process.identity.host);
    const std::shared_ptr<const EventSource> source = SourceOf(process);
    const SweepSetup setup(process, *source, options, context);
    const SweepInput& input = setup.input();
    RoleBook book(roles[p], setup.roles(), span,
                  {window.begin_ns - offset_ns, window.end_ns - offset_ns}, offset_ns, &timeline);
    ProcessFollower<RoleBook>(
        {&process, source.get(), input.roles, input.scan, input.peers, input.inherited}, &book)
        .RunUntil(span.end_ns);
    book.Finish(setup.roles());
  });
  return timelines;
}

}  // namespace gpubound
