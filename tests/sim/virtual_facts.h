// SPDX-License-Identifier: Apache-2.0
//
// Answers about one instant of a virtual program (which operation? which layer? what does the GPU
// do?), each found by looking through all facts. No stack, no sweep, no index: nothing is shared
// with analysis/ but the vocabulary of SPEC sections 1 and 2.
//
// Pure; the history outlives the object.
#ifndef GPUBOUND_TESTS_SIM_VIRTUAL_FACTS_H_
#define GPUBOUND_TESTS_SIM_VIRTUAL_FACTS_H_

#include <cstdint>
#include <set>
#include <string>

#include "tests/sim/virtual_program.h"

namespace gpubound::sim {

inline constexpr char kNoOperationRow[] = "(no operation)";
inline constexpr uint32_t kReportingThread = 0;  // opens the first operation: VirtualProgram

inline bool Holds(TimeNs begin, TimeNs end, TimeNs at) { return begin <= at && at < end; }

std::string NameOf(Layer layer);

// Of the recorded work that runs at an instant.
struct GpuClasses {
  bool comm = false;
  bool compute = false;
  bool copy = false;
  bool busy() const { return comm || compute || copy; }
};

class Facts {
 public:
  explicit Facts(const History& history);

  // Whether such a scope owns time: an operation; where there is none at all, an annotation that is
  // not a library's.
  bool Serves(const ScopeName& name) const;

  std::string ReportingOperation(TimeNs at) const;
  // The operation that |thread| works under.
  std::string OperationOf(uint32_t thread, TimeNs at) const;
  // The layer that |thread| itself tells; kUnset where it tells none.
  Layer OwnLayer(uint32_t thread, TimeNs at) const;
  // The reporting thread's layer, refined outside Python by the threads under its operation.
  Layer ProcessLayer(TimeNs at) const;
  // What encloses an event of |thread| that is number |sequence| of the program.
  Layer Enclosing(uint32_t thread, TimeNs at, uint64_t sequence) const;
  std::string Phase(TimeNs at) const;

  GpuClasses Classes(TimeNs at) const;
  // As a cell names it.
  std::string Gpu(TimeNs at) const;
  // Work could run unrecorded.
  bool IsUnrecorded(TimeNs at) const;
  TimeNs RunningCount(TimeNs at) const;
  // Any work, recorded or lost.
  bool IsReallyBusy(TimeNs at) const;
  // The operations whose launches caused what runs now.
  std::set<std::string> Causes(TimeNs at) const;
  bool HasCall(const WorkFact& work) const;

 private:
  Layer Base() const;
  std::string OwnOperation(uint32_t thread, TimeNs at) const;
  bool EverOpensOperation(uint32_t thread) const;
  bool HasBegun(uint32_t thread, TimeNs at) const;
  bool IsSync(const ApiFact& call, TimeNs at) const;
  Layer ScopeLayer(uint32_t thread, TimeNs at, uint64_t sequence) const;
  Layer ReportingLayer(TimeNs at) const;
  bool Adopts(TimeNs at) const;
  bool IsPaused(TimeNs at) const;

  const History& history_;
  const bool annotations_serve_;
};

}  // namespace gpubound::sim

#endif  // GPUBOUND_TESTS_SIM_VIRTUAL_FACTS_H_
