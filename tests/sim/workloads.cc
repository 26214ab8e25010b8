// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/workloads.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <utility>

#include "analysis/calibration/cost_model.h"
#include "tests/sim/history_trace.h"

namespace gpubound::sim {
namespace {

constexpr uint32_t kToWorker = 1;  // semaphores
constexpr uint32_t kToTrainer = 2;

class Draw {
 public:
  explicit Draw(uint64_t seed) : random_(seed) {}
  uint32_t Between(uint32_t low, uint32_t high) {
    return low + static_cast<uint32_t>(random_() % (high - low + 1));
  }
  bool Chance(uint32_t one_in) { return random_() % one_in == 0; }
  double LogUniform(double low, double high) {
    std::uniform_real_distribution<double> exponent(std::log(low), std::log(high));
    return std::exp(exponent(random_));
  }
  // About |mean|, never negative, as times of code are.
  TimeNs Time(double mean) {
    constexpr double kSpread = 0.4;
    std::lognormal_distribution<double> time(std::log(mean) - kSpread * kSpread / 2, kSpread);
    return std::max<TimeNs>(1, std::llround(time(random_)));
  }
  uint64_t Seed() { return random_(); }

 private:
  std::mt19937_64 random_;
};

// Statements of one thread.
class Script {
 public:
  Script(Draw* draw, double compute_ns, double call_ns)
      : draw_(*draw), compute_ns_(compute_ns), call_ns_(call_ns) {}

  void Compute(double ns) { Add(Action::kCompute).cost_ns = draw_.Time(ns); }
  void Think() { Compute(compute_ns_); }
  void Open(ScopeName scope) {
    Statement& statement = Add(Action::kOpen);
    statement.slot = next_handle_;
    statement.scope = std::move(scope);
    open_.push_back(next_handle_++);
  }
  void Operation(const char* name) { Open({LabelKind::kOperation, Layer::kUnset, name}); }
  void Enter(Layer layer) {
    Open({LabelKind::kLayer, layer, layer == Layer::kSimulator ? "env" : "torch"});
  }
  void Close() {
    Add(Action::kClose).slot = open_.back();
    open_.pop_back();
  }
  void Launch(uint32_t stream, const char* kernel, double device_ns) {
    Statement& statement = Call(Action::kLaunch, stream);
    statement.name = kernel;
    statement.device_ns = draw_.Time(device_ns);
  }
  void Graph(uint32_t stream, uint32_t nodes, double device_ns) {
    Statement& statement = Call(Action::kGraph, stream);
    statement.name = "graph_kernel";
    for (uint32_t i = 0; i < nodes; ++i) statement.nodes.push_back(draw_.Time(device_ns));
  }
  void Copy(uint32_t stream, double device_ns) {
    Statement& statement = Call(Action::kCopy, stream);
    statement.device_ns = draw_.Time(device_ns);
  }
  Statement& Call(Action action, uint32_t stream) {
    Statement& statement = Add(action);
    statement.slot = stream;
    statement.cost_ns = draw_.Time(call_ns_);
    return statement;
  }
  void Wait(uint32_t semaphore, int64_t pid) {
    Open({LabelKind::kLayer, Layer::kWait, std::to_string(pid), "process"});
    Add(Action::kAwait).slot = semaphore;
    Close();
  }
  void Signal(uint32_t semaphore) { Add(Action::kSignal).slot = semaphore; }
  void Step(uint32_t number) { Add(Action::kStep).slot = number; }

  size_t size() const { return statements_.size(); }
  std::vector<Statement> Take() { return std::move(statements_); }

 private:
  Statement& Add(Action action) {
    Statement& statement = statements_.emplace_back();
    statement.action = action;
    statement.cost_ns = 20;
    return statement;
  }
  Draw& draw_;
  const double compute_ns_;
  const double call_ns_;
  uint32_t next_handle_ = 0;
  std::vector<uint32_t> open_;
  std::vector<Statement> statements_;
};

// Sizes of one loop, drawn once.
struct Shape {
  double compute_ns;
  double call_ns;
  double kernel_ns;
  uint32_t environment_steps;
  uint32_t forward;
  uint32_t backward;
  uint32_t streams;
  uint32_t launches_per_sync;
};

Shape DrawShape(Workload workload, Draw* draw) {
  Shape shape{};
  shape.compute_ns = draw->LogUniform(2'000, 20'000);
  shape.call_ns = draw->LogUniform(1'500, 6'000);
  shape.kernel_ns = draw->LogUniform(1'000, 4'000);
  shape.environment_steps = draw->Between(2, 6);
  shape.forward = draw->Between(3, 12);
  shape.backward = draw->Between(6, 24);
  shape.streams = 1;
  shape.launches_per_sync = 1'000'000;
  switch (workload) {
    case Workload::kCpuBound:
    case Workload::kTwoProcesses:
      shape.environment_steps = draw->Between(8, 20);
      shape.forward = draw->Between(2, 6);
      break;
    case Workload::kLaunchBound:
      shape.compute_ns = 1'500;
      shape.forward = draw->Between(20, 60);
      shape.backward = draw->Between(40, 120);
      break;
    case Workload::kGpuBound:
      shape.kernel_ns = draw->LogUniform(30'000, 200'000);
      break;
    case Workload::kSynchronising:
      shape.kernel_ns = draw->LogUniform(2'000, 30'000);
      shape.launches_per_sync = draw->Between(1, 4);
      break;
    case Workload::kMultiStream:
      shape.kernel_ns = draw->LogUniform(5'000, 60'000);
      shape.streams = draw->Between(2, 4);
      break;
    case Workload::kGraph:
      shape.kernel_ns = draw->LogUniform(2'000, 10'000);
      break;
  }
  return shape;
}

class Loop {
 public:
  Loop(Workload workload, uint64_t seed, uint64_t statements)
      : workload_(workload),
        statements_(statements),
        draw_(seed),
        shape_(DrawShape(workload, &draw_)) {}

  VirtualProgram Program() {
    VirtualProgram program;
    program.python = true;
    program.streams = shape_.streams;
    program.events = 4;
    program.device.compute_slots = workload_ == Workload::kMultiStream ? draw_.Between(1, 4) : 16;
    program.device.launch_latency_ns = draw_.Between(1'500, 6'000);
    program.cost.scope_ns = std::llround(draw_.LogUniform(100, 10'000));
    program.cost.api_ns = std::llround(draw_.LogUniform(100, 10'000));
    program.cost.deviation = draw_.LogUniform(0.3, 1.2);
    program.cost.seed = draw_.Seed();
    uint32_t iterations = 0;
    Script trainer(&draw_, shape_.compute_ns, shape_.call_ns);
    while (trainer.size() < statements_) Iteration(iterations++, &trainer);
    program.threads.push_back({.tid = 1001, .start_ns = 0, .statements = trainer.Take()});
    if (workload_ == Workload::kTwoProcesses) {
      Script worker(&draw_, shape_.compute_ns, shape_.call_ns);
      for (uint32_t i = 0; i < iterations; ++i) WorkerTurn(&worker);
      program.threads.push_back(
          {.tid = 2001, .start_ns = 1, .statements = worker.Take(), .process = 1});
    }
    return program;
  }

 private:
  void Iteration(uint32_t number, Script* script) {
    if (workload_ == Workload::kTwoProcesses) {
      script->Operation("simulation");
      script->Signal(kToWorker);
      script->Think();
      script->Wait(kToTrainer, PidOf(1));
      script->Close();
    } else {
      Simulate(script);
    }
    script->Operation("inference");
    Launches("forward_gemm", shape_.forward, script);
    script->Copy(StreamOf(0), 2'000);
    script->Close();
    script->Operation("backpropagation");
    Launches("backward_gemm", shape_.backward, script);
    if (workload_ != Workload::kLaunchBound || number % 8 == 0) {
      script->Call(Action::kSyncDevice, 0);
    }
    script->Close();
    script->Think();
    script->Step(number);
  }

  void Simulate(Script* script) {
    script->Operation("simulation");
    for (uint32_t i = 0; i < shape_.environment_steps; ++i) {
      script->Think();
      script->Enter(Layer::kSimulator);
      script->Compute(2 * shape_.compute_ns);
      script->Close();
    }
    script->Close();
  }
  void WorkerTurn(Script* script) {
    script->Wait(kToWorker, PidOf(0));
    Simulate(script);
    script->Signal(kToTrainer);
  }

  void Launches(const char* kernel, uint32_t count, Script* script) {
    script->Enter(Layer::kBackend);
    if (workload_ == Workload::kGraph) {
      for (uint32_t i = 0; i < 1 + count / 8; ++i) {
        script->Think();
        script->Graph(1, draw_.Between(4, 12), shape_.kernel_ns);
      }
      script->Close();
      return;
    }
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t stream = StreamOf(i);
      if (draw_.Chance(2)) script->Think();
      script->Launch(stream, kernel, shape_.kernel_ns);
      if ((i + 1) % shape_.launches_per_sync == 0) script->Call(Action::kSyncStream, stream);
      if (workload_ == Workload::kMultiStream && i % 5 == 4) Fork(stream, script);
    }
    script->Close();
  }

  // The next stream goes on when |stream| has come here.
  void Fork(uint32_t stream, Script* script) {
    const uint32_t event = draw_.Between(0, 3);
    script->Call(Action::kRecordEvent, stream).event = event;
    script->Call(Action::kStreamWait, 1 + stream % shape_.streams).event = event;
  }
  uint32_t StreamOf(uint32_t i) const { return 1 + i % shape_.streams; }

  const Workload workload_;
  const uint64_t statements_;
  Draw draw_;
  const Shape shape_;
};

// The mean of |samples| draws, whose true mean is |mean|, and how sure it is.
Cost Estimated(double mean, double deviation, uint64_t samples, double inside,
               std::mt19937_64* random) {
  const double error = mean * deviation / std::sqrt(static_cast<double>(samples));
  std::normal_distribution<double> normal(mean, error);
  const double estimate = std::max(0.0, normal(*random));
  Cost cost;
  cost.inside_ns = estimate * inside;
  cost.outside_ns = estimate * (1 - inside);
  cost.variance_ns2 = mean * deviation * mean * deviation;
  cost.standard_error_ns = error;
  cost.samples = samples;
  return cost;
}

}  // namespace

const char* WorkloadName(Workload workload) {
  constexpr const char* kNames[kWorkloads] = {"CPU-bound",     "launch-bound", "GPU-bound",
                                              "synchronising", "multi-stream", "graph",
                                              "two processes"};
  return kNames[static_cast<int>(workload)];
}

VirtualProgram MakeWorkload(Workload workload, uint64_t seed, uint64_t statements) {
  return Loop(workload, seed, statements).Program();
}

VirtualProgram Uninstrumented(VirtualProgram program) {
  program.cost = {};
  return program;
}

CostModel CalibratedCosts(const VirtualProgram& program, uint64_t samples) {
  const ProfilerCost& cost = program.cost;
  std::mt19937_64 random(cost.seed + 1);
  const auto scope_ns = static_cast<double>(cost.scope_ns);
  CostModel model;
  // A scope is charged twice, at its begin and at its end, each time independently.
  Cost scope = Estimated(scope_ns, cost.deviation, samples, 0, &random);
  Cost instant = scope;
  scope.inside_ns = scope.outside_ns;
  scope.variance_ns2 *= 2;
  scope.standard_error_ns *= 2;
  model.Of(CostKind::kNativeScope) = scope;
  model.Of(CostKind::kPythonScope) = scope;
  model.Of(CostKind::kInterceptedCall) = scope;
  model.Of(CostKind::kInstant) = instant;
  model.Of(CostKind::kApiCall) =
      Estimated(static_cast<double>(cost.api_ns), cost.deviation, samples, 1, &random);
  if (cost.cold_api_ns != 0) {
    model.AfterOtherWork(CostKind::kApiCall) = Estimated(
        static_cast<double>(cost.api_ns + cost.cold_api_ns), cost.deviation, samples, 1, &random);
  }
  return model;
}

}  // namespace gpubound::sim
