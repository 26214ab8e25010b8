// SPDX-License-Identifier: Apache-2.0
//
// Books samples of hardware counters to operations: a sample counts for the operation of each
// instant that it covers, so its mean is weighted by time. Devices count each. What the counters
// saw of other processes is in it. One object, one caller.
#ifndef GPUBOUND_ANALYSIS_SWEEP_COUNTER_BOOK_H_
#define GPUBOUND_ANALYSIS_SWEEP_COUNTER_BOOK_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/base/interval.h"
#include "analysis/base/state_archive.h"
#include "analysis/trace/label_roles.h"
#include "proto/event_model.h"

namespace gpubound {

// Of one operation.
struct CounterMeans {
  int64_t sampled_ns = 0;                                       // device time that samples cover
  std::array<std::optional<double>, kCounterQuantities> share;  // of the peak, 0..1
};

class CounterBook {
 public:
  // |samples| in order of begin; outlive the object. From |begin_ns| on it is the time of
  // |operation|.
  CounterBook(const std::vector<CounterSample>& samples, int64_t begin_ns,
              OperationIndex operation);

  // From |now_ns| on it is the time of |operation|. Never goes back.
  void SwitchTo(OperationIndex operation, int64_t now_ns) {
    if (devices_.empty()) return;
    BookUntil(now_ns);
    operation_ = operation;
  }

  // What was booked; the object that reads goes on with |operation|.
  void Visit(StateArchive& archive, OperationIndex operation) {
    archive.All(accounts_, now_ns_);
    if (accounts_.size() > archive.operations()) archive.Fail();
    operation_ = operation;
  }

  // The means by operation, of |operations| ones, until |end_ns|; empty without samples.
  std::vector<CounterMeans> Finish(int64_t end_ns, size_t operations);

 private:
  struct Device {
    std::vector<const CounterSample*> samples;
    size_t next = 0;  // the first that does not end before now_ns_
  };
  struct Account {
    int64_t sampled_ns = 0;
    std::array<double, kCounterQuantities> percent_ns{};
    std::array<int64_t, kCounterQuantities> known_ns{};
    template <typename Archive>
    void Visit(Archive& archive) {
      archive.All(sampled_ns, percent_ns, known_ns);
    }
  };

  void BookUntil(int64_t now_ns);
  void Book(const CounterSample& sample, int64_t ns, Account* account);

  std::vector<Device> devices_;
  std::vector<Account> accounts_;  // by operation
  OperationIndex operation_;
  int64_t now_ns_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_SWEEP_COUNTER_BOOK_H_
