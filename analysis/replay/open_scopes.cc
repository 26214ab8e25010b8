// SPDX-License-Identifier: Apache-2.0
//
// What is done while ends come in an unusual order. No state beyond the object.
#include "analysis/replay/open_scopes.h"

#include <algorithm>

namespace gpubound {

OpenScope* OpenScopes::FindSlowPath(const ThreadEvent& end, bool is_range) {
  const size_t looked_at = std::min(scopes_.size(), kNear);
  for (size_t i = 0; i < looked_at; ++i) {
    OpenScope& scope = scopes_[scopes_.size() - 1 - i];
    if (!scope.ended && Ends(end, is_range, scope)) return &scope;
  }
  if (looked_at == scopes_.size()) return nullptr;
  if (!mapped_) MapAll();
  const uint64_t key = is_range ? end.payload : Raw(end.label);
  const auto found = innermost_[is_range].find(key);
  return found == innermost_[is_range].end() ? nullptr : &scopes_[found->second - 1];
}

void OpenScopes::Map(uint32_t place) {
  OpenScope& scope = scopes_[place];
  uint32_t& innermost = innermost_[scope.is_range][KeyOf(scope)];
  scope.same_beneath = innermost;
  innermost = place + 1;
}

// It is the innermost of its kind.
void OpenScopes::Unmap(const OpenScope& scope) {
  auto& innermost = innermost_[scope.is_range];
  if (scope.same_beneath == 0) {
    innermost.erase(KeyOf(scope));
  } else {
    innermost[KeyOf(scope)] = scope.same_beneath;
  }
}

void OpenScopes::MapAll() {
  mapped_ = true;
  for (auto& innermost : innermost_) innermost.clear();
  for (uint32_t place = 0; place < scopes_.size(); ++place) {
    if (!scopes_[place].ended) Map(place);
  }
}

void OpenScopes::DropMap() {
  mapped_ = false;
  innermost_ = {};
}

void OpenScopes::Compact() {
  std::erase_if(scopes_, [](const OpenScope& scope) { return scope.ended; });
  ended_ = 0;
  operations_.clear();
  layers_.clear();
  for (uint32_t place = 0; place < scopes_.size(); ++place) {
    if (scopes_[place].operation != kNotOne) operations_.push_back(place);
    if (scopes_[place].layer != Layer::kUnset) layers_.push_back(place);
  }
  if (mapped_) MapAll();
}

}  // namespace gpubound
