// SPDX-License-Identifier: Apache-2.0
//
// Which functions make the host wait for the GPU: the one table that says what is `cuda_sync` (SPEC
// section 1). Names are without version suffix (`_v7000`, `_v2`, `_ptsz`,
// `_ptds`). HIP's and MUSA's forms are derived by replacing the leading `cuda` with `hip` or
// `musa`; Intel's are listed by name.
#ifndef GPUBOUND_PROTO_SYNC_CALLS_H_
#define GPUBOUND_PROTO_SYNC_CALLS_H_

#include <cstdint>
#include <string_view>

namespace gpubound {

enum class ApiClass : uint8_t {
  kCall = 0,      // cuda_api throughout
  kSync = 1,      // cuda_sync throughout
  kAsyncCopy = 2  // cuda_sync while its own copy already runs (pageable memory), else cuda_api
};

// Class of the API function called |name|; versioned suffixes are ignored. Pure, allocates nothing.
ApiClass ClassifyApi(std::string_view name);

// Whether |function| of a framework returns when the GPU has done what it is asked for, although it
// calls no CUDA function on the calling thread that would say so: JAX waits on a condition that a
// thread of the runtime signals. |function| may have its module and class before it.
bool WaitsForGpu(std::string_view function);

// |name| without CUPTI's and the headers' suffixes: "cudaLaunchKernel_v7000" -> "cudaLaunchKernel".
std::string_view StripApiVersion(std::string_view name);

// |name| without "cuda", "cu", "hip", "musa" or "mu", which the names of their calls begin with.
std::string_view StripApiPrefix(std::string_view name);

}  // namespace gpubound

#endif  // GPUBOUND_PROTO_SYNC_CALLS_H_
