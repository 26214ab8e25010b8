// SPDX-License-Identifier: Apache-2.0
//
// The part of a run that GPUBOUND_STEPS=A:B asks for. It begins when an iteration ends whose number
// is A-1 or more, and is over when one ends whose number is B-1 or more, whichever process of the
// run comes to it first. The processes of a run on one host tell each other through a file in the
// run directory, which each maps:
//
//   HOST.steps:   int64 begin_ns | int64 end_ns        CLOCK_MONOTONIC; 0: not yet
//
// Iterations are stamped with ticks, and those are converted to that clock with an error that may be
// larger than an iteration's first call is long. So a process whose own iteration began or ended the
// window keeps the ticks of it: in its trace the window begins and ends right after that iteration.
//
// Any thread; no lock, and no system call once it is made.
#ifndef GPUBOUND_LIBPROFILER_STEP_WINDOW_H_
#define GPUBOUND_LIBPROFILER_STEP_WINDOW_H_

#include <atomic>
#include <cstdint>
#include <string>

#include "proto/clock_conversion.h"
#include "proto/event_model.h"
#include "proto/step_range.h"

namespace gpubound {

class StepWindow {
 public:
  // Where |path| cannot be mapped, which is said on stderr, the process goes by its own iterations.
  StepWindow(const StepRange& steps, const std::string& path);
  ~StepWindow();
  StepWindow(const StepWindow&) = delete;
  StepWindow& operator=(const StepWindow&) = delete;

  const StepRange& steps() const { return steps_; }
  // The first iteration that is wanted is still to come.
  bool pending() const noexcept { return steps_.begin != 0 && begin_ns() == 0; }
  bool over() const noexcept { return end_ns() != 0; }
  // 0: not yet, or it begins with the run.
  int64_t begin_ns() const noexcept;
  int64_t end_ns() const noexcept;  // 0: not yet
  // The same as they are on the timeline of this process's events, which |ticks| converts.
  int64_t BeginOn(const ClockConversion& ticks) const noexcept;
  int64_t EndOn(const ClockConversion& ticks) const noexcept;

  // Iteration |number| ended at |now_ns|, and is stamped with |ticks|. True where this begins the
  // window or ends it. Numbers below 0, cast as gpubound_api::step has them, come before all others.
  bool OnStep(uint64_t number, int64_t now_ns, uint64_t ticks) noexcept;

  // A phase of this process began. What was recorded of it may be let go before the window begins.
  void NotePhase(LabelId phase) noexcept {
    if (pending()) phase_.store(Raw(phase), std::memory_order_relaxed);
  }
  // Once the window has begun, and once: the phase that held then. None: there is nothing to say.
  LabelId TakePhase() noexcept {
    return static_cast<LabelId>(pending() ? 0 : phase_.exchange(0, std::memory_order_relaxed));
  }

 private:
  struct Shared {
    int64_t begin_ns;
    int64_t end_ns;
  };

  const StepRange steps_;
  Shared* shared_;
  Shared own_ = {};
  // Of the iteration of this process that set the shared time. 0: another process did, or nobody.
  std::atomic<uint64_t> begin_ticks_{0};
  std::atomic<uint64_t> end_ticks_{0};
  std::atomic<uint32_t> phase_{0};
};

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_STEP_WINDOW_H_
