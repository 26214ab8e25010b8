// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/random_features.h"

#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/sim/random_program.h"

namespace gpubound::sim {
namespace {

constexpr uint32_t kFirstSlot = 1000;  // of annotations: beyond those of other scopes
constexpr uint32_t kRanges = 6;        // handles of the program
constexpr TimeNs kLongNs = 400'000'000;

const std::vector<ScopeName>& Annotations() {
  const auto make = [](const char* domain, const char* text) {
    return ScopeName{LabelKind::kAnnotation, Layer::kUnset, text, domain};
  };
  // One is called as an operation is, one as another annotation of another domain.
  static const std::vector<ScopeName> kNames = {make("", "note"), make("trainer", "simulation"),
                                                make("NCCL", "reduce"), make("trainer", "note")};
  return kNames;
}

bool IsLaunch(const Statement& statement) {
  return statement.action == Action::kLaunch || statement.action == Action::kGraph;
}

class Dice {
 public:
  explicit Dice(uint64_t seed) : random_(seed) {}

  uint32_t Below(size_t n) { return static_cast<uint32_t>(random_() % n); }
  bool Chance(uint32_t one_in) { return Below(one_in) == 0; }
  TimeNs Time(TimeNs below) {
    return static_cast<TimeNs>(random_() % static_cast<uint64_t>(below));
  }
  template <typename T>
  T Of(std::initializer_list<T> values) {
    return values.begin()[Below(values.size())];
  }

 private:
  std::mt19937_64 random_;
};

// Puts what |make| returns, if anything, before any statement but the very first one of the
// program, which opens the first operation.
void Insert(VirtualProgram* program, uint32_t thread,
            const std::function<std::optional<Statement>()>& make) {
  std::vector<Statement> statements;
  for (Statement& statement : program->threads[thread].statements) {
    if (thread > 0 || !statements.empty()) {
      if (std::optional<Statement> more = make()) statements.push_back(*std::move(more));
    }
    statements.push_back(std::move(statement));
  }
  program->threads[thread].statements = std::move(statements);
}

// Makes the annotations of one thread.
class Annotator {
 public:
  explicit Annotator(Dice* dice) : dice_(*dice) {}

  std::optional<Statement> Next() {
    if (!dice_.Chance(6)) return std::nullopt;
    Statement statement;
    statement.cost_ns = 1 + dice_.Below(5);
    switch (dice_.Below(5)) {
      case 0:
        statement.action = Action::kStartRange;
        statement.slot = dice_.Below(kRanges);
        statement.scope = Annotations()[dice_.Below(Annotations().size())];
        break;
      case 1:
        statement.action = Action::kEndRange;
        statement.slot = dice_.Below(kRanges);
        break;
      case 2:
        if (open_.empty()) return std::nullopt;
        statement.action = Action::kClose;
        statement.slot = TakeOpen();
        break;
      default: {
        const uint32_t name = dice_.Below(Annotations().size());
        statement.action = Action::kOpen;
        statement.slot = next_slot_++;
        statement.scope = Annotations()[name];
        open_.emplace_back(statement.slot, name);
        break;
      }
    }
    return statement;
  }

 private:
  // Of equal names the innermost: it is what an end by name closes.
  uint32_t TakeOpen() {
    size_t index = dice_.Below(open_.size());
    for (size_t i = index + 1; i < open_.size(); ++i) {
      if (open_[i].second == open_[index].second) index = i;
    }
    const uint32_t slot = open_[index].first;
    open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(index));
    return slot;
  }

  Dice& dice_;
  std::vector<std::pair<uint32_t, uint32_t>> open_;  // slot and name
  uint32_t next_slot_ = kFirstSlot;
};

// Turns all operations into annotations. The one that the program begins with is not a library's.
void MakeForeign(Dice* dice, VirtualProgram* program) {
  std::map<std::string, std::string> domains;
  for (VirtualThread& thread : program->threads) {
    for (Statement& statement : thread.statements) {
      if (statement.scope.kind != LabelKind::kOperation) continue;
      if (statement.action != Action::kOpen) continue;
      const std::string domain = domains.empty() ? "" : dice->Of({"", "user", "NCCL"});
      statement.scope.kind = LabelKind::kAnnotation;
      statement.scope.domain = domains.try_emplace(statement.scope.text, domain).first->second;
    }
  }
}

DeviceInfo Limits(Dice* dice) {
  DeviceInfo limits;
  if (dice->Chance(6)) return limits;
  limits.multiprocessors = dice->Of({1u, 2u, 3u, 7u, 132u});
  limits.max_warps_per_multiprocessor = dice->Of({32u, 48u, 64u});
  limits.max_blocks_per_multiprocessor = dice->Of({16u, 24u, 32u});
  limits.max_registers_per_multiprocessor = dice->Of({0u, 32768u, 65536u});
  limits.max_shared_bytes_per_multiprocessor = dice->Of({0u, 49152u, 102400u, 233472u});
  limits.compute_capability_major = dice->Of({7u, 8u, 9u});
  return limits;
}

WorkInfo Geometry(Dice* dice) {
  WorkInfo geometry;
  if (dice->Chance(8)) return geometry;
  geometry.grid[0] = 1 + dice->Below(dice->Of({3u, 40u, 5000u}));
  geometry.grid[1] = 1 + dice->Below(3);
  geometry.grid[2] = 1 + dice->Below(2);
  geometry.block[0] = dice->Of({1u, 32u, 33u, 128u, 250u, 256u});
  geometry.block[1] = dice->Of({1u, 2u, 3u});
  geometry.block[2] = 1;
  geometry.registers_per_thread = dice->Of({0u, 16u, 32u, 33u, 64u, 255u});
  geometry.static_shared_bytes = dice->Of({0u, 0u, 1000u, 16384u});
  geometry.dynamic_shared_bytes = dice->Of({0u, 0u, 60000u, 232000u});
  return geometry;
}

}  // namespace

void AddAnnotations(uint64_t seed, VirtualProgram* program) {
  Dice dice(seed);
  if (dice.Chance(4)) MakeForeign(&dice, program);
  for (uint32_t thread = 0; thread < program->threads.size(); ++thread) {
    Annotator annotator(&dice);
    Insert(program, thread, [&annotator] { return annotator.Next(); });
  }
}

void AddGeometry(uint64_t seed, VirtualProgram* program) {
  Dice dice(seed);
  program->limits = Limits(&dice);
  std::vector<WorkInfo> shapes;
  for (int i = 0; i < 4; ++i) shapes.push_back(Geometry(&dice));
  for (VirtualThread& thread : program->threads) {
    for (Statement& statement : thread.statements) {
      if (IsLaunch(statement)) statement.geometry = shapes[dice.Below(shapes.size())];
    }
  }
}

void AddLongTimes(uint64_t seed, VirtualProgram* program) {
  Dice dice(seed);
  for (VirtualThread& thread : program->threads) {
    for (Statement& statement : thread.statements) {
      if (statement.action == Action::kCompute && dice.Chance(6)) {
        statement.cost_ns += dice.Time(kLongNs);
      }
      if (statement.device_ns > 0 && dice.Chance(20)) statement.device_ns += dice.Time(kLongNs);
    }
  }
}

void AddUnknownTime(uint64_t seed, VirtualProgram* program) {
  Dice dice(seed);
  for (uint32_t thread = 0; thread < program->threads.size(); ++thread) {
    Insert(program, thread, [&dice]() -> std::optional<Statement> {
      if (!dice.Chance(30)) return std::nullopt;
      Statement statement;
      statement.action = dice.Of({Action::kPause, Action::kResume});
      return statement;
    });
  }
  const TimeNs span_ns = Execute(*program, nullptr).span_ns;
  while (dice.Chance(2)) {
    Outage outage;
    // Odd and even, so that no two begin at once.
    outage.from_ns = 2 * dice.Time(1 + span_ns / 2) + program->outages.size() % 2;
    outage.to_ns = outage.from_ns + dice.Time(1 + span_ns / 4);
    outage.calls = dice.Chance(2);
    if (program->outages.size() < 2) program->outages.push_back(outage);
  }
}

VirtualProgram RandomProgramWithEverything(uint64_t seed) {
  VirtualProgram program = RandomProgram(seed);
  AddAnnotations(seed, &program);
  AddGeometry(seed, &program);
  if (seed % 2 == 0) AddLongTimes(seed, &program);
  AddUnknownTime(seed, &program);
  return program;
}

}  // namespace gpubound::sim
