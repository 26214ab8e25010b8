// SPDX-License-Identifier: Apache-2.0
//
// What in-run calibration itself costs: a loop of iterations with scopes in them, and steps
// between, under the real libraries with GPUBOUND_IN_RUN_CALIBRATION 1 and 0. Rounds interleave the
// two, each in a fresh process. Prints the CPU time of an iteration, and exits 1 when the one costs
// more than 1 % more than the other beyond what rounds differ by.
//
//   suspension_bench [ITERATIONS [SCOPES_PER_ITERATION [ROUNDS]]]
//
// The fewer scopes, the shorter the iterations, the more a step weighs; 400 scopes are about the
// shortest iteration of which any is suspended (suspension_plan.h).
#include <gpubound/annotate.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include "bench/median.h"

namespace {

using gpubound::Median;

// Unlike wall time, hardly moved by other programs on the machine.
double ThreadCpuNs() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

void Iterate(uint64_t iterations, uint64_t scopes) {
  for (uint64_t i = 0; i < iterations; ++i) {
    for (uint64_t scope = 0; scope < scopes; ++scope) {
      GPUBOUND_OPERATION("simulation");
    }
    GPUBOUND_STEP(i);
  }
}

// CPU time of one iteration.
double RunRound(const std::filesystem::path& run, const char* calibrate, uint64_t iterations,
                uint64_t scopes) {
  int channel[2];
  if (pipe(channel) != 0) std::exit(2);
  const pid_t child = fork();
  if (child == 0) {
    setenv("GPUBOUND_RUN", run.c_str(), 1);
    setenv("GPUBOUND_LIBRARY", GPUBOUND_SHIM_PATH, 1);
    setenv("GPUBOUND_IN_RUN_CALIBRATION", calibrate, 1);
    Iterate(iterations / 16, scopes);
    const double begin = ThreadCpuNs();
    Iterate(iterations, scopes);
    const double ns = (ThreadCpuNs() - begin) / static_cast<double>(iterations);
    [[maybe_unused]] const ssize_t written = write(channel[1], &ns, sizeof(ns));
    _exit(0);
  }
  close(channel[1]);
  double ns = 0;
  if (read(channel[0], &ns, sizeof(ns)) != sizeof(ns)) std::exit(2);
  close(channel[0]);
  waitpid(child, nullptr, 0);
  std::filesystem::remove_all(run);
  return ns;
}

double Spread(const std::vector<double>& values) {
  const double median = Median(values);
  std::vector<double> distances;
  for (const double value : values) distances.push_back(std::abs(value - median));
  return Median(std::move(distances));
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t iterations = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 20'000;
  const uint64_t scopes = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 500;
  const int rounds = argc > 3 ? std::atoi(argv[3]) : 11;
  const std::filesystem::path run = std::filesystem::current_path() /
                                    ("suspension_bench-" + std::to_string(getpid()) + ".gpubound");
  std::vector<double> on;
  std::vector<double> off;
  for (int round = 0; round < rounds; ++round) {
    on.push_back(RunRound(run, "1", iterations, scopes));
    off.push_back(RunRound(run, "0", iterations, scopes));
  }
  const double more = Median(on) / Median(off) - 1;
  const double noise = (Spread(on) + Spread(off)) / Median(off);
  std::printf("%llu iterations of %llu scopes, %d rounds\n",
              static_cast<unsigned long long>(iterations), static_cast<unsigned long long>(scopes),
              rounds);
  std::printf("  recording every iteration  median %9.1f ns each\n", Median(off));
  std::printf(
      "  one in a hundred suspended median %9.1f ns each, %+.2f %% (rounds differ by %.2f %%)\n",
      Median(on), 100 * more, 100 * noise);
  return more > 0.01 + noise ? 1 : 0;
}
