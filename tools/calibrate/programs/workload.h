// SPDX-License-Identifier: Apache-2.0
//
// What the calibration program can repeat. The program does the same with the profiler in it and
// without; `gpubound calibrate` runs it both ways at once, lets them take turns, and compares.
//
// The conversation, one line each: "run NAME COUNT" is answered by the ns that each of COUNT
// occurrences took, or by "no " and the reason; the Python program tells of calls amid other work
// in two numbers, with that work and without. Where COUNT is more than one, some that are not timed
// come before them. The end of the input ends the program. Its argument, where it has one, is the
// path of the CUDA runtime to use.
#ifndef GPUBOUND_TOOLS_CALIBRATE_PROGRAMS_WORKLOAD_H_
#define GPUBOUND_TOOLS_CALIBRATE_PROGRAMS_WORKLOAD_H_

#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>

namespace gpubound::calibration {

// One block: carries out |count| occurrences and returns what they took together, in ns.
using Block = std::function<double(uint64_t count)>;

// Null, and |why| says why, where there is no workload of that name or this machine cannot run it.
Block FindScopeWork(const std::string& name, std::string* why);
Block FindCudaWork(const std::string& name, const std::string& path, std::string* why);

inline double NowNs() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// What one look at the clock takes.
inline double ClockNs() {
  static const double kLeast = [] {
    constexpr int kLooks = 1'000;
    double least = HUGE_VAL;
    for (int i = 0; i < kLooks; ++i) {
      const double begin = NowNs();
      least = std::min(least, NowNs() - begin);
    }
    return least;
  }();
  return kLeast;
}

inline int64_t ContextSwitches() {
  rusage usage = {};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw + usage.ru_nvcsw;
}

// What |section| took, in ns. One during which this thread lost the processor, or waited for a lock
// of somebody who did, tells of the machine's load: it is repeated, a few times at most. |prepare|
// is called before each attempt and is not timed.
template <typename Section, typename Prepare>
double UndisturbedNs(Section section, Prepare prepare) {
  constexpr int kAttempts = 20;
  double least = HUGE_VAL;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    prepare();
    const int64_t switches = ContextSwitches();
    const double begin = NowNs();
    section();
    const double took = NowNs() - begin;
    if (ContextSwitches() == switches) return took;
    least = std::min(least, took);
  }
  return least;
}

}  // namespace gpubound::calibration

#endif  // GPUBOUND_TOOLS_CALIBRATE_PROGRAMS_WORKLOAD_H_
