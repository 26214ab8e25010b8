// SPDX-License-Identifier: Apache-2.0
//
// The trust ledger of one process while it records: counters that live in the live mapping, so that
// they survive a kill. Any thread adds, without a lock; the background thread copies them into the
// trace. Never used in a fork child for its parent's counters.
#ifndef GPUBOUND_LIBPROFILER_LEDGER_H_
#define GPUBOUND_LIBPROFILER_LEDGER_H_

#include <atomic>
#include <cstdint>

#include "proto/ledger_counters.h"

namespace gpubound {

class Ledger {
 public:
  // |counters| is LiveHeader::ledger; it outlives the ledger. It has the first kRecordedCounters.
  explicit Ledger(uint64_t* counters) : counters_(counters) {}

  void Add(LedgerCounter counter, uint64_t amount) {
    At(counter).fetch_add(amount, std::memory_order_relaxed);
  }

  // For counters that state a bound rather than a sum.
  void Raise(LedgerCounter counter, uint64_t value) {
    std::atomic_ref<uint64_t> cell = At(counter);
    uint64_t seen = cell.load(std::memory_order_relaxed);
    while (seen < value && !cell.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
    }
  }

  uint64_t Get(LedgerCounter counter) const { return At(counter).load(std::memory_order_relaxed); }

 private:
  std::atomic_ref<uint64_t> At(LedgerCounter counter) const {
    return std::atomic_ref<uint64_t>(counters_[static_cast<int>(counter)]);
  }

  uint64_t* counters_;
};

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_LEDGER_H_
