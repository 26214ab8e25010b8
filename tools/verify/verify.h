// SPDX-License-Identifier: Apache-2.0
//
// The experiment behind `gpubound verify`: a command with and without the profiler, in turns, in
// random order within each round, and how far the corrected time is from the true one.
//
// Starts programs and writes into a temporary folder; single-threaded.
#ifndef GPUBOUND_TOOLS_VERIFY_VERIFY_H_
#define GPUBOUND_TOOLS_VERIFY_VERIFY_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "analysis/base/status.h"
#include "analysis/calibration/calibration.h"
#include "analysis/calibration/paired_ratio.h"
#include "tools/launch/library_files.h"

namespace gpubound {

struct VerifyOptions {
  LibraryFiles libraries;
  std::vector<std::string> command;
  int rounds = kFewestPairs;
  uint64_t seed = 0;
  // Both runs of a round at a time, one of them stopped, in turns of this length (runs_in_turns.h);
  // 0: one run after the other.
  std::chrono::milliseconds turn = {};
  std::function<void(int round)> before_round;  // for a word to the user; may be empty
  // Given the last lines that a run which failed wrote on stderr, if any; may be empty.
  std::function<void(const std::vector<std::string>& lines)> on_failure;
};

struct VerifiedRound {
  double plain_ns = 0;  // wall time without the profiler
  double profiled_ns = 0;
  double corrected_ns = 0;
  double start_and_end_error_ns = 0;  // of corrected_ns, the same in all rounds
  double plain_cpu_ns = 0;            // CPU time of all threads, the profiler's own included
  double profiled_cpu_ns = 0;
};

struct Verification {
  std::vector<std::string> command;
  uint64_t seed = 0;
  std::chrono::milliseconds turn = {};  // as VerifyOptions::turn
  Calibration calibration;
  std::vector<VerifiedRound> rounds;
  MedianRatio slowdown;  // profiled over plain
  // Corrected over plain: 1 is perfect. Its interval is wider by what is not known of start and
  // end.
  MedianRatio corrected;
  // By so much, a share of the plain time, on either side: the part of it that no number of rounds
  // makes less.
  double start_and_end_half = 0;
  MedianRatio cpu;  // CPU time, profiled over plain; other programs disturb it least
};

// Runs the command 2 * rounds + 1 times; the first, without the profiler, only warms caches up. An
// error: it cannot be started, ends with a status other than 0, records nothing, or there is no
// calibration that serves it.
Result<Verification> VerifyCommand(const VerifyOptions& options);

// The ratios of |rounds|; |seed| is that of their order.
void Summarise(uint64_t seed, Verification* verification);

enum class Verdict : uint8_t { kPassed, kFailed, kNotDecided };

// Whether the residual lies within |limit|, a share, on either side of zero, with its whole
// interval or with none of it; else, and without an interval, that is not decided. Passed where
// |limit| is below 0: there is none.
Verdict JudgeResidual(const Verification& verification, double limit);

// |limit| as above.
std::string RenderVerification(const Verification& verification, double limit);
std::string RenderVerificationJson(const Verification& verification, double limit);

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_VERIFY_VERIFY_H_
