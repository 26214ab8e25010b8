// SPDX-License-Identifier: Apache-2.0
//
// Shares sums out. One object, one caller.
#include "analysis/sweep/cpu_split.h"

#include <algorithm>
#include <utility>

namespace gpubound {
namespace {

// |part| of |whole|, of |amount|; rounded down.
int64_t PartOf(int64_t amount, int64_t part, int64_t whole) {
  __extension__ using Wide = __int128;
  return static_cast<int64_t>(static_cast<Wide>(amount) * part / whole);
}

// A stretch has |part| of |whole|, in which something lasted |amount|: by how much what lasted in
// the stretch can differ from its part.
int64_t ErrorOf(int64_t amount, int64_t part, int64_t whole) {
  amount = std::clamp<int64_t>(amount, 0, whole);
  const int64_t taken = PartOf(amount, part, whole);
  const int64_t least = std::max<int64_t>(0, amount - (whole - part));
  const int64_t most = std::min(amount, part);
  return std::max({int64_t{0}, taken - least, most - taken});
}

}  // namespace

void CpuSplitter::Add(uint32_t thread, const CpuTime& time) {
  Thread& of = threads_[thread];
  const bool blocked = time.IsBlocked();
  const int64_t begin_ns = blocked ? std::max(time.start_ns, of.added_until_ns) : time.start_ns;
  if (begin_ns < of.sums_until_ns || time.end_ns <= begin_ns) return;
  of.sums_until_ns = blocked ? begin_ns : time.end_ns;
  of.added_until_ns = time.end_ns;
  if (of.sums.empty()) open_.push_back(thread);
  of.sums.push({begin_ns, time.end_ns, time.on_cpu_ns, time.ready_ns.value_or(-1)});
}

void CpuSplitter::CloseShared() {
  std::erase_if(open_, [this](uint32_t thread) { return threads_.at(thread).sums.empty(); });
}

void CpuSplitter::Advance(int64_t now_ns, Thread* thread) {
  const int64_t since_ns = thread->now_ns;
  if (now_ns <= since_ns) return;
  thread->now_ns = now_ns;
  while (!thread->sums.empty()) {
    Sum sum = thread->sums.front();
    const auto waiting = thread->sums.waiting();
    if (waiting.size() > 1) sum.end_ns = std::min(sum.end_ns, waiting[1].begin_ns);
    const Interval time = Interval{std::max(since_ns, sum.begin_ns), std::min(now_ns, sum.end_ns)};
    if (!time.empty()) {
      const int64_t ns = time.ClippedTo(span_).length();
      std::vector<Share>& shares = thread->shares;
      const auto share = std::find_if(shares.begin(), shares.end(), [thread](const Share& of) {
        return of.operation == thread->operation;
      });
      if (share != shares.end()) {
        share->ns += ns;
      } else if (ns != 0) {
        shares.push_back({thread->operation, ns});
      }
    }
    if (sum.end_ns > now_ns) return;
    ShareOut(sum, thread);
    thread->sums.pop();
  }
}

void CpuSplitter::ShareOut(const Sum& sum, Thread* thread) {
  const int64_t whole_ns = sum.end_ns - sum.begin_ns;
  const bool knows_ready = sum.ready_ns >= 0;
  const int64_t ready_ns = knows_ready ? sum.ready_ns : 0;
  int64_t until_ns = 0;
  for (const Share& share : std::exchange(thread->shares, {})) {
    const int64_t from_ns = std::exchange(until_ns, until_ns + share.ns);
    const auto part = [&](int64_t amount_ns) {
      return PartOf(amount_ns, until_ns, whole_ns) - PartOf(amount_ns, from_ns, whole_ns);
    };
    CpuSplit& split = thread->splits[share.operation];
    const int64_t on_cpu_ns = part(sum.on_cpu_ns);
    split.on_cpu_ns += on_cpu_ns;
    split.ready_ns += part(ready_ns);
    split.told_ns += knows_ready ? share.ns : on_cpu_ns;
    const int64_t blocked_ns = knows_ready ? whole_ns - sum.on_cpu_ns - ready_ns : 0;
    split.error_ns +=
        std::max({ErrorOf(sum.on_cpu_ns, share.ns, whole_ns), ErrorOf(ready_ns, share.ns, whole_ns),
                  ErrorOf(blocked_ns, share.ns, whole_ns)});
  }
}

CpuSplits CpuSplitter::Take(uint32_t thread) {
  const auto found = threads_.find(thread);
  if (found == threads_.end()) return {};
  Thread& of = found->second;
  Advance(span_.end_ns, &of);
  // Of what goes on beyond the span only the part within it was shared out.
  if (!of.sums.empty()) ShareOut(of.sums.front(), &of);
  of.sums.clear();
  return std::move(of.splits);
}

void CpuSplitter::Thread::Visit(StateArchive& archive) {
  archive.IndexBelow(archive.operations(), operation);
  archive.All(now_ns, added_until_ns, sums_until_ns, sums, shares);
  uint64_t count = splits.size();
  archive.All(count);
  auto next = splits.begin();
  for (uint64_t i = 0; i < count && !archive.failed(); ++i) {
    OperationIndex of = archive.reads() ? OperationIndex{} : next->first;
    archive.IndexBelow(archive.operations(), of);
    archive.All(archive.reads() ? splits[of] : (next++)->second);
  }
}

void CpuSplitter::Visit(StateArchive& archive) {
  uint64_t count = threads_.size();
  archive.All(count);
  auto next = threads_.begin();
  for (uint64_t i = 0; i < count && !archive.failed(); ++i) {
    uint32_t thread = archive.reads() ? 0 : next->first;
    archive.All(thread);
    Thread& of = archive.reads() ? threads_[thread] : (next++)->second;
    of.Visit(archive);
    if (archive.reads() && !of.sums.empty()) open_.push_back(thread);
  }
  if (archive.reads() && archive.failed()) threads_.clear(), open_.clear();
}

}  // namespace gpubound
