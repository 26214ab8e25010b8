// SPDX-License-Identifier: Apache-2.0
//
// What a call of an operator costs at least, by the shapes of its inputs: matrix products,
// convolutions and attention of PyTorch. Pure.
#ifndef GPUBOUND_ANALYSIS_TRACE_OP_COST_H_
#define GPUBOUND_ANALYSIS_TRACE_OP_COST_H_

#include <optional>

#include "analysis/trace/run.h"

namespace gpubound {

struct OpCost {
  // Floating-point operations; a multiplication and the addition of its result are two. A bias
  // and softmax are left out, and of attention with a causal mask half of the pairs count.
  double flops = 0;
  // That have to be read and written: each input once, the output once, in the type of the first.
  std::optional<double> bytes;  // absent: the types do not tell
};

// Of one call; nothing where the operator is another one, or its shapes do not tell.
std::optional<OpCost> CostOf(const Op& op);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_TRACE_OP_COST_H_
