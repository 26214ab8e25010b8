// SPDX-License-Identifier: Apache-2.0
//
// The API calls of a process in order of begin, indexed somewhat ahead of the timeline that takes
// them: work may seem to begin before its call does. Holds the calls of that stretch only. One
// object, one thread.
#ifndef GPUBOUND_ANALYSIS_CALL_STREAM_H_
#define GPUBOUND_ANALYSIS_CALL_STREAM_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <utility>

#include "analysis/call_index.h"
#include "analysis/event_source.h"
#include "analysis/label_roles.h"

namespace gpubound {

class CallStream {
 public:
  struct NumberedCall {
    ThreadCall call;
    CallNumber number = kNoCall;
  };

  // |roles| outlives the object.
  CallStream(std::unique_ptr<RecordCursor<ThreadCall>> calls, const LabelRoles* roles)
      : calls_(std::move(calls)), roles_(roles) {}

  // Begin of the next call; kOpenEnded when there is none.
  int64_t NextTime() const {
    if (!ahead_.empty()) return ahead_.front().call.call.start_ns;
    const ThreadCall* next = calls_.Peek();
    return next == nullptr ? kOpenEnded : next->call.start_ns;
  }

  // There is one.
  NumberedCall Pop() {
    if (ahead_.empty()) TakeOne();
    const NumberedCall next = ahead_.front();
    ahead_.pop_front();
    return next;
  }

  // Indexes every call that begins at |until_ns| or before.
  void LookAhead(int64_t until_ns) {
    while (calls_.Peek() != nullptr && calls_.Peek()->call.start_ns <= until_ns) TakeOne();
  }

  CallIndex& index() { return index_; }
  const CallIndex& index() const { return index_; }

 private:
  void TakeOne() {
    const ThreadCall& next = *calls_.Peek();
    ahead_.push_back({next, index_.Add(next, roles_->Of(next.call.label).api_class)});
    calls_.Pop();
  }

  RecordStream<ThreadCall> calls_;
  const LabelRoles* roles_;
  std::deque<NumberedCall> ahead_;
  CallIndex index_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_CALL_STREAM_H_
