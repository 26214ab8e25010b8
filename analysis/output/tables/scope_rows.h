// SPDX-License-Identifier: Apache-2.0
//
// The scopes of a run, thread by thread, as far as a filter asks for them. A thread is read from
// the first piece that may hold a begin that is asked for to where all such scopes have ended; a
// range that another thread ended is looked for there when its own has been read. One object, one
// thread.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_TABLES_SCOPE_ROWS_H_
#define GPUBOUND_ANALYSIS_OUTPUT_TABLES_SCOPE_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "analysis/output/tables/trace_table.h"
#include "analysis/trace/scope_builder.h"

namespace gpubound {

struct ScopeRow {
  size_t process = 0;
  size_t thread = 0;
  const ProcessTrace* trace = nullptr;
  Scope scope;
};

class ScopeRows {
 public:
  ScopeRows(TraceRun* run, const RowFilter& filter) : run_(*run), filter_(filter) {}

  // Null at the end; valid until the next call.
  const ScopeRow* Next();

 private:
  enum class State : uint8_t { kNew, kReading, kEnded };  // of the thread
  struct RangeOfThread {
    size_t thread;
    OpenRange range;
  };
  bool Pop();
  bool Advance();
  void BeginThread(const std::vector<EventPiece>& pieces);
  void ReadPiece(const EventPiece& piece);
  bool PastInterest(const EventPiece& piece) const;
  void LeaveThread();
  void EndThread();
  void EndProcess();
  void LookForEnds();

  TraceRun& run_;
  const RowFilter filter_;
  size_t process_ = 0;
  size_t thread_ = 0;
  size_t piece_ = 0;
  State state_ = State::kNew;
  bool skipped_ = false;  // the next piece is the first one read, and there are some before it
  bool lost_ = false;     // the piece before was damaged
  bool past_ends_ =
      false;  // the last piece that was read begins behind all ends that are asked for
  int64_t known_until_ns_ = 0;  // of the last piece that was read
  ScopeBuilder builder_;
  std::vector<RangeOfThread> unended_;  // of this process
  std::deque<RangeOfThread> ranges_;    // those, when their end is known
  ScopeRow row_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_TABLES_SCOPE_ROWS_H_
