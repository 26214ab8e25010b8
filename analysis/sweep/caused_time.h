// SPDX-License-Identifier: Apache-2.0
//
// GPU time by cause: per operation, the union of the work whose API call began in it, or that has
// an operation of its own. The operation of a call may become known shortly after its work began,
// by as much as clocks differ, so work waits here until it is. One object, one caller.
#ifndef GPUBOUND_ANALYSIS_SWEEP_CAUSED_TIME_H_
#define GPUBOUND_ANALYSIS_SWEEP_CAUSED_TIME_H_

#include <cstdint>
#include <new>
#include <vector>

#include "analysis/base/fifo.h"
#include "analysis/base/interval.h"
#include "analysis/timeline/call_index.h"
#include "analysis/timeline/gpu_work.h"

namespace gpubound {

class CausedTime {
 public:
  CausedTime(const Interval& span, size_t operations)
      : span_(span), caused_ns_(operations), covered_until_ns_(operations, span.begin_ns) {}

  // Work comes in order of begin. |call| as CallIndex::Find gives it; |own| is the operation that
  // the work belongs to whatever launched it, else kNotOne.
  void Add(const GpuItem& work, CallNumber call, OperationIndex own) {
    new (waiting_.Add()) Waiting{work, call, own};
  }

  // Books all work at the front whose call's operation is known, and calls |on_booked|(work,
  // operation, that of the call) for each.
  template <typename OnBooked>
  void Settle(CallIndex* calls, OnBooked on_booked) {
    for (; !waiting_.empty(); waiting_.pop()) {
      IndexedCall* const call = calls->At(waiting_.front().call);
      if (call != nullptr && call->operation == kNotOne) return;
      const OperationIndex launched = call == nullptr ? kNoOperationIndex : call->operation;
      const OperationIndex own = waiting_.front().own;
      const OperationIndex operation = own != kNotOne ? own : launched;
      if (call != nullptr) calls->Settle(call);
      const GpuItem& work = waiting_.front().work;
      Book({work.begin_ns, work.end_ns}, operation);
      on_booked(work, operation, launched);
    }
  }

  // Operations that became known since are added.
  template <typename Archive>
  void Visit(Archive& archive) {
    archive.All(waiting_);
    archive.Grown(caused_ns_);
    archive.Grown(covered_until_ns_);
  }

  const std::vector<int64_t>& caused_ns() const { return caused_ns_; }

 private:
  struct Waiting {
    GpuItem work;
    CallNumber call;
    OperationIndex own;
    template <typename Archive>
    void Visit(Archive& archive) {
      archive.All(work, call);
      OperationIndex number = own + 1;  // 0 stands for kNotOne
      archive.IndexBelow(archive.operations() + 1, number);
      own = number - 1;
    }
  };
  void Book(const Interval& work, OperationIndex operation) {
    const Interval fresh = work.ClippedTo({covered_until_ns_[operation], span_.end_ns});
    if (fresh.empty()) return;
    caused_ns_[operation] += fresh.length();
    covered_until_ns_[operation] = fresh.end_ns;
  }

  const Interval span_;
  Fifo<Waiting> waiting_;
  std::vector<int64_t> caused_ns_;
  std::vector<int64_t> covered_until_ns_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_SWEEP_CAUSED_TIME_H_
