// SPDX-License-Identifier: Apache-2.0
//
// What each label of a process tells about a training loop: the facts that hooks record of an
// unmodified program. Decided once per process. Plain values, no thread rule.
#ifndef GPUBOUND_ANALYSIS_NAMING_FACT_TABLE_H_
#define GPUBOUND_ANALYSIS_NAMING_FACT_TABLE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/trace/run.h"

namespace gpubound {

enum class Fact : uint8_t {
  kNone,            // tells nothing, but may enclose others: an annotation, a wait, another layer
  kCallOff,         // a module was called while gradients were off
  kCallOn,          // ... while they were on
  kJitted,          // a jitted function of the program, or a wait for its results
  kJittedTraining,  // one that is named as training steps are
  kEnvironment,     // an environment was stepped or reset
  kSample,          // a batch was drawn from a replay buffer
  kBackward,        // gradients were computed
  kOptimizer,       // an optimizer stepped
  kWait,           // the thread was blocked, or an optimizer cleared gradients: nothing of the rest
  kStage,          // `rollout` or `update`, as far as the program could tell at that moment
  kAsked,          // `inference`, by the program or a framework's hook: a policy was asked
  kOperation,      // any other operation: the program's own, or one that a framework's hook names
  kFrameworkCall,  // a function of torch or jax, of layer backend
  kFrameworkLoss,  // one that compares an estimate with what it should be: mse_loss() ...
  kFrameworkStore,     // one that puts a result away: an assignment to items of a tensor
  kFrameworkTransfer,  // one that hands a result to the program: .cpu(), .numpy(), .item() ...
  kFrameworkInput,     // one that makes a tensor of what the program has: as_tensor(), from_numpy()
                       // ...
  kFrameworkView,      // one that picks or changes what it is asked of: to(), a[i], unsqueeze() ...
  kFrameworkDetach     // one that takes a result out of what gradients are computed of: detach()
};

constexpr bool IsModuleCall(Fact fact) { return fact == Fact::kCallOff || fact == Fact::kCallOn; }
constexpr bool IsJitted(Fact fact) {
  return fact == Fact::kJitted || fact == Fact::kJittedTraining;
}
// Decides what came before it, or is decided by what comes after.
constexpr bool IsDecisive(Fact fact) { return fact >= Fact::kCallOff && fact <= Fact::kOptimizer; }
constexpr bool IsFrameworkCall(Fact fact) { return fact >= Fact::kFrameworkCall; }
constexpr bool IsOperation(Fact fact) {
  return fact >= Fact::kEnvironment && fact <= Fact::kOperation && fact != Fact::kWait;
}

class FactTable {
 public:
  // Adds to the labels of |process| the operations that facts can turn out to be.
  explicit FactTable(ProcessTrace* process);

  // No label is a fact whose name only what comes before and after tells.
  bool empty() const { return !any_; }
  Fact Of(LabelId label) const {
    return Raw(label) < facts_.size() ? facts_[Raw(label)] : Fact::kNone;
  }
  // Of a jitted function: the operation of its name.
  LabelId OwnName(LabelId label) const { return own_names_[Raw(label)]; }
  bool IsRollout(LabelId label) const { return label == stage_rollout_; }
  // A scope of it, the program's or a framework's, is where experience is collected.
  bool IsCollecting(LabelId label) const {
    return label == rollout_ || (label == own_rollout_ && label != LabelId{});
  }

  LabelId inference() const { return inference_; }
  LabelId forward() const { return forward_; }
  LabelId target() const { return target_; }
  LabelId rollout() const { return rollout_; }
  LabelId update() const { return update_; }

 private:
  std::vector<Fact> facts_;         // by label
  std::vector<LabelId> own_names_;  // by label
  bool any_ = false;
  LabelId inference_{};
  LabelId forward_{};
  LabelId target_{};
  LabelId rollout_{};
  LabelId update_{};
  LabelId stage_rollout_{};
  LabelId own_rollout_{};
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_NAMING_FACT_TABLE_H_
