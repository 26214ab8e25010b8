// SPDX-License-Identifier: Apache-2.0
//
// Which kinds of GPU work the processes of an Nsight Systems export launched, and which kinds it
// has of them. Where one has none of what it launched, its GPU work was not traced or not exported.
// One object, one thread.
#ifndef GPUBOUND_ANALYSIS_IMPORT_NSYS_LAUNCHES_H_
#define GPUBOUND_ANALYSIS_IMPORT_NSYS_LAUNCHES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/import/foreign_trace.h"
#include "proto/event_model.h"

namespace gpubound {

class NsysLaunches {
 public:
  // Processes are indices of the names.
  void AddCall(uint32_t process, std::string_view name, int32_t result);

  // |process| may be kNoIndex: then it may be anybody's. |in_graph|: it may be a graph's node.
  void AddWork(uint32_t process, WorkKind kind, bool in_graph);

  // Adds to |trace| what is missing. A kind is enough: of what was launched last in a session some
  // may lack its work, and calls within a capture launch nothing.
  void NoteMissing(ForeignTrace* trace) const;

 private:
  static constexpr size_t kKinds = size_t{static_cast<size_t>(WorkKind::kGraph)} + 1;

  struct Totals {
    std::array<uint64_t, kKinds> calls{};  // that launched work of the kind
    std::array<bool, kKinds> work{};       // there is some
    bool work_in_graphs = false;
    bool captures = false;
  };

  Totals& Of(uint32_t process);
  bool Lacks(const Totals& totals, WorkKind kind) const;

  std::vector<Totals> of_;  // by process
  Totals anybodys_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_IMPORT_NSYS_LAUNCHES_H_
