// SPDX-License-Identifier: Apache-2.0
//
// The stack of open scopes of one thread, as encoder and decoder follow it. Both must follow it by
// the same rules, or an end that carries no label would get the wrong one:
//   * a begin opens a scope, unless kMaxOpenScopes are open: then it is an event and nothing more;
//   * an end closes the innermost open scope with its label, wherever that lies, or nothing.
//
// Thread rule: one thread at a time per object.
#ifndef GPUBOUND_PROTO_SCOPE_STACK_H_
#define GPUBOUND_PROTO_SCOPE_STACK_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "proto/live_format.h"

namespace gpubound {

struct ScopeStack {
  // labels[0] is no label, so that the innermost one can be read without asking whether there is
  // one; the entry behind the last is scratch for loops that store before they decide.
  uint32_t labels[kMaxOpenScopes + 2] = {UINT32_MAX};
  uint32_t depth = 0;

  uint32_t innermost() const { return labels[depth]; }
  std::span<const uint32_t> open() const { return {labels + 1, depth}; }

  void Assign(std::span<const uint32_t> open_labels) {
    depth = static_cast<uint32_t>(std::min<size_t>(open_labels.size(), kMaxOpenScopes));
    if (depth != 0) std::memcpy(labels + 1, open_labels.data(), depth * sizeof(uint32_t));
  }

  void Begin(uint32_t label) {
    if (depth < kMaxOpenScopes) labels[++depth] = label;
  }

  // Begin(), or what an end of the innermost scope does, without a branch. One |ends| only where
  // one is open.
  void BeginOrEnd(uint32_t label, bool ends) {
    labels[depth + 1] = label;
    depth += ends ? UINT32_MAX : static_cast<uint32_t>(depth < kMaxOpenScopes);
  }

  void End(uint32_t label) {
    uint32_t at = depth;
    while (at != 0 && labels[at] != label) --at;
    if (at == 0) return;
    std::memmove(labels + at, labels + at + 1, (depth - at) * sizeof(uint32_t));
    --depth;
  }
};

}  // namespace gpubound

#endif  // GPUBOUND_PROTO_SCOPE_STACK_H_
