// SPDX-License-Identifier: Apache-2.0
//
// The open scopes of one thread in a replay: which operation and which layer is on top, and which
// scope an end closes, whatever the order in which they end. Nearly always the topmost one ends.
// Another one stays in its place, marked, until it would be the topmost or half of all have ended;
// one that lies deep is found by a map, which is there while many are open. So any order of ends
// costs about as much as the usual one.
//
// Places, 4 ended:     0  1  2  3  (4)  5  6
//   with an operation  0     2
//   with a layer          1              6
//
// One object, one caller.
#ifndef GPUBOUND_ANALYSIS_REPLAY_OPEN_SCOPES_H_
#define GPUBOUND_ANALYSIS_REPLAY_OPEN_SCOPES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analysis/trace/event_source.h"
#include "analysis/trace/label_roles.h"

namespace gpubound {

// Where a graph stands that an occurrence of an operation is to become: what ends a capture has
// come, and then something that would belong to it.
enum class GraphCapture : uint8_t { kGoesOn, kEnded, kBroken };

struct OpenScope {
  LabelId label{};
  bool is_range = false;
  bool ended = false;
  Layer layer = Layer::kUnset;  // its own, as is the operation
  GraphCapture capture = GraphCapture::kGoesOn;
  OperationIndex operation = kNotOne;
  PeerIndex peer = kNotOne;
  uint32_t capture_launch = 0;  // correlation of this occurrence's graph launch, once it is
  uint32_t same_beneath = 0;  // place + 1 of the next one that the same end would close; if mapped
  uint64_t range = 0;
  int64_t begun_ns = 0;
};

class OpenScopes {
 public:
  bool empty() const { return scopes_.empty(); }
  const OpenScope& top() const { return scopes_.back(); }

  // Of the scope begun last that has one, else kNotOne and kUnset.
  OperationIndex operation() const {
    return operations_.empty() ? kNotOne : scopes_[operations_.back()].operation;
  }
  Layer layer() const { return layers_.empty() ? Layer::kUnset : scopes_[layers_.back()].layer; }
  // That scope; null where none has an operation.
  OpenScope* InnermostOperation() {
    return operations_.empty() ? nullptr : &scopes_[operations_.back()];
  }

  void Open(const OpenScope& scope) {
    const auto place = static_cast<uint32_t>(scopes_.size());
    scopes_.push_back(scope);
    if (scope.operation != kNotOne) operations_.push_back(place);
    if (scope.layer != Layer::kUnset) layers_.push_back(place);
    if (mapped_) Map(place);
  }

  // The scope that this end closes, the innermost of its kind; null where there is none. Valid
  // until the next one opens or closes.
  OpenScope* FindEnded(const ThreadEvent& end) {
    const bool is_range = end.kind == SlotKind::kRangeEnd;
    if (!scopes_.empty() && Ends(end, is_range, scopes_.back())) return &scopes_.back();
    return FindSlowPath(end, is_range);
  }

  // |scope|: as found.
  void Close(OpenScope* scope) {
    if (mapped_) Unmap(*scope);
    scope->ended = true;
    ++ended_;
    for (; !scopes_.empty() && scopes_.back().ended; scopes_.pop_back()) --ended_;
    Trim(&operations_);
    Trim(&layers_);
    if (2 * ended_ > scopes_.size()) Compact();
    if (mapped_ && scopes_.size() < kNear) DropMap();
  }

  void Clear() { *this = {}; }

  template <typename Visit>
  void ForEach(Visit visit) {
    for (OpenScope& scope : scopes_) {
      if (!scope.ended) visit(&scope);
    }
  }

 private:
  static constexpr size_t kNear = 32;  // so many are looked at one by one

  static bool Ends(const ThreadEvent& end, bool is_range, const OpenScope& scope) {
    return scope.is_range == is_range &&
           (is_range ? scope.range == end.payload : scope.label == end.label);
  }
  static uint64_t KeyOf(const OpenScope& scope) {
    return scope.is_range ? scope.range : Raw(scope.label);
  }
  // No list ends with one that has ended.
  void Trim(std::vector<uint32_t>* places) const {
    while (!places->empty() &&
           (places->back() >= scopes_.size() || scopes_[places->back()].ended)) {
      places->pop_back();
    }
  }
  OpenScope* FindSlowPath(const ThreadEvent& end, bool is_range);
  void Map(uint32_t place);
  void Unmap(const OpenScope& scope);
  void MapAll();
  void DropMap();
  void Compact();

  std::vector<OpenScope> scopes_;
  size_t ended_ = 0;                  // of them; the topmost never is
  std::vector<uint32_t> operations_;  // places of those with an operation, ascending
  std::vector<uint32_t> layers_;      // ... with a layer
  bool mapped_ = false;
  // Place + 1 of the innermost by label, and by range.
  std::array<std::unordered_map<uint64_t, uint32_t>, 2> innermost_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_REPLAY_OPEN_SCOPES_H_
