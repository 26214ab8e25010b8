// SPDX-License-Identifier: Apache-2.0
//
// Makes random runs. No state beyond one call.
#include "tests/oracle/random_waits.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/oracle/random_trace.h"

namespace gpubound::oracle {
namespace {

constexpr uint64_t kTracesPerRun = 8;
constexpr int64_t kFirstPid = 11;
constexpr int64_t kUnknownPid = 99;  // of no process of the run
const std::vector<std::string> kChannels = {"socket:[1]", "socket:[2]", "socket:[3]",
                                            "socket:[4]", "pipe:[5]",   "ray:[6]"};

class Maker {
 public:
  explicit Maker(uint64_t seed) : random_(~seed), seed_(seed) {}

  gpubound::Run Make() {
    const auto count = static_cast<size_t>(2 + Pick(4));
    for (size_t i = 0; i < count; ++i) {
      // By exec a process is several of one pid.
      const bool replaces = i > 0 && Chance(6);
      pids_.push_back(replaces ? pids_.back() : kFirstPid + static_cast<int64_t>(i));
      hosts_.push_back(replaces ? hosts_.back() : Chance(8) ? "other" : "host");
    }
    popular_ = Chance(2);
    // One begins before the other whatever their numbers are.
    starts_.resize(count);
    std::iota(starts_.begin(), starts_.end(), 1);
    std::shuffle(starts_.begin(), starts_.end(), random_);
    for (size_t i = 0; i < count; ++i) run_.processes.push_back(MakeProcess(i));
    for (size_t i = 1; i < count; ++i) {
      if (pids_[i] == pids_[i - 1]) Replace(&run_.processes[i - 1], &run_.processes[i]);
    }
    std::sort(run_.processes.begin(), run_.processes.end(),
              [](const auto& a, const auto& b) { return a.identity < b.identity; });
    run_.info.emplace();
    run_.info->host = hosts_.front();
    run_.info->root_pid = pids_.front();
    return std::move(run_);
  }

 private:
  int64_t Pick(int64_t below) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(below));
  }
  bool Chance(int64_t one_in) { return Pick(one_in) == 0; }
  template <typename T>
  const T& Any(const std::vector<T>& of) {
    return of[static_cast<size_t>(Pick(static_cast<int64_t>(of.size())))];
  }
  // In many runs mostly the same one.
  int64_t AnyPid() {
    if (Chance(12)) return kUnknownPid;
    return popular_ && !Chance(3) ? pids_.back() : Any(pids_);
  }

  // One to three that |word| makes, with a blank between each two.
  template <typename Word>
  std::string Words(Word word) {
    std::string text = word();
    while (Chance(3)) text += " " + word();
    return text;
  }

  ProcessTrace MakeProcess(size_t i) {
    TraceKind kind;
    kind.bare = i > 0 ? Chance(2) : Chance(6);
    for (int64_t waits = 1 + Pick(4); waits > 0; --waits) {
      if (Chance(3)) {
        kind.waits.emplace_back("channel", Words([this] {
                                  return Chance(4) ? "process:[" + std::to_string(AnyPid()) + "]"
                                                   : Any(kChannels);
                                }));
      } else {
        kind.waits.emplace_back("process", Words([this] { return std::to_string(AnyPid()); }));
      }
    }
    ProcessTrace process = MakeRandomTrace(seed_ * kTracesPerRun + i, kind);
    process.identity = {hosts_[i], pids_[i], starts_[i]};
    if (Chance(2)) process.parent_pid = Any(pids_);
    TellOfChannels(&process);
    for (uint32_t device = 1; device <= 2; ++device) {
      process.devices[device].uuid = "GPU-" + std::to_string(device);
    }
    return process;
  }

  // A fork child has what its parent told too, so they may tell of others.
  void TellOfChannels(ProcessTrace* process) {
    for (int64_t told = Pick(4); told > 0; --told) {
      const std::string who = std::to_string(Chance(4) ? AnyPid() : process->identity.pid);
      Tell("channel holder", who + " " + Any(kChannels), process);
    }
    if (Chance(2)) Tell("channel ends", "socket:[1] socket:[2]", process);
    if (Chance(3)) Tell("channel ends", "socket:[4] socket:[3]", process);
  }

  static void Tell(const std::string& domain, const std::string& text, ProcessTrace* process) {
    process->labels.push_back({LabelKind::kLayer, Layer::kUnset, domain, text});
  }

  // The later one begins where the earlier one ends.
  void Replace(ProcessTrace* a, ProcessTrace* b) {
    if (b->identity < a->identity) std::swap(a, b);
    const int64_t at_ns = 5 + Pick(60);
    a->span_end_ns = std::max(a->span_begin_ns, std::min(a->span_end_ns, at_ns));
    a->span_end = SpanEnd::kReplaced;
    b->span_begin_ns = at_ns;
    b->span_end_ns = std::max(b->span_end_ns, at_ns);
  }

  std::mt19937_64 random_;
  const uint64_t seed_;
  gpubound::Run run_;
  std::vector<int64_t> pids_;  // by process, as it is made
  bool popular_ = false;       // most waits are for the last of them
  std::vector<std::string> hosts_;
  std::vector<int64_t> starts_;
};

}  // namespace

gpubound::Run MakeRandomWaits(uint64_t seed) { return Maker(seed).Make(); }

}  // namespace gpubound::oracle
