// SPDX-License-Identifier: Apache-2.0
//
// Predictions for another GPU, for fused kernels and for more environments a launch, against the
// same program with the change really made on the simulated device. How long kernels then take is
// worked out here once more, from the formulas of docs/overhead_model.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "analysis/replay/replay.h"
#include "analysis/replay/replay_copies.h"
#include "analysis/replay/what_if.h"
#include "analysis/trace/device_kind.h"
#include "tests/sim/history_trace.h"
#include "tests/sim/naive_fill.h"
#include "tests/sim/virtual_program.h"
#include "tests/sim/wanted.h"
#include "tests/sim/workloads.h"

namespace gpubound::sim {
namespace {

constexpr double kWithin = 0.03;
constexpr uint64_t kCalibrationSamples = 100'000;
constexpr uint64_t kStatements = 20'000;

constexpr Workload kShapes[] = {Workload::kCpuBound, Workload::kLaunchBound, Workload::kGpuBound,
                                Workload::kMultiStream};

struct Gpu {
  const char* device;  // as CUDA calls it
  const char* name;
  double memory;
  double arithmetic;
  DeviceInfo limits;
};

Gpu MakeGpu(const char* device, const char* name, double memory, double arithmetic, uint32_t sms,
            uint32_t warps, uint32_t blocks, uint32_t shared_kib, uint32_t major) {
  Gpu gpu{device, name, memory, arithmetic, {}};
  gpu.limits.multiprocessors = sms;
  gpu.limits.max_warps_per_multiprocessor = warps;
  gpu.limits.max_blocks_per_multiprocessor = blocks;
  gpu.limits.max_registers_per_multiprocessor = 65536;
  gpu.limits.max_shared_bytes_per_multiprocessor = shared_kib * 1024;
  gpu.limits.compute_capability_major = major;
  return gpu;
}

// By hand from the data sheets; GB/s and TFLOP/s of 32-bit floats.
const Gpu kT4 = MakeGpu("Tesla T4", "T4", 320, 8.1, 40, 32, 16, 64, 7);
const Gpu kA100 = MakeGpu("NVIDIA A100-SXM4-80GB", "A100", 2039, 19.5, 108, 64, 32, 164, 8);
const Gpu kH100 = MakeGpu("NVIDIA H100 80GB HBM3", "H100", 3350, 67, 132, 64, 32, 228, 9);
const Gpu kRtx4090 =
    MakeGpu("NVIDIA GeForce RTX 4090", "RTX 4090", 1008, 82.6, 128, 48, 24, 100, 8);

double Grid(const WorkInfo& work) {
  return static_cast<double>(work.grid[0]) * work.grid[1] * work.grid[2];
}

// Blocks that are needed one after another in the busiest multiprocessor, in waves.
double WavedBlocks(const WorkInfo& work, double grid, const DeviceInfo& limits) {
  const double sms = limits.multiprocessors;
  const auto resident = static_cast<double>(*ResidentBlocks(work, limits));
  const double each = std::min(resident, std::ceil(grid / sms));
  return std::ceil(grid / (each * sms)) * each;
}

double ByResource(const WorkInfo& work, const Gpu& from, const Gpu& to, double here, double there) {
  const double now =
      WavedBlocks(work, Grid(work), from.limits) / (here / from.limits.multiprocessors);
  const double then =
      WavedBlocks(work, Grid(work), to.limits) / (there / to.limits.multiprocessors);
  return then / now;
}

struct Bounds {
  double shortest;
  double longest;
};

Bounds OnOtherGpu(const Statement& statement, const Gpu& from, const Gpu& to) {
  if (statement.action != Action::kLaunch) {
    const double ratio = from.memory / to.memory;
    return {ratio, ratio};
  }
  const double memory = ByResource(statement.geometry, from, to, from.memory, to.memory);
  const double arithmetic =
      ByResource(statement.geometry, from, to, from.arithmetic, to.arithmetic);
  return {std::min(memory, arithmetic), std::max(memory, arithmetic)};
}

bool RunsOnDevice(const Statement& statement) {
  return statement.action == Action::kLaunch || statement.action == Action::kCopy;
}

void Multiply(Statement* statement, double factor) {
  statement->device_ns = std::llround(static_cast<double>(statement->device_ns) * factor);
}

template <typename Visit>
void ForEachStatement(VirtualProgram* program, Visit visit) {
  for (VirtualThread& thread : program->threads) {
    for (Statement& statement : thread.statements) visit(&statement);
  }
}

// A random loop whose kernels are of sizes from one block to many times a device.
VirtualProgram Program(uint64_t seed, const Gpu& gpu) {
  VirtualProgram program = MakeWorkload(kShapes[seed % std::size(kShapes)], seed, kStatements);
  program.limits = gpu.limits;
  std::mt19937_64 random(seed);  // NOLINT(cert-msc51-cpp): the same each time
  std::vector<WorkInfo> sizes(6);
  for (WorkInfo& size : sizes) {
    size.grid[0] = 1u << std::uniform_int_distribution<uint32_t>(0, 13)(random);
    size.block[0] = 32u << std::uniform_int_distribution<uint32_t>(0, 3)(random);
    size.grid[1] = size.grid[2] = size.block[1] = size.block[2] = 1;
    size.registers_per_thread = std::uniform_int_distribution<uint32_t>(16, 96)(random);
    size.static_shared_bytes = std::uniform_int_distribution<uint32_t>(0, 8192)(random);
  }
  ForEachStatement(&program, [&](Statement* statement) {
    // A process waits for its own work, which the simulated device would not tell from that of others.
    if (statement->action == Action::kSyncDevice && program.streams == 1) {
      statement->action = Action::kSyncStream;
      statement->slot = 1;
    }
    if (statement->action != Action::kLaunch) return;
    statement->geometry = sizes[random() % sizes.size()];
    statement->name = "elementwise_kernel";
  });
  return program;
}

double TrueSpan(const VirtualProgram& program) {
  return static_cast<double>(Execute(program, nullptr).ends.front());
}

double PredictedSpan(const VirtualProgram& program, const Gpu& gpu, const WhatIf& changes) {
  ReplayOptions options;
  options.changes = changes;
  options.keep_events = false;
  options.costs = CalibratedCosts(program, kCalibrationSamples);
  gpubound::Run recorded = RunOf(Execute(program, nullptr));
  for (ProcessTrace& process : recorded.processes) process.devices[1].name = gpu.device;
  const Result<ReplayedRun> replayed = ReplayRun(recorded, options);
  EXPECT_TRUE(replayed.ok());
  const ReplayFacts& facts = (*replayed).facts.front();
  return static_cast<double>(facts.span_end_ns - facts.span_begin_ns);
}

uint64_t Programs() { return Wanted("GPUBOUND_KERNEL_WHAT_IF", 100); }

class Errors {
 public:
  void Add(double predicted, double truth, uint64_t seed) {
    const double error = std::abs(predicted - truth) / truth;
    worst_ = std::max(worst_, error);
    EXPECT_LE(error, kWithin) << "seed " << seed;
  }
  void Print(const char* what) const {
    std::printf("%s: %llu programs, largest error %.3f %%\n", what,
                static_cast<unsigned long long>(Programs()), 100 * worst_);
  }

 private:
  double worst_ = 0;
};

WhatIf OnGpu(const Gpu& gpu, KernelBound bound) {
  WhatIf changes;
  changes.gpu = {KindNamed(gpu.name), bound};
  EXPECT_NE(changes.gpu.kind, nullptr) << gpu.name;
  return changes;
}

TEST(KernelsWhatIfTest, AnotherGpuIsPredicted) {
  const Gpu* const gpus[] = {&kT4, &kA100, &kH100, &kRtx4090};
  Errors middle;
  uint64_t inside = 0;
  for (uint64_t seed = 0; seed < Programs(); ++seed) {
    const Gpu& from = *gpus[seed / 4 % 4];
    const Gpu& to = *gpus[(seed / 4 + 1 + seed % 3) % 4];
    const VirtualProgram program = Program(seed, from);
    VirtualProgram mean = Uninstrumented(program);
    ForEachStatement(&mean, [&](Statement* statement) {
      if (!RunsOnDevice(*statement)) return;
      const Bounds bounds = OnOtherGpu(*statement, from, to);
      Multiply(statement, std::sqrt(bounds.shortest * bounds.longest));
    });
    middle.Add(PredictedSpan(program, from, OnGpu(to, KernelBound::kMiddle)), TrueSpan(mean), seed);

    // Each kernel is bound by something of its own between the two.
    VirtualProgram mixed = Uninstrumented(program);
    std::mt19937_64 random(seed);  // NOLINT(cert-msc51-cpp): the same each time
    ForEachStatement(&mixed, [&](Statement* statement) {
      if (!RunsOnDevice(*statement)) return;
      const Bounds bounds = OnOtherGpu(*statement, from, to);
      const double part = std::uniform_real_distribution<double>(0, 1)(random);
      Multiply(statement, bounds.shortest + part * (bounds.longest - bounds.shortest));
    });
    const double truth = TrueSpan(mixed);
    const double least = PredictedSpan(program, from, OnGpu(to, KernelBound::kShortest));
    const double most = PredictedSpan(program, from, OnGpu(to, KernelBound::kLongest));
    inside += least * (1 - kWithin) <= truth && truth <= most * (1 + kWithin) ? 1 : 0;
  }
  EXPECT_EQ(inside, Programs());
  middle.Print("--gpu");
}

TEST(KernelsWhatIfTest, TheSameGpuChangesNothing) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    const VirtualProgram program = Program(seed, kA100);
    EXPECT_EQ(PredictedSpan(program, kA100, OnGpu(kA100, KernelBound::kLongest)),
              PredictedSpan(program, kA100, {}))
        << seed;
  }
}

TEST(KernelsWhatIfTest, MoreEnvironmentsALaunchArePredicted) {
  Errors errors;
  for (uint64_t seed = 0; seed < Programs(); ++seed) {
    const VirtualProgram program = Program(seed, kA100);
    const double times = static_cast<double>(uint64_t{1} << (1 + seed % 6));
    VirtualProgram changed = Uninstrumented(program);
    ForEachStatement(&changed, [&](Statement* statement) {
      if (statement->action == Action::kCopy) Multiply(statement, times);
      if (statement->action != Action::kLaunch) return;
      const double wave = static_cast<double>(*ResidentBlocks(statement->geometry, kA100.limits)) *
                          kA100.limits.multiprocessors;
      const double grid = Grid(statement->geometry);
      Multiply(statement, std::ceil(grid * times / wave) / std::ceil(grid / wave));
    });
    WhatIf changes;
    changes.environments = times;
    errors.Add(PredictedSpan(program, kA100, changes), TrueSpan(changed), seed);
  }
  errors.Print("--vectorise");
}

// Each occurrence's first launch becomes that of a kernel as long as all of them, where they follow
// each other on one stream.
void FuseOperation(const std::string& name, VirtualProgram* program) {
  for (VirtualThread& thread : program->threads) {
    std::vector<ScopeName> open;
    Statement* kernel = nullptr;
    for (Statement& statement : thread.statements) {
      if (statement.action == Action::kClose) open.pop_back();
      bool inside = false;
      for (const ScopeName& scope : open) {
        inside = inside || (scope.kind == LabelKind::kOperation && scope.text == name);
      }
      if (statement.action == Action::kOpen) open.push_back(statement.scope);
      if (!inside) kernel = nullptr;
      if (!inside || statement.action != Action::kLaunch) continue;
      if (kernel == nullptr) {
        kernel = &statement;
        continue;
      }
      kernel->device_ns += statement.device_ns;
      statement.action = Action::kCompute;
      statement.cost_ns = 0;
    }
  }
}

TEST(KernelsWhatIfTest, AFusedOperationIsPredicted) {
  Errors errors;
  uint64_t programs = 0;
  for (uint64_t seed = 0; programs < Programs(); ++seed) {
    if (kShapes[seed % std::size(kShapes)] == Workload::kMultiStream) continue;
    ++programs;
    const VirtualProgram program = Program(seed, kA100);
    VirtualProgram changed = Uninstrumented(program);
    FuseOperation("backpropagation", &changed);
    WhatIf changes;
    changes.fuse = {"backpropagation"};
    errors.Add(PredictedSpan(program, kA100, changes), TrueSpan(changed), seed);
  }
  errors.Print("--fuse");
}

bool UsesStream(Action action) {
  return action == Action::kLaunch || action == Action::kCopy || action == Action::kSyncStream;
}

// |copies| of a program that has one stream, which share a device of |slots| kernels at a time.
double TrueCopies(const VirtualProgram& program, size_t copies, uint32_t slots) {
  VirtualProgram all = Uninstrumented(program);
  all.device.compute_slots = slots;
  all.streams = program.streams * static_cast<uint32_t>(copies);
  const std::vector<VirtualThread> threads = all.threads;
  for (uint32_t copy = 1; copy < copies; ++copy) {
    for (VirtualThread thread : threads) {
      thread.tid += 1000 * copy;
      thread.process = copy;
      for (Statement& statement : thread.statements) {
        if (UsesStream(statement.action)) statement.slot += copy * program.streams;
      }
      all.threads.push_back(std::move(thread));
    }
  }
  const History history = Execute(all, nullptr);
  double sum = 0;
  for (size_t copy = 0; copy < copies; ++copy) {
    sum += static_cast<double>(history.ends[copy * threads.size()]);
  }
  return sum / static_cast<double>(copies);
}

double PredictedCopies(const VirtualProgram& program, size_t copies, uint32_t runs_beside) {
  ReplayOptions options;
  options.costs = CalibratedCosts(program, kCalibrationSamples);
  const gpubound::Run recorded = RunOf(Execute(program, nullptr));
  const Result<std::vector<int64_t>> spans =
      ReplayCopies(recorded, options, 0, copies, runs_beside);
  EXPECT_TRUE(spans.ok());
  double sum = 0;
  for (const int64_t span : *spans) sum += static_cast<double>(span);
  return sum / static_cast<double>(copies);
}

TEST(KernelsWhatIfTest, CopiesOfARunOnOneDeviceArePredicted) {
  for (const uint32_t beside : {1u, 3u}) {
    double worst = 0;
    uint64_t within = 0;
    uint64_t programs = 0;
    for (uint64_t seed = 0; programs < Programs(); ++seed) {
      if (kShapes[seed % std::size(kShapes)] == Workload::kMultiStream) continue;
      ++programs;
      const VirtualProgram program = Program(seed, kA100);
      const size_t copies = 2 + seed % 5;
      const double truth = TrueCopies(program, copies, beside);
      const double error = std::abs(PredictedCopies(program, copies, beside) - truth) / truth;
      worst = std::max(worst, error);
      within += error <= kWithin ? 1 : 0;
    }
    std::printf("--copies, %u beside each other: %llu of %llu within 3 %%, largest error %.3f %%\n",
                beside, static_cast<unsigned long long>(within),
                static_cast<unsigned long long>(programs), 100 * worst);
    EXPECT_GE(static_cast<double>(within), 0.97 * static_cast<double>(programs));
    EXPECT_LT(worst, 3 * kWithin);
  }
}

}  // namespace
}  // namespace gpubound::sim
