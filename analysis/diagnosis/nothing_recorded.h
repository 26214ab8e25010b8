// SPDX-License-Identifier: Apache-2.0
//
// What may explain that a program recorded nothing, for `gpubound run`, the report and its page.
// Plain constants.
#ifndef GPUBOUND_ANALYSIS_DIAGNOSIS_NOTHING_RECORDED_H_
#define GPUBOUND_ANALYSIS_DIAGNOSIS_NOTHING_RECORDED_H_

#include <array>

namespace gpubound {

// Sentences, the likeliest first.
inline constexpr std::array kWhyNothingRecorded = {
    "The program and its children used no CUDA, no NVTX range, no Python library that is hooked "
    "(torch, jax, gymnasium, ...) and no gpubound annotation: add one (in Python `with "
    "gpubound.operation(\"inference\"):`, in C and C++ #include <gpubound/annotate.h> and "
    "GPUBOUND_OPERATION(\"inference\")).",
    "Or Python was started with -I, -E or -S, which keeps the hooks out: leave that away.",
    "Or something on the way cleaned the environment (sudo, env -i, a container, a batch "
    "system, a tmux that ran before): set the variables of `gpubound env` inside of it.",
    "Or something on the way set LD_PRELOAD anew (for jemalloc, tcmalloc and the like): leave "
    "what is there, as in LD_PRELOAD=libjemalloc.so:$LD_PRELOAD, or set it before "
    "`gpubound run`, which keeps it.",
    "Or Python comes frozen with its program (PyInstaller), which keeps the hooks out: run the "
    "script.",
    "Or what it started goes on in the background (setsid, a daemon) and has recorded nothing "
    "yet: report the run once that has ended.",
    "`gpubound doctor` checks this machine."};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_DIAGNOSIS_NOTHING_RECORDED_H_
