// SPDX-License-Identifier: Apache-2.0
//
// What the actions of lifecycle_victim share: opening scopes and keeping account of them.
#ifndef GPUBOUND_TESTS_PROGRAMS_VICTIM_H_
#define GPUBOUND_TESTS_PROGRAMS_VICTIM_H_

#include <gpubound/annotate.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstdint>
#include <map>
#include <string>

#include "tests/programs/progress.h"

namespace gpubound {

// The account named by $VICTIM_PROGRESS.
ProgressFile* Progress();

// The scopes of one thread, numbered from 0 by a counter inside each. Make one per thread and,
// after a fork, per process; two on one thread of one process are two accounts and confuse the
// test.
class Worker {
 public:
  Worker() : line_(ClaimProgressLine(Progress())) {}

  void Scope() {
    {
      GPUBOUND_OPERATION("work");
      GPUBOUND_COUNTER("index", completed_);
    }
    line_->completed.store(++completed_, std::memory_order_release);
  }
  void Scopes(int count) {
    for (int i = 0; i < count; ++i) Scope();
  }
  // Until the process ends: as fast as it can at first, then at a pace that any disk keeps up with,
  // since a full pool drops events, which is not what these tests are about.
  [[noreturn]] void ScopesForEver() {
    for (;;) Paced();
  }
  void Paced() {
    Scope();
    if (completed_ > kUnpaced && completed_ % 100 == 0) usleep(100);
  }
  // The trace must hold none of these scopes: the process cannot be recorded.
  void IsNotRecorded() { line_->unrecorded = 1; }

 private:
  static constexpr uint64_t kUnpaced = 100'000;

  ProgressLine* line_;
  uint64_t completed_ = 0;
};

// Whatever every thread of this process has completed by now must be in the trace, although the
// process goes on and may complete more while it ends.
void RequireWhatIsDone();

// The signals that the calling thread blocks, as bits by number.
uint64_t BlockedSignals();

// Exit code of |child|, or 128 + signal.
int WaitForChild(pid_t child);

using Action = int (*)();
const std::map<std::string, Action>& EndActions();    // victim_ends.cc: how a process ends
const std::map<std::string, Action>& ChildActions();  // victim_children.cc: how processes begin
const std::map<std::string, Action>&
GroundActions();                                    // victim_grounds.cc: for a while, in a sandbox
const std::map<std::string, Action>& OddActions();  // victim_odd.cc: what programs do besides
const std::map<std::string, Action>& SignalActions();  // victim_signals.cc: what handlers do

}  // namespace gpubound

#endif  // GPUBOUND_TESTS_PROGRAMS_VICTIM_H_
