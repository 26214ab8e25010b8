// SPDX-License-Identifier: Apache-2.0
//
// Why a device was idle. Every idle nanosecond has exactly one cause. The first rule that holds
// decides. The first two are about a whole gap and are told from what ended it: the CPU had
// launched that work before the gap began, so what the CPU did meanwhile is no cause.
//
//   event-wait   such work whose stream had to wait for an event of another stream before it
//   queued       other such work: the device's own time between two pieces of queued work
//
// The others are told from what the CPU did at that instant:
//
//   checkpoint   an operation or annotation whose name says so is open (data/checkpoint_names.txt)
//                and none inside it has a name that says something else
//   compile      likewise (data/compile_names.txt); or a module is loaded, lazily or not; or a
//                stream is being captured or a graph instantiated
//   start-up     nothing was begun yet: before the first operation, or before the first step()
//   simulation   layer simulator; or an operation named so (data/simulation_names.txt) outside CUDA
//                calls; or a wait for a process that simulates; or a wait for nobody who is known,
//                while another thread of the process simulates
//   waiting      layer wait: another process, a queue, a lock
//   copy         a copy or set call, whether it waits or not
//   sync         layer cuda_sync: the round trip after the device had finished
//   launch       any other work of the CPU under a scope or in a call: the launch path, and Python
//   unknown      nothing is recorded; never spread over the others
#ifndef GPUBOUND_ANALYSIS_TRACE_IDLE_CAUSE_H_
#define GPUBOUND_ANALYSIS_TRACE_IDLE_CAUSE_H_

#include <cstddef>
#include <cstdint>

namespace gpubound {

enum class IdleCause : uint8_t {
  kUnknown = 0,
  kLaunch,
  kCopy,
  kSync,
  kWaiting,
  kSimulation,
  kStartUp,
  kCompile,
  kCheckpoint,
  kQueued,
  kEventWait,
};
inline constexpr size_t kIdleCauses = 11;

// Nothing else that goes on says more.
constexpr bool SaysAll(IdleCause cause) {
  return cause == IdleCause::kCheckpoint || cause == IdleCause::kCompile;
}

constexpr const char* IdleCauseName(IdleCause cause) {
  constexpr const char* kNames[kIdleCauses] = {"unknown",    "launch",     "copy",      "sync",
                                               "waiting",    "simulation", "start-up",  "compile",
                                               "checkpoint", "queued",     "event-wait"};
  return kNames[static_cast<size_t>(cause)];
}

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_TRACE_IDLE_CAUSE_H_
