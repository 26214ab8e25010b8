// SPDX-License-Identifier: Apache-2.0
//
// A merge of two sorted streams, then a second look at what the first could not tell. One object,
// one thread.
#include "analysis/import/import_join.h"

#include <algorithm>
#include <iterator>

namespace gpubound {

void CallsOfOneId::Clear() {
  calls_.clear();
  processes_.clear();
  one_kernel_each_ = true;
  most_ = 0;
  begun_ = 0;
  spent_ = 0;
  pieces_ = 0;
}

void CallsOfOneId::Add(const LaunchCall& call) {
  OfProcess& of = processes_[call.process];
  // A driver call within a runtime call.
  const bool is_within = of.calls > 0 && call.end_ns <= of.end_ns;
  of.end_ns = std::max(of.end_ns, call.end_ns);
  one_kernel_each_ = one_kernel_each_ && call.one_kernel;
  if (is_within) return;
  most_ = std::max(most_, ++of.calls);
  calls_.push_back(call);
}

// A call that began later launched none of it. Where k pieces of work have come and only k calls
// had begun, these are their launches, and no call of them is left for later work:
//
//   calls  A     B        C   D
//   work      a     b           c  d     a: A.  b: B.  c: C or D, and so d.
std::vector<uint32_t> CallsOfOneId::CandidatesOf(int64_t start_ns, bool is_copy_again) {
  if (processes_.size() == 1) return {processes_.begin()->first};
  while (begun_ < calls_.size() && calls_[begun_].start_ns <= start_ns) ++begun_;
  if (!is_copy_again) ++pieces_;
  const size_t from = spent_ < begun_ ? spent_ : 0;
  const size_t to = begun_ > 0 ? begun_ : calls_.size();
  std::vector<uint32_t> candidates;
  for (size_t i = from; i < to; ++i) candidates.push_back(calls_[i].process);
  std::sort(candidates.begin(), candidates.end());
  candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
  if (one_kernel_each_ && !is_copy_again && pieces_ == begun_) spent_ = begun_;
  return candidates;
}

void StreamLaunchers::Add(uint32_t stream, const std::vector<uint32_t>& candidates) {
  Stream& of = streams_[stream];
  if (candidates.size() > 1) of.all.insert(candidates.begin(), candidates.end());
  if (!of.seen) {
    of.seen = true;
    of.candidates = candidates;
    return;
  }
  std::vector<uint32_t> both;
  std::set_intersection(of.candidates.begin(), of.candidates.end(), candidates.begin(),
                        candidates.end(), std::back_inserter(both));
  of.candidates = std::move(both);
}

uint32_t StreamLaunchers::Of(uint32_t stream) const {
  const auto found = streams_.find(stream);
  if (found == streams_.end() || found->second.candidates.size() != 1) return kNoIndex;
  return found->second.candidates.front();
}

uint32_t LaunchJoin::LauncherOf(const ByCorrelation& item) {
  if (calls_of_id_.empty()) return kNoIndex;
  const uint32_t stream = item.work.stream;
  const std::vector<uint32_t> candidates =
      calls_of_id_.CandidatesOf(item.work.start_ns, item.is_copy_again);
  streams_.Add(stream, candidates);
  // Ranks that each see one GPU as their first have a stream of one name each.
  if (calls_of_id_.one_kernel_each() && ++pieces_[stream] > calls_of_id_.most_of_a_process()) {
    streams_.Share(stream);
  }
  return candidates.size() == 1 ? candidates.front() : kOneOfSeveral;
}

Status LaunchJoin::Join() {
  for (const Status& sorted : {calls_.Finish(), work_.Finish()}) {
    if (!sorted.ok()) return sorted;
  }
  LaunchCall next;
  Result<bool> more_calls = calls_.Next(&next);
  ByCorrelation item;
  Result<bool> more_work = work_.Next(&item);
  uint32_t correlation = 0;
  while (more_work.ok() && *more_work) {
    if (item.work.correlation != correlation) {
      correlation = item.work.correlation;
      calls_of_id_.Clear();
      pieces_.clear();
      for (; more_calls.ok() && *more_calls && next.correlation <= correlation;
           more_calls = calls_.Next(&next)) {
        if (next.correlation == correlation) calls_of_id_.Add(next);
      }
      if (!more_calls.ok()) return more_calls.error();
    }
    item.work.process = LauncherOf(item);
    const Status added = resolved_.Add(item.work);
    if (!added.ok()) return added;
    more_work = work_.Next(&item);
  }
  return more_work.ok() ? Status(Ok{}) : Status(more_work.error());
}

Status LaunchJoin::Resolve(
    const std::function<Status(const ForeignWork&, const Candidates&)>& emit) {
  for (const Status& done : {Join(), resolved_.Finish()}) {
    if (!done.ok()) return done;
  }
  ForeignWork work;
  Result<bool> more = resolved_.Next(&work);
  for (; more.ok() && *more; more = resolved_.Next(&work)) {
    const bool several = work.process == kOneOfSeveral;
    if (several) work.process = streams_.Of(work.stream);
    const Status emitted = emit(work, several ? streams_.AllOf(work.stream) : Candidates());
    if (!emitted.ok()) return emitted;
  }
  return more.ok() ? Status(Ok{}) : Status(more.error());
}

}  // namespace gpubound
