// SPDX-License-Identifier: Apache-2.0
//
// Training runs on the simulated device in virtual time, one for each thing that commonly limits
// such a run, as the reports that `gpubound report` would print of them. The same on every machine.
#ifndef GPUBOUND_TESTS_GOLDEN_TRAINING_RUNS_H_
#define GPUBOUND_TESTS_GOLDEN_TRAINING_RUNS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/report/report.h"

namespace gpubound::golden {

// What an iteration is made of. Times are of one of each.
struct TrainingLoop {
  std::string program = "ppo_atari.py";
  int iterations = 24;
  int env_steps = 2048;  // an iteration; 0: the program does not tell
  // Operation simulation.
  int64_t simulation_ns = 2'000'000;
  int workers = 0;  // processes that simulate instead
  // Operation inference, so many times: a copy to the device, kernels, a copy back.
  int forwards = 1;
  int64_t copy_bytes = 1 << 16;
  int forward_kernels = 20;
  int64_t forward_ns = 40'000;
  int64_t notice_ns = 10'000;  // from the end of the GPU's work until the CPU goes on
  // Operation backpropagation.
  int backward_kernels = 60;
  int64_t backward_ns = 200'000;
  uint32_t blocks = 4096;     // of a kernel; the device holds 132 * 8 of them
  int64_t python_ns = 8'000;  // before each launch
  int trainers = 1;           // processes that do all that on one device
  // Of the time in which threads could run, in which they had no core.
  double starved = 0;
  double unknown = 0;  // the part of the run in which the recorder was deaf
};

Report ReportOf(const TrainingLoop& loop);

struct NamedRun {
  std::string name;  // of its golden files
  std::string kind;  // of its first finding (analysis/diagnosis/diagnosis_kinds.h)
  TrainingLoop loop;
};

std::vector<NamedRun> TrainingRuns();

}  // namespace gpubound::golden

#endif  // GPUBOUND_TESTS_GOLDEN_TRAINING_RUNS_H_
