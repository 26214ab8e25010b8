// SPDX-License-Identifier: Apache-2.0
//
// What XLA, the compiler of JAX and TensorFlow, says in the ranges that it opens in its own NVTX
// domain (seen with jaxlib 0.11.2):
//
//   Thunk:#name=jit(train)/while/body/inference/dot_general,hlo_op=fusion.3,unique_hlo_op_id=7#
//   XlaModule:#prefix=args[0],hlo_module=jit_train,program_id=2#
//   XlaPass:#name=dce,module=jit_train,program_id=2#
//
// A thunk is one launch, and its name the path of jax.named_scope, functions and transformations in
// which it was traced. The compiler's ranges have a number of the compilation in them, of which a
// large program has many thousand. Pure; views into the text that is read.
#ifndef GPUBOUND_CUPTI_HOOKS_NVTX_XLA_RANGES_H_
#define GPUBOUND_CUPTI_HOOKS_NVTX_XLA_RANGES_H_

#include <string>
#include <string_view>

namespace gpubound {

inline constexpr std::string_view kXlaDomain = "TSL";

// The path in a thunk's text; empty for other texts, and for a thunk without one.
std::string_view XlaPathOf(std::string_view text);

// Takes the innermost component off |path|: scopes stand between '/', and in the parentheses of a
// transformation. Empty when there is none left.
//
//   jit(train)/transpose(jvp(inference))/dot_general  ->  dot_general, inference, jvp, transpose,
//   train, jit
std::string_view TakeInnermost(std::string_view* path);

// A range's name without what differs between compilations: "Thunk:" and the path, else the
// instruction; "XlaModule:" and the module; else what stands before ":#". Texts that are none of
// XLA's come back as they are.
std::string XlaLabelOf(std::string_view text);

}  // namespace gpubound

#endif  // GPUBOUND_CUPTI_HOOKS_NVTX_XLA_RANGES_H_
