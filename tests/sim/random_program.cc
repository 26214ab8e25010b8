// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/random_program.h"

#include <random>
#include <string>
#include <utility>
#include <vector>

namespace gpubound::sim {
namespace {

constexpr const char* kOperations[] = {"simulation", "inference", "backpropagation", "collect"};
constexpr const char* kPhases[] = {"warmup", "self-play", "update"};
constexpr const char* kKernels[] = {"gemm", "relu", "ncclDevKernel_AllReduce"};
constexpr Layer kLayers[] = {Layer::kWait, Layer::kNative, Layer::kSimulator, Layer::kBackend,
                             Layer::kPython};
constexpr Action kCalls[] = {Action::kLaunch,     Action::kLaunch,     Action::kLaunch,
                             Action::kCopyAsync,  Action::kCopy,       Action::kCopyPageable,
                             Action::kSet,        Action::kGraph,      Action::kRecordEvent,
                             Action::kStreamWait, Action::kSyncStream, Action::kSyncEvent,
                             Action::kSyncDevice};

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {}

  VirtualProgram Program() {
    VirtualProgram program;
    program.python = Chance(2);
    program.streams = UpTo(3);
    program.events = UpTo(3);
    program.device.compute_slots = UpTo(3);
    program.device.copy_engines = UpTo(2);
    program.device.queue_depth = Chance(3) ? UpTo(3) : 1024;
    program.device.launch_latency_ns = Number(50);
    program.cost = {.scope_ns = Number(3), .api_ns = Number(5)};
    const uint32_t threads = UpTo(4);
    for (uint32_t t = 0; t < threads; ++t) {
      // The first thread opens an operation at once, so it is the one that reports.
      program.threads.push_back({.tid = 1001 + t,
                                 .start_ns = t == 0 ? 0 : 1 + Number(500),
                                 .statements = Thread(program, t)});
    }
    return program;
  }

 private:
  struct Open {
    uint32_t slot;
    ScopeName name;
  };

  uint32_t UpTo(uint32_t n) { return 1 + static_cast<uint32_t>(random_() % n); }
  TimeNs Number(TimeNs n) { return static_cast<TimeNs>(random_() % static_cast<uint64_t>(n)); }
  bool Chance(uint32_t one_in) { return random_() % one_in == 0; }
  template <typename T, size_t n>
  const T& Pick(const T (&from)[n]) {
    return from[random_() % n];
  }

  std::vector<Statement> Thread(const VirtualProgram& program, uint32_t thread) {
    std::vector<Statement> statements;
    std::vector<Open> open;
    uint32_t next_slot = 0;
    const bool annotates = thread == 0 || Chance(2);
    if (thread == 0) OpenScope(OperationName(), &next_slot, &open, &statements);
    const uint32_t length = 5 + UpTo(60);
    for (uint32_t i = 0; i < length; ++i) {
      switch (random_() % 8) {
        case 0:
          if (annotates) OpenScope(OperationName(), &next_slot, &open, &statements);
          break;
        case 1:
          OpenScope(LayerName(), &next_slot, &open, &statements);
          break;
        case 2:
        case 3:
          CloseScope(&open, &statements);
          break;
        case 4:
          statements.push_back(Chance(3) ? PhaseOrStep(i) : Compute());
          break;
        case 5:
          statements.push_back(Compute());
          break;
        default:
          statements.push_back(Call(program));
          break;
      }
    }
    // Some threads end with scopes open.
    while (!open.empty() && !Chance(10)) CloseScope(&open, &statements);
    return statements;
  }

  ScopeName OperationName() {
    return {.kind = LabelKind::kOperation, .layer = Layer::kUnset, .text = Pick(kOperations)};
  }
  ScopeName LayerName() {
    const Layer layer = Pick(kLayers);
    return {.kind = LabelKind::kLayer,
            .layer = layer,
            .text = "layer " + std::to_string(static_cast<int>(layer))};
  }

  void OpenScope(ScopeName name, uint32_t* next_slot, std::vector<Open>* open,
                 std::vector<Statement>* statements) {
    Statement statement;
    statement.action = Action::kOpen;
    statement.slot = (*next_slot)++;
    statement.scope = name;
    statement.cost_ns = UpTo(5);
    open->push_back({statement.slot, std::move(name)});
    statements->push_back(std::move(statement));
  }

  // Usually the innermost; sometimes another one, but of equal names always the innermost, since
  // that is the one which an end by name closes.
  void CloseScope(std::vector<Open>* open, std::vector<Statement>* statements) {
    if (open->empty()) return;
    size_t index = Chance(5) ? random_() % open->size() : open->size() - 1;
    for (size_t i = index + 1; i < open->size(); ++i) {
      if ((*open)[i].name.text == (*open)[index].name.text) index = i;
    }
    Statement statement;
    statement.action = Action::kClose;
    statement.slot = (*open)[index].slot;
    statement.cost_ns = UpTo(5);
    open->erase(open->begin() + static_cast<std::ptrdiff_t>(index));
    statements->push_back(std::move(statement));
  }

  Statement Compute() {
    Statement statement;
    statement.cost_ns = UpTo(200);
    return statement;
  }

  Statement PhaseOrStep(uint32_t number) {
    Statement statement;
    statement.action = Chance(2) ? Action::kPhase : Action::kStep;
    statement.slot = number;
    statement.scope.kind = LabelKind::kPhase;
    statement.scope.text = Pick(kPhases);
    return statement;
  }

  Statement Call(const VirtualProgram& program) {
    Statement statement;
    statement.action = Pick(kCalls);
    statement.cost_ns = UpTo(30);
    statement.slot = static_cast<uint32_t>(random_() % (program.streams + 1));
    statement.event = static_cast<uint32_t>(random_() % program.events);
    statement.device_ns = UpTo(300);
    statement.name = statement.action == Action::kLaunch || statement.action == Action::kGraph
                         ? Pick(kKernels)
                         : "";
    return statement;
  }

  std::mt19937_64 random_;
};

}  // namespace

VirtualProgram RandomProgram(uint64_t seed) { return Generator(seed).Program(); }

}  // namespace gpubound::sim
