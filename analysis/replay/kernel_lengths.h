// SPDX-License-Identifier: Apache-2.0
//
// How long device work takes that fills a device otherwise than it was recorded: on another kind of
// GPU, or with more environments in a launch. Kernels run in waves of as many blocks as the
// multiprocessors hold at a time. From one GPU to another a wave takes longer or shorter by what
// the two reach, per block of it: of memory traffic where the kernel is bound by memory, of
// arithmetic where it is bound by that. After the wave scaling of Habitat (Yu, Gao, Yang,
// Pekhimenko: "Habitat: A Runtime-Based Computational Performance Predictor for Deep Neural Network
// Training", USENIX ATC 2021, section 3.3). Two differences: a wave holds no more blocks than the
// kernel has, so that a small kernel is as fast as one multiprocessor; and arithmetic is that of the
// data sheet and not the clock. Pure.
#ifndef GPUBOUND_ANALYSIS_REPLAY_KERNEL_LENGTHS_H_
#define GPUBOUND_ANALYSIS_REPLAY_KERNEL_LENGTHS_H_

#include <optional>
#include <vector>

#include "analysis/replay/what_if.h"
#include "analysis/trace/device_kind.h"
#include "analysis/trace/run.h"

namespace gpubound {

// The kind of the devices that the process used. Null: of several, of one that nobody knows, or
// none.
const DeviceKind* KindUsedBy(const ProcessTrace& process);

// By WorkId: what the change multiplies the duration by. Collectives and copies to and from the
// host last as long on another GPU, since links decide; others copy at the speed of its memory.
// More environments lengthen copies by as much, and collectives not at all, since gradients stay as
// large. Where nothing is known of a kernel's blocks it is taken as filling the device. A process on
// a GPU of no known kind stays on it.
std::vector<double> KernelLengths(const ProcessTrace& process, const WhatIf& changes);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_REPLAY_KERNEL_LENGTHS_H_
