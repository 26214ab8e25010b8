// SPDX-License-Identifier: Apache-2.0
//
// What each name of a process means for its breakdown: which labels are operations, which switch
// the layer, which API functions wait. Decided once per process, so that the sweep over events
// looks up arrays. Plain values, no thread rule.
#ifndef GPUBOUND_ANALYSIS_LABEL_ROLES_H_
#define GPUBOUND_ANALYSIS_LABEL_ROLES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/run.h"
#include "proto/sync_calls.h"

namespace gpubound {

// Dense numbers of operation names and phase names within one process; 0 is the row without one.
using OperationIndex = uint32_t;
using PhaseIndex = uint32_t;
inline constexpr OperationIndex kNoOperationIndex = 0;
inline constexpr PhaseIndex kNoPhaseIndex = 0;
inline constexpr uint32_t kNotOne = 0xffffffff;

struct LabelRole {
  OperationIndex operation = kNotOne;  // kNotOne: the label is no operation
  PhaseIndex phase = kNotOne;
  Layer layer = Layer::kUnset;  // kUnset: the label does not switch the layer
  ApiClass api_class = ApiClass::kCall;
  // Calls of this function are scopes of their thread too, and it is those that set the layer, so
  // that what the call encloses and what encloses it is decided by their order (imported traces).
  bool call_is_scope = false;
  bool command_buffer_full = false;  // an overhead during which the launch queue is full
};

class LabelRoles {
 public:
  // |promoted| as in ReportOptions::operations. Foreign ranges serve as operations where they are
  // promoted, and, in a process without any operation, where no library made them.
  LabelRoles(const ProcessTrace& process, const std::vector<std::string>& promoted);

  const LabelRole& Of(LabelId label) const {
    return Raw(label) < roles_.size() ? roles_[Raw(label)] : none_;
  }
  const std::vector<std::string>& operations() const { return operations_; }
  const std::vector<std::string>& phases() const { return phases_; }

 private:
  std::vector<LabelRole> roles_;  // by label id
  std::vector<std::string> operations_;
  std::vector<std::string> phases_;
  LabelRole none_;
};

// True for ranges that a library opens about itself: NCCL, XLA/TSL, cuBLAS, CUB, compiled regions.
bool IsLibraryAnnotation(std::string_view domain, std::string_view text);

// True when a thread of |process| opens at least one operation.
bool HasOperations(const ProcessTrace& process);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_LABEL_ROLES_H_
