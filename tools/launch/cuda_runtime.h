// SPDX-License-Identifier: Apache-2.0
//
// Which CUDA runtime the costs of CUDA calls are to be measured with: the one that the programs of
// a run use, which the dynamic loader need not find by its name (wheels from PyPI bring their own).
// Looks at files; no state.
#ifndef GPUBOUND_TOOLS_LAUNCH_CUDA_RUNTIME_H_
#define GPUBOUND_TOOLS_LAUNCH_CUDA_RUNTIME_H_

#include <string>

#include "analysis/trace/run.h"
#include "tools/launch/library_files.h"

namespace gpubound {

// Path of the libcudart that a process of |run| had loaded, if it is still there; else empty.
std::string CudaRuntimeOf(const Run& run);

// Path of the newest libcudart in the site-packages of the interpreter |python|, a path or a name
// in PATH; empty where there is none.
std::string CudaRuntimeOfPython(const std::string& python, const GetVariable& variable);

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_LAUNCH_CUDA_RUNTIME_H_
