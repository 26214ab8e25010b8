// SPDX-License-Identifier: Apache-2.0
//
// Scopes and instants as C++ programs use them: warm, with cold caches, with a name that is known
// at run time only, and on several threads at once.
#include <gpubound/annotate.h>

#include <algorithm>
#include <barrier>
#include <map>
#include <thread>
#include <vector>

#include "tools/calibrate/programs/workload.h"

namespace gpubound::calibration {
namespace {

// Keeps the compiler from dropping or merging turns of a loop.
inline void Barrier() { asm volatile("" ::: "memory"); }

template <typename Body>
double Timed(uint64_t count, Body body) {
  const auto loop = [&] {
    for (uint64_t i = 0; i < count; ++i) {
      body();
      Barrier();
    }
  };
  return UndisturbedNs(loop, [] {});
}

double Empty(uint64_t count) {
  return Timed(count, [] {});
}

double Scope(uint64_t count) {
  return Timed(count, [] { GPUBOUND_OPERATION("calibration scope"); });
}

double ThreadScope(uint64_t count) {
  return Timed(count, [] { GPUBOUND_OPERATION("calibration thread scope"); });
}

double NamedScope(uint64_t count) {
  const std::string name = "calibration named scope";
  return Timed(count, [&] { const Operation scope(name); });
}

double Counter(uint64_t count) {
  return Timed(count, [] { GPUBOUND_COUNTER("calibration counter", 1.0); });
}

// Reads more than a core's own caches hold, so that the next scope finds nothing in them.
void EvictCaches() {
  constexpr size_t kBytes = size_t{4} << 20;
  constexpr size_t kCacheLine = 64;
  static std::vector<char> memory(kBytes, 1);
  for (size_t i = 0; i < kBytes; i += kCacheLine) memory[i] = static_cast<char>(memory[i] + 1);
  Barrier();
}

double ColdScope(uint64_t count) {
  const auto scope = [] { GPUBOUND_OPERATION("calibration cold scope"); };
  double took = 0;
  for (uint64_t i = 0; i < count; ++i) took += UndisturbedNs(scope, EvictCaches) - ClockNs();
  return took;
}

// The mean over two threads that record at the same time.
double TwoThreads(uint64_t count) {
  std::barrier start(2);
  double took[2] = {};
  const auto work = [&](double* result) {
    ThreadScope(64);  // a new thread's first scope registers it
    start.arrive_and_wait();
    *result = ThreadScope(count);
  };
  std::thread second(work, &took[1]);
  work(&took[0]);
  second.join();
  return (took[0] + took[1]) / 2;
}

// Ends the recording, where GPUBOUND_STEPS=:1 asks for that. It is no event to be measured.
double EndRecording(uint64_t) {
  GPUBOUND_STEP(0);
  return 0;
}

}  // namespace

Block FindScopeWork(const std::string& name, std::string* why) {
  static const std::map<std::string, Block> kWork = {{"empty", Empty},
                                                     {"scope", Scope},
                                                     {"named_scope", NamedScope},
                                                     {"counter", Counter},
                                                     {"cold_scope", ColdScope},
                                                     {"two_threads", TwoThreads},
                                                     {"end_recording", EndRecording}};
  const auto found = kWork.find(name);
  if (found == kWork.end()) return nullptr;
  if (name == "two_threads" && std::thread::hardware_concurrency() < 2) {
    *why = "this machine runs one thread at a time";
    return nullptr;
  }
  return found->second;
}

}  // namespace gpubound::calibration
