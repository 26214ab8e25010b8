// SPDX-License-Identifier: Apache-2.0
#include "tests/golden/training_runs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "analysis/attribution/build_report.h"
#include "analysis/correction/corrected_report.h"
#include "analysis/diagnosis/diagnosis_kinds.h"
#include "tests/sim/history_trace.h"
#include "tests/sim/virtual_program.h"

namespace gpubound::golden {
namespace {

using sim::Action;
using sim::Statement;

constexpr int64_t kCallNs = 4'000;
constexpr int64_t kScopeCostNs = 60;
constexpr int64_t kCallCostNs = 300;
constexpr uint32_t kThreadsOfABlock = 256;
constexpr int64_t kFirstPid = 4'000;

// Semaphores: of worker |w| the first two say that it may begin and that it is done.
constexpr uint32_t ToWorker(int w) { return 2 * static_cast<uint32_t>(w); }
constexpr uint32_t FromWorker(int w) { return 2 * static_cast<uint32_t>(w) + 1; }

class Script {
 public:
  void Compute(int64_t ns) { Add(Action::kCompute, ns); }
  void Open(LabelKind kind, Layer layer, const std::string& text, const std::string& domain = "") {
    Statement& statement = Add(Action::kOpen, kScopeCostNs);
    statement.slot = depth_++;
    statement.scope = {kind, layer, text, domain};
  }
  void Operation(const std::string& name) { Open(LabelKind::kOperation, Layer::kUnset, name); }
  void Close() { Add(Action::kClose, kScopeCostNs).slot = --depth_; }
  void Launch(const std::string& kernel, int64_t device_ns, uint32_t blocks) {
    Statement& statement = Add(Action::kLaunch, kCallNs);
    statement.slot = 1;
    statement.name = kernel;
    statement.device_ns = device_ns;
    WorkInfo& geometry = statement.geometry;
    geometry.grid[0] = blocks;
    geometry.block[0] = kThreadsOfABlock;
    geometry.grid[1] = geometry.grid[2] = geometry.block[1] = geometry.block[2] = 1;
    geometry.registers_per_thread = 32;
  }
  void Copy(Action how, int64_t device_ns) {
    Statement& statement = Add(how, kCallNs);
    statement.slot = 1;
    statement.device_ns = device_ns;
  }
  void Sync(int64_t notice_ns) {
    Statement& statement = Add(Action::kSyncStream, kCallNs);
    statement.slot = 1;
    statement.wake_up_ns = notice_ns;
  }
  void Signal(uint32_t semaphore) { Add(Action::kSignal, 1'000).slot = semaphore; }
  void Await(uint32_t semaphore, int64_t pid) {
    Open(LabelKind::kLayer, Layer::kWait, std::to_string(pid), "process");
    Add(Action::kAwait, 1'000).slot = semaphore;
    Close();
  }
  void Step(int number) { Add(Action::kStep, kScopeCostNs).slot = static_cast<uint32_t>(number); }

  std::vector<Statement> Take() { return std::move(statements_); }

 private:
  Statement& Add(Action action, int64_t cost_ns) {
    Statement& statement = statements_.emplace_back();
    statement.action = action;
    statement.cost_ns = cost_ns;
    return statement;
  }
  uint32_t depth_ = 0;
  std::vector<Statement> statements_;
};

// Iterations differ a little, as they do.
int64_t Varied(int64_t ns, int iteration) { return ns + ns * (iteration * 7919 % 11 - 5) / 200; }

void Simulate(const TrainingLoop& loop, int iteration, Script* script) {
  script->Operation("simulation");
  script->Open(LabelKind::kLayer, Layer::kSimulator, "env");
  script->Compute(Varied(loop.simulation_ns, iteration));
  script->Close();
  script->Close();
}

void AskWorkers(const TrainingLoop& loop, int first_worker, Script* script) {
  script->Operation("simulation");
  for (int w = 0; w < loop.workers; ++w) script->Signal(ToWorker(first_worker + w));
  for (int w = 0; w < loop.workers; ++w) {
    script->Await(FromWorker(first_worker + w), sim::PidOf(static_cast<uint32_t>(1 + w)));
  }
  script->Close();
}

void Launches(const std::string& kernel, int count, int64_t ns, const TrainingLoop& loop,
              int iteration, Script* script) {
  script->Open(LabelKind::kLayer, Layer::kBackend, "torch");
  for (int i = 0; i < count; ++i) {
    script->Compute(Varied(loop.python_ns, iteration + i));
    script->Launch(i % 3 == 0 ? kernel : kernel + "_elementwise", i % 3 == 0 ? ns : ns / 4,
                   loop.blocks);
  }
  script->Close();
}

std::vector<Statement> Trainer(const TrainingLoop& loop) {
  constexpr int64_t kBytesPerNs = 20;
  Script script;
  script.Compute(30'000'000);
  for (int i = 0; i < loop.iterations; ++i) {
    if (loop.workers > 0) {
      AskWorkers(loop, 0, &script);
    } else {
      Simulate(loop, i, &script);
    }
    script.Operation("inference");
    for (int f = 0; f < loop.forwards; ++f) {
      script.Copy(Action::kCopyPageable, loop.copy_bytes / kBytesPerNs);
      Launches("gemm_forward", loop.forward_kernels, Varied(loop.forward_ns, i), loop, i, &script);
      script.Copy(Action::kCopyAsync, 2'000);
      script.Sync(loop.notice_ns);
    }
    script.Close();
    script.Operation("backpropagation");
    Launches("gemm_backward", loop.backward_kernels, Varied(loop.backward_ns, i), loop, i, &script);
    script.Sync(loop.notice_ns);
    script.Close();
    script.Step(i);
  }
  script.Compute(5'000'000);
  return script.Take();
}

std::vector<Statement> Worker(const TrainingLoop& loop, int worker) {
  Script script;
  for (int i = 0; i < loop.iterations; ++i) {
    script.Await(ToWorker(worker), sim::PidOf(0));
    Simulate(loop, i + worker, &script);
    script.Signal(FromWorker(worker));
  }
  return script.Take();
}

sim::VirtualProgram ProgramOf(const TrainingLoop& loop) {
  sim::VirtualProgram program;
  program.python = true;
  // What an H100 says of itself.
  program.limits.multiprocessors = 132;
  program.limits.max_warps_per_multiprocessor = 64;
  program.limits.max_blocks_per_multiprocessor = 32;
  program.limits.max_registers_per_multiprocessor = 65'536;
  program.limits.max_shared_bytes_per_multiprocessor = 233'472;
  program.limits.compute_capability_major = 9;
  program.limits.simulated = true;
  program.device.compute_slots = 1;
  program.cost.scope_ns = kScopeCostNs;
  program.cost.api_ns = kCallCostNs;
  uint32_t process = 0;
  const auto add = [&](std::vector<Statement> statements, int64_t start_ns) {
    program.threads.push_back({.tid = 1000 + 100 * process,
                               .start_ns = start_ns,
                               .statements = std::move(statements),
                               .process = process});
    ++process;
  };
  for (int t = 0; t < loop.trainers; ++t) add(Trainer(loop), t * 1'000'000);
  for (int w = 0; w < loop.workers; ++w) add(Worker(loop, w), 1 + w);
  return program;
}

// gpubound.step(env_steps=n) records the counter, then the end of the iteration.
void Count(double env_steps, ProcessTrace* process) {
  const auto label = static_cast<LabelId>(process->labels.size());
  process->labels.push_back({LabelKind::kCounter, Layer::kUnset, "", "env_steps"});
  std::vector<ThreadEvent>& events = process->threads.front().events;
  for (size_t i = 0; i < events.size(); ++i) {
    if (events[i].kind != SlotKind::kStep) continue;
    const int64_t time_ns = events[i].time_ns;
    events.insert(events.begin() + static_cast<std::ptrdiff_t>(i),
                  {time_ns, std::bit_cast<uint64_t>(env_steps), label, SlotKind::kCounter});
    ++i;
  }
}

CostModel Costs() {
  CostModel costs;
  const auto known = [](double inside_ns, double outside_ns) {
    Cost cost;
    cost.inside_ns = inside_ns;
    cost.outside_ns = outside_ns;
    cost.standard_error_ns = 1;
    cost.samples = 10'000;
    return cost;
  };
  costs.Of(CostKind::kNativeScope) = costs.Of(CostKind::kPythonScope) =
      costs.Of(CostKind::kInterceptedCall) = known(kScopeCostNs, kScopeCostNs);
  costs.Of(CostKind::kInstant) = known(0, kScopeCostNs);
  costs.Of(CostKind::kApiCall) = known(kCallCostNs, 0);
  return costs;
}

}  // namespace

Report ReportOf(const TrainingLoop& loop) {
  Run run = sim::RunOf(sim::Execute(ProgramOf(loop), nullptr));
  for (size_t p = 0; p < run.processes.size(); ++p) {
    ProcessTrace& process = run.processes[p];
    const bool trains = p < static_cast<size_t>(loop.trainers);
    process.name = trains ? loop.program : "env_worker";
    process.identity.pid += kFirstPid;
    for (Label& label : process.labels) {  // whom it waits for
      if (label.domain == "process")
        label.text = std::to_string(std::stoll(label.text) + kFirstPid);
    }
    if (!trains) process.parent_pid = run.processes.front().identity.pid;
    process.devices[1].uuid = "GPU-5b2b1a0c";
    process.devices[1].name = "gpubound simulated device 0";
    process.Count(LedgerCounter::simulated_device) = 1;
    if (trains && loop.env_steps > 0) Count(loop.env_steps, &process);
  }
  ProcessTrace& main = run.processes.front();
  const int64_t span_ns = main.span_end_ns - main.span_begin_ns;
  if (loop.starved > 0) {
    const auto delay_ns = static_cast<int64_t>(static_cast<double>(span_ns) * loop.starved);
    main.process_tree.push_back({main.span_end_ns, 1, span_ns - delay_ns, 1 << 30, delay_ns});
  }
  if (loop.unknown > 0) {
    const auto deaf_ns = static_cast<int64_t>(static_cast<double>(span_ns) * loop.unknown);
    main.unknown.push_back({main.span_end_ns - deaf_ns, main.span_end_ns, "cupti_held_by_other"});
    std::erase_if(main.device_work,
                  [&](const DeviceWork& work) { return work.end_ns > main.span_end_ns - deaf_ns; });
    main.Count(LedgerCounter::cupti_held_by_other) = 1;
  }
  ReportOptions options;
  options.costs = Costs();
  Result<Report> report = BuildReport(run, options);
  EXPECT_TRUE(report.ok()) << report.error().ToString();
  const Status replayed = AddReplays(run, options, &*report);
  EXPECT_TRUE(replayed.ok()) << replayed.error().ToString();
  return *std::move(report);
}

std::vector<NamedRun> TrainingRuns() {
  std::vector<NamedRun> runs;
  const auto add = [&runs](const char* name, const char* kind) -> TrainingLoop& {
    runs.push_back({name, kind, {}});
    return runs.back().loop;
  };
  add("gpu_bound", kGpuBound).backward_ns = 800'000;
  TrainingLoop& small = add("gpu_bound_small_kernels", kGpuBoundSmallKernels);
  small.blocks = 96;
  small.backward_ns = 400'000;
  TrainingLoop& launches = add("launch_bound", kLaunchBound);
  launches.backward_ns = launches.forward_ns = 6'000;
  launches.backward_kernels = 400;
  launches.forward_kernels = 200;
  launches.python_ns = 14'000;
  launches.blocks = 64;
  add("environment_bound", kEnvironmentBound).simulation_ns = 40'000'000;
  TrainingLoop& workers = add("environment_workers", kEnvironmentWorkers);
  workers.workers = 4;
  workers.simulation_ns = 30'000'000;
  TrainingLoop& asks = add("sync_bound", kSyncBound);
  asks.program = "dqn_atari.py";
  asks.forwards = 40;
  asks.forward_kernels = 2;
  asks.notice_ns = 400'000;
  asks.backward_ns = 40'000;
  TrainingLoop& copies = add("copy_bound", kCopyBound);
  copies.forwards = 8;
  copies.copy_bytes = 60 << 20;
  copies.forward_kernels = 4;
  TrainingLoop& starved = add("cpu_starvation", kCpuStarvation);
  starved.simulation_ns = 40'000'000;
  starved.starved = 0.55;
  TrainingLoop& shared = add("shared_gpu", kSharedGpu);
  shared.program = "sac_hopper.py";
  shared.trainers = 4;
  add("inconclusive", kInconclusive).unknown = 0.6;
  return runs;
}

}  // namespace gpubound::golden
