// SPDX-License-Identifier: Apache-2.0
//
// Two costs that every program of a run pays, measured side by side:
//   * starting and ending a process that never records anything, with libgpubound.so preloaded and
//     without, in turn, so that both see the same machine; the figure is the median difference;
//   * a scope in a program into which nothing is injected, over a loop without one.
//
// inject_bench [PAIRS] [PROGRAM]: default 500 pairs of /bin/true. Run it under
// LD_PRELOAD=libgpubound.so to see what a recorded scope costs instead.
#include <gpubound/annotate.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

namespace {

int64_t NowNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

// Environment of one variant: this process's own without anything of ours, and |more|.
class Environment {
 public:
  explicit Environment(std::vector<std::string> more) : owned_(std::move(more)) {
    for (char** variable = environ; *variable != nullptr; ++variable) {
      const std::string text = *variable;
      const bool ours = text.rfind("GPUBOUND_", 0) == 0 || text.rfind("LD_PRELOAD=", 0) == 0 ||
                        text.find("_INJECTION64_PATH=") != std::string::npos;
      if (!ours) owned_.push_back(text);
    }
    for (std::string& variable : owned_) pointers_.push_back(variable.data());
    pointers_.push_back(nullptr);
  }
  char** get() { return pointers_.data(); }

 private:
  std::vector<std::string> owned_;
  std::vector<char*> pointers_;
};

// Starts |program| and waits for it; ns, or -1 when it did not exit with 0.
int64_t RunOnce(const char* program, char** environment) {
  char* arguments[] = {const_cast<char*>(program), nullptr};
  pid_t child = 0;
  int status = -1;
  const int64_t begin_ns = NowNs();
  if (posix_spawn(&child, program, nullptr, nullptr, arguments, environment) != 0) return -1;
  waitpid(child, &status, 0);
  return status == 0 ? NowNs() - begin_ns : -1;
}

double MedianUs(std::vector<int64_t> values_ns) {
  const auto middle = values_ns.begin() + static_cast<ptrdiff_t>(values_ns.size() / 2);
  std::nth_element(values_ns.begin(), middle, values_ns.end());
  return static_cast<double>(*middle) / 1e3;
}

bool MeasureProcesses(const char* program, int pairs) {
  const std::string preload = std::string("LD_PRELOAD=") + GPUBOUND_SHIM_PATH;
  // The root of a run sets the variables; every other process finds them set.
  Environment plain({});
  Environment root({preload});
  Environment child({preload, "GPUBOUND_RUN=/nonexistent/run.gpubound",
                     "CUDA_INJECTION64_PATH=/nonexistent/libgpubound_core.so",
                     "NVTX_INJECTION64_PATH=/nonexistent/libgpubound_core.so"});
  struct Variant {
    const char* name;
    char** environment;
    std::vector<int64_t> times_ns;
    std::vector<int64_t> over_plain_ns;
  };
  Variant variants[] = {{"plain", plain.get(), {}, {}},
                        {"preloaded, root of the run", root.get(), {}, {}},
                        {"preloaded, further process", child.get(), {}, {}}};
  constexpr int kWarmUpTurns = 20;
  for (int turn = -kWarmUpTurns; turn < pairs; ++turn) {
    int64_t plain_ns = 0;
    for (Variant& variant : variants) {
      const int64_t time_ns = RunOnce(program, variant.environment);
      if (time_ns < 0) {
        std::fprintf(stderr, "inject_bench: %s did not run (%s)\n", program, variant.name);
        return false;
      }
      if (&variant == variants) plain_ns = time_ns;
      if (turn < 0) continue;
      variant.times_ns.push_back(time_ns);
      variant.over_plain_ns.push_back(time_ns - plain_ns);
    }
  }
  std::printf("%s, %d turns; medians\n", program, pairs);
  for (const Variant& variant : variants) {
    std::printf("  %-28s %8.1f us   over plain %+7.1f us\n", variant.name,
                MedianUs(variant.times_ns), MedianUs(variant.over_plain_ns));
  }
  return true;
}

// ns per turn of |body|, the best of several rounds: what disturbs only ever adds.
template <typename Body>
double BestNsPerTurn(int turns, Body body) {
  int64_t best_ns = INT64_MAX;
  for (int round = 0; round < 15; ++round) {
    const int64_t begin_ns = NowNs();
    for (int turn = 0; turn < turns; ++turn) {
      body();
      asm volatile("" ::: "memory");
    }
    best_ns = std::min(best_ns, NowNs() - begin_ns);
  }
  return static_cast<double>(best_ns) / turns;
}

void MeasureScopes() {
  const bool recorded = gpubound_table_() != nullptr;
  const int turns = recorded ? 200'000 : 20'000'000;
  const double loop_ns = BestNsPerTurn(turns, [] {});
  const double literal_ns = BestNsPerTurn(turns, [] { GPUBOUND_OPERATION("scope"); });
  const double named_ns = BestNsPerTurn(turns, [] {
    std::string_view name = "scope with a name";
    asm volatile("" : "+m"(name));  // known at run time only
    const gpubound::Operation scope(name);
  });
  const double counter_ns = BestNsPerTurn(turns, [] { GPUBOUND_COUNTER("counter", 1.0); });
  std::printf("annotations %s; ns each, empty loop of %.2f ns subtracted\n",
              recorded ? "recorded" : "without a collector", loop_ns);
  std::printf("  GPUBOUND_OPERATION            %8.2f\n", literal_ns - loop_ns);
  std::printf("  gpubound::Operation(name)     %8.2f\n", named_ns - loop_ns);
  std::printf("  GPUBOUND_COUNTER              %8.2f\n", counter_ns - loop_ns);
}

}  // namespace

int main(int argc, char** argv) {
  const int pairs = argc > 1 ? std::atoi(argv[1]) : 500;
  const char* program = argc > 2 ? argv[2] : "/bin/true";
  if (pairs < 1) {
    std::fprintf(stderr, "usage: inject_bench [PAIRS] [PROGRAM]\n");
    return 2;
  }
  MeasureScopes();
  return MeasureProcesses(program, pairs) ? 0 : 1;
}
