// SPDX-License-Identifier: Apache-2.0
//
// Which kinds of GPU work the processes of a foreign trace launched, and which kinds it has of
// them. Where one has none of what it launched, its GPU work was not traced or not exported. One
// object, one thread.
#ifndef GPUBOUND_ANALYSIS_IMPORT_IMPORT_LAUNCHES_H_
#define GPUBOUND_ANALYSIS_IMPORT_IMPORT_LAUNCHES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/import/foreign_trace.h"
#include "proto/event_model.h"

namespace gpubound {

class ForeignLaunches {
 public:
  static constexpr size_t kWorkKinds = size_t{static_cast<size_t>(WorkKind::kGraph)} + 1;

  // How a note speaks of a trace of the tool.
  struct Words {
    const char* trace;                            // "the export"
    std::array<const char*, kWorkKinds> none_in;  // by kind: where there is none of it
    const char* remedy;                           // a sentence
    // Calls that set memory may be without work although all is there. Of 22 in a profile of
    // BERT's inference on an H100 (CUDA 12.4) none has any.
    bool sets_may_be_none = false;
  };
  explicit ForeignLaunches(const Words& words) : words_(words) {}

  // Processes are indices of the names.
  void AddCall(uint32_t process, std::string_view name, int32_t result);

  // |process| may be kNoIndex: then it may be anybody's. |in_graph|: it may be a graph's node.
  void AddWork(uint32_t process, WorkKind kind, bool in_graph);

  // Adds to |trace| what is missing of a whole kind. Single calls whose work is missing are found
  // by their id, in lost_launches.h.
  void NoteMissing(ForeignTrace* trace) const;

 private:
  struct Totals {
    std::array<uint64_t, kWorkKinds> calls{};  // that launched work of the kind
    std::array<bool, kWorkKinds> work{};       // there is some
    bool work_in_graphs = false;
    bool captures = false;
  };

  Totals& Of(uint32_t process);
  bool Lacks(const Totals& totals, WorkKind kind) const;

  const Words words_;
  std::vector<Totals> of_;  // by process
  Totals anybodys_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_IMPORT_IMPORT_LAUNCHES_H_
