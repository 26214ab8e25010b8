// SPDX-License-Identifier: Apache-2.0
//
// What a framework's profiler says of the inputs of an operator, as short text. Pure.
#ifndef GPUBOUND_ANALYSIS_IMPORT_IMPORT_OP_TEXT_H_
#define GPUBOUND_ANALYSIS_IMPORT_IMPORT_OP_TEXT_H_

#include <string>
#include <string_view>

#include "analysis/trace/run.h"

namespace gpubound {

// Inputs as they are written: JSON, or nothing.
struct OpInputs {
  std::string_view dims;    // [[16, 559], [559, 64], []]
  std::string_view types;   // ["float", "c10::BFloat16", "Scalar"]
  std::string_view values;  // of numbers: ["", "[2, 2]", "1"]
};

// Whether what |name| costs depends on numbers that it was called with: convolutions and attention.
// Of others they are many, and each would make another operator.
bool NeedsValues(std::string_view name);

// An operator |name|, with its inputs as trace/run.h says. Those beyond the last that has a shape
// are left out, and of very many the last ones.
Op MakeOp(std::string_view name, const OpInputs& inputs);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_IMPORT_IMPORT_OP_TEXT_H_
