// SPDX-License-Identifier: Apache-2.0
//
// The experiment behind `gpubound verify`: a command with and without the profiler, in turns, in
// random order within each round, and how far the corrected time is from the true one.
//
// Starts programs and writes into a temporary folder; single-threaded.
#ifndef GPUBOUND_TOOLS_VERIFY_H_
#define GPUBOUND_TOOLS_VERIFY_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "analysis/calibration.h"
#include "analysis/paired_ratio.h"
#include "analysis/status.h"
#include "tools/library_files.h"

namespace gpubound {

struct VerifyOptions {
  LibraryFiles libraries;
  std::vector<std::string> command;
  int rounds = 5;
  uint64_t seed = 0;
  std::function<void(int round)> before_round;  // for a word to the user; may be empty
  // Given the last lines that a run which failed wrote on stderr, if any; may be empty.
  std::function<void(const std::vector<std::string>& lines)> on_failure;
};

struct VerifiedRound {
  double plain_ns = 0;  // wall time without the profiler
  double profiled_ns = 0;
  double corrected_ns = 0;
  double plain_cpu_ns = 0;  // CPU time of all threads, the profiler's own included
  double profiled_cpu_ns = 0;
};

struct Verification {
  std::vector<std::string> command;
  uint64_t seed = 0;
  Calibration calibration;
  std::vector<VerifiedRound> rounds;
  MedianRatio slowdown;   // profiled over plain
  MedianRatio corrected;  // corrected over plain: 1 is perfect
  MedianRatio cpu;        // CPU time, profiled over plain; other programs disturb it least
};

// Runs the command 2 * rounds + 1 times; the first, without the profiler, only warms caches up. An
// error: it cannot be started, ends with a status other than 0, records nothing, or there is no
// calibration that serves it.
Result<Verification> VerifyCommand(const VerifyOptions& options);

// |limit|: residual above which it failed, as a share; below 0: none.
std::string RenderVerification(const Verification& verification, double limit);
std::string RenderVerificationJson(const Verification& verification, double limit);

// The residual's size: how far the corrected time is off, as a share of the true one.
double Residual(const Verification& verification);

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_VERIFY_H_
