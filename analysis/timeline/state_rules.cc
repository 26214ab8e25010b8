// SPDX-License-Identifier: Apache-2.0
//
// Works the rules out. No state beyond the objects.
#include "analysis/timeline/state_rules.h"

namespace gpubound {

StateRule::StateRule(const LabelRole& role)
    : operation_(role.operation),
      cause_(role.cause),
      capture_(role.capture),
      has_layer_(role.layer != Layer::kUnset),
      enters_layer_(has_layer_ && !role.ends_thread && !role.is_assumed),
      is_sync_(role.api_class == ApiClass::kSync),
      call_is_scope_(role.call_is_scope),
      // Layer wait by itself would say that somebody waits.
      own_origin_(role.cause, has_cause(), role.call_is_scope || role.ends_thread) {
  if (has_operation()) scope_.SetOperation(role.operation);
  if (has_layer_) {
    scope_.SetLayer(role.layer, role.layer == Layer::kWait ? role.peer : kNotOne);
    own_origin_mask_ |= CauseOrigin::kLayerIsCall;
  }
  if (has_cause()) own_origin_mask_ |= CauseOrigin::kNamed;
  if (has_cause() || has_operation()) own_origin_mask_ |= CauseOrigin::kNamedInside;

  const Layer layer = is_sync_ ? Layer::kCudaSync : Layer::kCudaApi;
  call_.SetLayer(layer, kNotOne);
  call_.SetCause(CauseInCall(role.cause, layer));
}

StateRules::StateRules(const LabelRoles& roles) : labels_(roles.labels()) {
  for (size_t id = 0; id < labels_; ++id) {
    rules_.emplace_back(roles.Of(static_cast<LabelId>(id)));
  }
  rules_.emplace_back(LabelRole());
}

}  // namespace gpubound
