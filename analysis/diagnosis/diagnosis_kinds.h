// SPDX-License-Identifier: Apache-2.0
//
// The kinds of findings, as the report JSON has them: a closed list. Plain constants.
#ifndef GPUBOUND_ANALYSIS_DIAGNOSIS_DIAGNOSIS_KINDS_H_
#define GPUBOUND_ANALYSIS_DIAGNOSIS_DIAGNOSIS_KINDS_H_

namespace gpubound {

// What limits the run: one of these comes first.
inline constexpr char kGpuBound[] = "gpu-bound";
inline constexpr char kGpuBoundSmallKernels[] = "gpu-bound-small-kernels";
inline constexpr char kCommunicationBound[] = "communication-bound";
inline constexpr char kLaunchBound[] = "launch-bound";            // the CPU prepares launches
inline constexpr char kQueueGaps[] = "queue-gaps";                // between work that was queued
inline constexpr char kSyncBound[] = "sync-bound";                // the CPU asks for results
inline constexpr char kCopyBound[] = "copy-bound";                // data moves
inline constexpr char kEnvironmentBound[] = "environment-bound";  // stepped in the process
inline constexpr char kEnvironmentWorkers[] = "environment-workers";
inline constexpr char kInputBound[] = "input-bound";  // batches, replay samples
inline constexpr char kWaiting[] = "waiting";         // for other processes or threads
inline constexpr char kCpuBound[] = "cpu-bound";      // whatever the GPU does meanwhile
inline constexpr char kCpuOnly[] = "cpu-only";        // no GPU work at all
inline constexpr char kCpuStarvation[] = "cpu-starvation";
inline constexpr char kSharedGpu[] = "shared-gpu";
inline constexpr char kStartUp[] = "start-up";  // nothing has begun, CUDA starts
inline constexpr char kCompilation[] = "compilation";
inline constexpr char kCheckpoints[] = "checkpoints";
inline constexpr char kWeightSync[] = "weight-sync";     // sent from the trainer to who rolls out
inline constexpr char kUnattributed[] = "unattributed";  // nothing was recorded meanwhile
inline constexpr char kSeveralCauses[] = "several-causes";  // none of them large
inline constexpr char kInconclusive[] = "inconclusive";     // too much GPU time is unknown
inline constexpr char kNothingRecorded[] = "nothing-recorded";

// What may come beside it.
inline constexpr char kSmallKernels[] = "small-kernels";
inline constexpr char kElementwiseKernels[] = "elementwise-kernels";  // that could be fused
inline constexpr char kCollectives[] = "collectives";
inline constexpr char kSlowIterations[] = "slow-iterations";
inline constexpr char kStepChange[] = "step-change";
inline constexpr char kInflatedUtilization[] = "inflated-utilization";

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_DIAGNOSIS_DIAGNOSIS_KINDS_H_
