// SPDX-License-Identifier: Apache-2.0
//
// What a thread of an imported Python program does between its events: where another thread that
// has no operations runs operators or CUDA calls, it is inside a call that waits for that one, as
// backward() waits for autograd's threads, and Python else.
//
//   thread      |--op--|                      |--op--|
//   another               |--op--|  |-op--|
//   filled              p |  b   |p | b   | p            b: backend, p: Python
//
// One object for a thread, one caller.
#ifndef GPUBOUND_ANALYSIS_IMPORT_IMPORT_FILL_H_
#define GPUBOUND_ANALYSIS_IMPORT_IMPORT_FILL_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <tuple>
#include <vector>

#include "analysis/base/status.h"
#include "analysis/import/import_records.h"

namespace gpubound {

// While a thread without operations runs operators or calls. |for_thread| may wait for it.
struct HelperTime {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  uint32_t for_thread = kNoIndex;
  bool is_backward = false;  // a node of autograd

  friend bool operator<(const HelperTime& a, const HelperTime& b) {
    return std::tie(a.for_thread, a.start_ns, a.end_ns, a.is_backward) <
           std::tie(b.for_thread, b.start_ns, b.end_ns, b.is_backward);
  }
};

class ThreadFill {
 public:
  struct Labels {
    LabelId backend{};
    std::optional<LabelId> backward;  // the operation of autograd's nodes, where they name one
  };
  // The next of the thread's helper times by start; false at their end.
  using NextHelper = std::function<Result<bool>(HelperTime*)>;
  using Emit = std::function<void(const CpuInterval&)>;

  ThreadFill(uint32_t thread, const Labels& labels, NextHelper next, Emit emit);

  // What an interval of the thread says of its layer: nothing, which one it is, or that it is a
  // call of Python into native code, which may wait as well as a gap.
  enum class Says : uint8_t { kNothing, kLayer, kNative };

  // Before each interval of the thread, in their order. Emits what fills the time before it.
  Status Before(const CpuInterval& interval, Says says);
  // After the last one.
  Status Finish();

 private:
  struct Open {
    int64_t end_ns;
    bool is_native;
  };
  Status FillUntil(int64_t time_ns);
  Status Fill(int64_t from_ns, int64_t to_ns);
  Status Advance();

  const uint32_t thread_;
  const Labels labels_;
  const NextHelper next_;
  const Emit emit_;
  std::vector<Open> open_;  // the innermost last; those that ended before others go with them
  int64_t filled_until_ns_ = INT64_MIN;
  HelperTime helper_;  // the next one
  bool more_ = true;
  int64_t helped_until_ns_ = INT64_MIN;  // by those before it
  int64_t backward_until_ns_ = INT64_MIN;
  bool begun_ = false;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_IMPORT_IMPORT_FILL_H_
