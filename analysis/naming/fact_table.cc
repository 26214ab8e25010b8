// SPDX-License-Identifier: Apache-2.0
//
// Looks at each label once. No state.
#include "analysis/naming/fact_table.h"

#include <array>
#include <string>

#include "analysis/trace/label_roles.h"
#include "proto/scope_domains.h"

namespace gpubound {
namespace {

constexpr std::string_view kTransfers[] = {
    "cpu", "numpy", "__array__", "item", "tolist", "__int__", "__float__", "__bool__", "__index__"};
constexpr std::string_view kInputs[] = {"as_tensor", "from_numpy", "tensor",
                                        "asarray",   "stack",      "Tensor"};
constexpr std::string_view kViews[] = {"to",      "float", "double",     "long",  "unsqueeze",
                                       "squeeze", "view",  "reshape",    "clone", "__getitem__",
                                       "permute", "div",   "__truediv__"};
constexpr std::string_view kStores[] = {"__setitem__", "index_put_", "masked_fill_"};

template <size_t kCount>
bool Contains(const std::string_view (&names)[kCount], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

Fact FactOfOperation(const Label& label) {
  if (label.domain == kStageDomain) return Fact::kStage;
  if (IsSimulation(label)) return Fact::kEnvironment;
  if (label.text == "backpropagation") return Fact::kBackward;
  if (label.text == "optimizer") return Fact::kOptimizer;
  if (label.text == "sample") return Fact::kSample;
  return label.text == "inference" ? Fact::kAsked : Fact::kOperation;
}

Fact FactOfCall(const Label& label) {
  if (label.domain == kModuleDomain) return Fact::kCallOff;
  if (label.domain == kModuleWithGradientsDomain) return Fact::kCallOn;
  if (label.domain == kJittedCallDomain) return Fact::kJitted;
  if (label.domain == "torch" && label.text.starts_with("Optimizer.zero_grad#")) return Fact::kWait;
  return label.domain == kJittedTrainingDomain ? Fact::kJittedTraining : Fact::kNone;
}

Fact FactOfLayer(const Label& label) {
  if (label.layer == Layer::kWait) return Fact::kWait;
  if (label.layer != Layer::kBackend) return Fact::kNone;
  // May as well open a range that torch puts around an optimizer's zero_grad().
  if (label.text == "OpOverloadPacket.__call__") return Fact::kNone;
  const std::string_view name = std::string_view(label.text).substr(label.text.rfind('.') + 1);
  if (name.find("loss") != std::string_view::npos || name.starts_with("binary_cross_entropy")) {
    return Fact::kFrameworkLoss;
  }
  if (name == "detach") return Fact::kFrameworkDetach;
  if (Contains(kStores, name)) return Fact::kFrameworkStore;
  if (Contains(kInputs, name)) return Fact::kFrameworkInput;
  if (Contains(kViews, name)) return Fact::kFrameworkView;
  return Contains(kTransfers, name) ? Fact::kFrameworkTransfer : Fact::kFrameworkCall;
}

LabelId OperationCalled(const std::string& text, ProcessTrace* process) {
  std::vector<Label>& labels = process->labels;
  const auto found = std::find_if(labels.begin(), labels.end(), [&text](const Label& label) {
    return label.kind == LabelKind::kOperation && label.domain == kRulesDomain &&
           label.text == text;
  });
  const auto id = static_cast<LabelId>(found - labels.begin());
  if (found == labels.end()) {
    labels.push_back({LabelKind::kOperation, Layer::kUnset, kRulesDomain, text});
  }
  return id;
}

}  // namespace

FactTable::FactTable(ProcessTrace* process) {
  for (const Label& label : process->labels) {
    Fact fact = Fact::kNone;
    if (label.kind == LabelKind::kOperation) fact = FactOfOperation(label);
    if (label.kind == LabelKind::kAnnotation) fact = FactOfCall(label);
    if (label.kind == LabelKind::kLayer) fact = FactOfLayer(label);
    any_ |= IsModuleCall(fact) || IsJitted(fact) || fact == Fact::kStage;
    if (fact == Fact::kStage && label.text == "rollout") {
      stage_rollout_ = static_cast<LabelId>(facts_.size());
    }
    if (fact == Fact::kOperation && label.domain.empty() && label.text == "rollout") {
      own_rollout_ = static_cast<LabelId>(facts_.size());
    }
    facts_.push_back(fact);
  }
  if (!any_) return;
  if (process->labels.empty()) process->labels.emplace_back();  // the first one stands for none
  own_names_.resize(facts_.size());
  for (size_t id = 0; id < facts_.size(); ++id) {
    if (!IsJitted(facts_[id])) continue;
    const std::string name = process->labels[id].text;
    own_names_[id] = OperationCalled(name, process);
  }
  inference_ = OperationCalled("inference", process);
  forward_ = OperationCalled("forward", process);
  target_ = OperationCalled("target", process);
  rollout_ = OperationCalled("rollout", process);
  update_ = OperationCalled("update", process);
}

}  // namespace gpubound
