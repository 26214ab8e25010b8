// SPDX-License-Identifier: Apache-2.0
//
// What a scope or a call of each label makes of what a thread does, worked out once for a process:
// which parts it replaces and by what, and what an idle device is then to be blamed on. So the
// state machine (thread_state.h) neither asks for each part of each event whether it changes, nor
// decides again what always comes out the same. Plain values, no thread rule.
#ifndef GPUBOUND_ANALYSIS_TIMELINE_STATE_RULES_H_
#define GPUBOUND_ANALYSIS_TIMELINE_STATE_RULES_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/timeline/doing.h"
#include "analysis/trace/idle_cause.h"
#include "analysis/trace/label_roles.h"

namespace gpubound {

// In an API call of cause |call|, or in a scope that stands for one.
constexpr IdleCause CauseInCall(IdleCause call, Layer layer) {
  return call == IdleCause::kLaunch && layer == Layer::kCudaSync ? IdleCause::kSync : call;
}

// Under an open scope and outside calls.
constexpr IdleCause CauseInScope(IdleCause named, Layer layer) {
  if (SaysAll(named)) return named;
  if (named == IdleCause::kSimulation || layer == Layer::kSimulator) {
    return IdleCause::kSimulation;
  }
  if (layer == Layer::kCudaSync) return IdleCause::kSync;
  return layer == Layer::kWait ? IdleCause::kWaiting : IdleCause::kLaunch;
}

// What the cause under open scopes follows from, beside the layer.
class CauseOrigin {
 public:
  static constexpr size_t kValues = 64;
  static constexpr uint8_t kNamed = 0x0f;  // the cause that the innermost scope with one names
  static constexpr uint8_t kNamedInside = 0x10;  // it is not outside the operation's scope
  static constexpr uint8_t kLayerIsCall = 0x20;  // it is an API call that set the layer

  constexpr CauseOrigin() = default;
  constexpr explicit CauseOrigin(uint8_t bits) : bits_(bits) {}
  constexpr CauseOrigin(IdleCause named, bool named_inside, bool layer_is_call)
      : bits_(static_cast<uint8_t>(static_cast<int>(named) | (named_inside ? kNamedInside : 0) |
                                   (layer_is_call ? kLayerIsCall : 0))) {}
  constexpr uint8_t bits() const { return bits_; }
  constexpr bool layer_is_call() const { return (bits_ & kLayerIsCall) != 0; }
  // That of the innermost scope with one.
  constexpr IdleCause named() const { return static_cast<IdleCause>(bits_ & kNamed); }
  // The one that counts: an operation speaks for itself, and what encloses it does not explain its
  // time, unless all of that is one thing.
  constexpr IdleCause NamedCause() const {
    const bool is_own = (bits_ & kNamedInside) != 0;
    return is_own || SaysAll(named()) ? named() : IdleCause::kUnknown;
  }
  constexpr IdleCause CauseIn(Layer layer) const {
    return layer_is_call() ? CauseInCall(NamedCause(), layer) : CauseInScope(NamedCause(), layer);
  }
  // All but the parts of |mask|, which are those of |other|.
  constexpr CauseOrigin WithPartsOf(CauseOrigin other, uint8_t mask) const {
    return CauseOrigin(static_cast<uint8_t>((bits_ & ~mask) | (other.bits_ & mask)));
  }

 private:
  uint8_t bits_ = 0;
};

// CauseOrigin::CauseIn(), looked up.
inline constexpr size_t kLayerValues = 16;  // that a Doing can hold
inline constexpr auto kCausesUnderScopes = [] {
  std::array<IdleCause, CauseOrigin::kValues * kLayerValues> causes{};
  for (size_t i = 0; i < causes.size(); ++i) {
    const CauseOrigin origin(static_cast<uint8_t>(i / kLayerValues));
    causes[i] = origin.CauseIn(static_cast<Layer>(i % kLayerValues));
  }
  return causes;
}();
inline IdleCause CauseUnderScopes(CauseOrigin origin, Layer layer) {
  return kCausesUnderScopes[origin.bits() * kLayerValues + static_cast<size_t>(layer)];
}

// What a stack of open scopes says, while no call and no window is open.
struct ScopesSay {
  Doing doing;
  CauseOrigin origin;
};

class StateRule {
 public:
  explicit StateRule(const LabelRole& role);

  // With a scope of this label above those that say |beneath|.
  ScopesSay Above(const ScopesSay& beneath) const {
    const CauseOrigin origin = beneath.origin.WithPartsOf(own_origin_, own_origin_mask_);
    const Doing doing = scope_.On(beneath.doing);
    return {doing.WithCause(CauseUnderScopes(origin, doing.layer())), origin};
  }
  // In a call of this label that is the only one which is open, outside windows.
  Doing InCall(const Doing& scopes) const {
    const Doing in_call = call_.On(scopes);
    return SaysAll(scopes.cause()) ? in_call.With(in_call.layer(), scopes.cause()) : in_call;
  }

  OperationIndex operation() const { return operation_; }
  bool has_operation() const { return operation_ != kNotOne; }
  bool has_layer() const { return has_layer_; }
  bool enters_layer() const {
    return enters_layer_;
  }  // a thread's end is no transition, nor what is assumed
  bool has_cause() const { return cause_ != IdleCause::kUnknown; }
  // Of calls.
  bool is_plain_call() const { return capture_ == CaptureEdge::kNone && !call_is_scope_; }
  bool call_is_scope() const { return call_is_scope_; }
  bool is_sync() const { return is_sync_; }
  IdleCause cause() const { return cause_; }
  CaptureEdge capture() const { return capture_; }

 private:
  OperationIndex operation_;
  IdleCause cause_;
  CaptureEdge capture_;
  bool has_layer_;
  bool enters_layer_;
  bool is_sync_;
  bool call_is_scope_;
  // Of a scope.
  CauseOrigin own_origin_;
  uint8_t own_origin_mask_ = 0;
  DoingPatch scope_;
  DoingPatch call_;
};

class StateRules {
 public:
  // As it is now.
  explicit StateRules(const LabelRoles& roles);

  const StateRule& Of(LabelId label) const { return rules_[std::min<size_t>(Raw(label), labels_)]; }

 private:
  size_t labels_;
  std::vector<StateRule> rules_;  // by label id, and behind them that of ids without a label
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_TIMELINE_STATE_RULES_H_
