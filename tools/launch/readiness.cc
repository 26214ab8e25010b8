// SPDX-License-Identifier: Apache-2.0
//
// One function for each line that `gpubound doctor` prints.
#include "tools/launch/readiness.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "analysis/base/suggestion.h"
#include "analysis/base/text_table.h"
#include "libprofiler/env_vars.h"
#include "proto/live_format.h"

namespace gpubound {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
// The live mapping, in steps of 4 MiB.
constexpr uint64_t kLiveBytes = sizeof(LiveHeader) + kLiveMaxThreads * sizeof(LiveThread) +
                                kLiveLabelHeapBytes + kLiveDefaultPages * kLivePageSize;
constexpr uint64_t kLiveMappingBytes = (kLiveBytes / (4 * kMiB) + 1) * 4 * kMiB;
constexpr uint64_t kComfortableBytes = 1024 * kMiB;  // a day of annotations and kernels

Check Fine(std::string subject, std::string finding) {
  return {Readiness::kOk, std::move(subject), std::move(finding), ""};
}
Check Note(std::string subject, std::string finding, std::string remedy) {
  return {Readiness::kNote, std::move(subject), std::move(finding), std::move(remedy)};
}
Check Problem(std::string subject, std::string finding, std::string remedy) {
  return {Readiness::kProblem, std::move(subject), std::move(finding), std::move(remedy)};
}

Check JudgeLibraries(const MachineFacts& facts) {
  const char* subject = "libraries";
  if (!facts.libraries_problem.empty()) {
    return Problem(subject, facts.libraries_problem, facts.libraries_remedy);
  }
  if (!facts.core.problem.empty()) {
    return Problem(subject, fmt::format("the collector cannot be loaded: {}", facts.core.problem),
                   "Install both libraries from one build, made for this machine.");
  }
  return Fine(subject, facts.libraries_folder);
}

// "3.13t" of _core.cpython-313t-x86_64-linux-gnu.so; empty for a file that is called otherwise.
std::string VersionOfExtension(const std::string& file) {
  constexpr std::string_view kBeginning = "_core.cpython-3";
  if (!file.starts_with(kBeginning)) return "";
  const size_t end = file.find('-', kBeginning.size());
  return end == std::string::npos ? ""
                                  : "3." + file.substr(kBeginning.size(), end - kBeginning.size());
}

// Which interpreters have an extension that they can load.
Check JudgePython(const std::vector<std::string>& extensions) {
  std::vector<std::string> versions;
  std::vector<std::string> free_threaded;
  const bool has_stable =
      std::find(extensions.begin(), extensions.end(), "_core.abi3.so") != extensions.end();
  if (has_stable) versions.emplace_back("3.9 and later");
  for (const std::string& file : extensions) {
    const std::string version = VersionOfExtension(file);
    if (version.ends_with('t')) {
      free_threaded.push_back(version);
    } else if (!version.empty() && !has_stable) {
      versions.push_back(version);
    }
  }
  versions.insert(versions.end(), free_threaded.begin(), free_threaded.end());
  if (versions.empty()) {
    return Note("Python",
                "no extension was built: what Python libraries do is recorded without names",
                "Install Python's headers (Debian: python3-dev) and build gpubound again.");
  }
  return Fine("Python", fmt::format("hooks CPython {}{}", fmt::join(versions, ", "),
                                    free_threaded.empty() ? "; no free-threaded one" : ""));
}

Check JudgeSwitch(const MachineFacts& facts) {
  if (!facts.disabled) return Fine("recording", "switched on");
  return Note("recording", "switched off by GPUBOUND_DISABLE", "Unset it to record.");
}

Check JudgeDriver(const DriverFacts& driver) {
  const char* subject = "CUDA driver";
  const bool has_library = !driver.libcuda.path.empty();
  if (!has_library && driver.device_nodes == 0) {
    return Note(subject, "no NVIDIA GPU here; a run records the CPU side only",
                "Nothing to do, unless there should be one: install NVIDIA's driver, or start the "
                "container with its GPUs (--gpus all).");
  }
  if (!driver.libcuda.problem.empty()) {
    return Problem(subject, driver.libcuda.problem, "Install the driver again.");
  }
  if (!has_library) {
    return Problem(subject,
                   fmt::format("{} GPU device(s), but no libcuda.so.1", driver.device_nodes),
                   "Install the driver's user libraries, or start the container with its GPUs "
                   "(--gpus all).");
  }
  if (driver.device_nodes == 0) {
    return Note(subject, fmt::format("{}, but no GPU device", driver.libcuda.path),
                "Start the container with its GPUs (--gpus all), or load the kernel module.");
  }
  if (driver.forbidden_device_nodes > 0) {
    return Problem(subject,
                   fmt::format("{} of {} GPU device(s) may not be opened by this user",
                               driver.forbidden_device_nodes, driver.device_nodes),
                   "Add the user to the group that owns /dev/nvidia*.");
  }
  const std::string version =
      driver.cuda_version == 0
          ? "unknown version"
          : fmt::format("CUDA {}.{}", driver.cuda_version / 1000, driver.cuda_version % 1000 / 10);
  return Fine(subject, fmt::format("{}, {} GPU device(s)", version, driver.device_nodes));
}

Check JudgeCupti(const CuptiFacts& cupti, bool has_driver) {
  const char* subject = "CUPTI";
  const char* install =
      "Install it (CUDA toolkit, or the Python package nvidia-cuda-cupti), or name one with "
      "GPUBOUND_CUPTI_LIBRARY. A program that brings its own, as PyTorch does, needs none.";
  if (cupti.switched_off) {
    return Note(subject, "switched off by GPUBOUND_CUPTI=0; GPU time will be unknown",
                "Unset it to record the GPU.");
  }
  if (!cupti.foreign_injector.empty()) {
    return Note(
        subject,
        fmt::format("CUDA_INJECTION64_PATH belongs to another tool ({})", cupti.foreign_injector),
        "Unset it: only one tool at a time can use CUPTI.");
  }
  if (!cupti.chosen.empty() && !cupti.chosen_exists) {
    return Problem(subject,
                   fmt::format("GPUBOUND_CUPTI_LIBRARY names {}, which is not there", cupti.chosen),
                   "Correct it, or unset it to let gpubound search.");
  }
  if (!cupti.chosen.empty()) return Fine(subject, cupti.chosen);
  if (!cupti.candidates.empty()) {
    const size_t others = cupti.candidates.size() - 1;
    return Fine(subject, others == 0
                             ? cupti.candidates.front()
                             : fmt::format("{} (and {} more)", cupti.candidates.front(), others));
  }
  if (!has_driver) return Fine(subject, "none found, and none needed without a GPU");
  return Problem(subject, "no libcupti found; GPU time will be unknown", install);
}

Check JudgeClock(bool invariant_tsc) {
  if (invariant_tsc) return Fine("clock", "invariant TSC");
  return Note("clock", "no invariant TSC; scopes read CLOCK_MONOTONIC and cost a little more",
              "Nothing to do on a virtual machine that hides it.");
}

Check JudgePlace(const RunPlaceFacts& place) {
  const char* subject = "run directory";
  if (!place.problem.empty()) {
    return Problem(subject, fmt::format("{}: {}", place.path, place.problem),
                   "Choose another place with `gpubound run -o DIR` or GPUBOUND_RUN.");
  }
  const std::string where =
      place.filesystem.empty() ? place.path : fmt::format("{} ({})", place.path, place.filesystem);
  if (place.free_bytes && *place.free_bytes < kLiveMappingBytes) {
    return Problem(subject,
                   fmt::format("{}: {} MiB free, each process needs {}", where,
                               *place.free_bytes / kMiB, kLiveMappingBytes / kMiB),
                   "Free some space, or choose another place.");
  }
  if (place.is_network) {
    return Note(subject,
                fmt::format("{} is a network filesystem: a rollback journal replaces the "
                            "write-ahead log, and after a kill the last second may be missing",
                            where),
                "Record onto a local disk where there is one.");
  }
  if (place.free_bytes && *place.free_bytes < kComfortableBytes) {
    return Note(subject, fmt::format("{}: {} MiB free", where, *place.free_bytes / kMiB),
                "Enough for a short run; free some space for a long one.");
  }
  return Fine(subject, where);
}

// MADV_WIPEONFORK, without which a fork child could write into its parent's buffers.
Check JudgeKernel(const std::string& release) {
  constexpr int kMajor = 4, kMinor = 14;
  char* rest = nullptr;
  const long major = std::strtol(release.c_str(), &rest, 10);
  const long minor = *rest == '.' ? std::strtol(rest + 1, nullptr, 10) : 0;
  if (major == 0 || major > kMajor || (major == kMajor && minor >= kMinor)) {
    return Fine("kernel", release);
  }
  return Problem("kernel",
                 fmt::format("Linux {}, expected {}.{} or newer", release, kMajor, kMinor),
                 "Use a newer kernel.");
}

Check JudgeUnknownVariable(const std::string& name) {
  std::vector<std::string> names;
  for (const EnvVar& variable : kEnvVars) names.emplace_back(variable.name);
  const std::string closest = ClosestName(name, names);
  return Note("environment", fmt::format("{} means nothing to gpubound", name),
              closest.empty() ? "`gpubound env` lists the variables that do."
                              : fmt::format("Did you mean {}?", closest));
}

const char* Word(Readiness readiness) {
  switch (readiness) {
    case Readiness::kOk:
      return "ok";
    case Readiness::kNote:
      return "note";
    case Readiness::kProblem:
      return "problem";
  }
  return "problem";
}

constexpr size_t kWordColumns = 8;

std::string Colored(Readiness readiness, const TextOptions& options) {
  const std::string word = fmt::format("{:<{}}", Word(readiness), kWordColumns);
  if (!options.color) return word;
  const char* color = readiness == Readiness::kOk     ? "\x1b[32m"
                      : readiness == Readiness::kNote ? "\x1b[33m"
                                                      : "\x1b[31m";
  return color + word + "\x1b[0m";
}

}  // namespace

std::vector<Check> JudgeMachine(const MachineFacts& facts) {
  std::vector<Check> checks = {
      JudgeLibraries(facts),
      JudgePython(facts.python_extensions),
      JudgeSwitch(facts),
      JudgeDriver(facts.driver),
      JudgeCupti(facts.cupti, !facts.driver.libcuda.path.empty()),
      JudgeClock(facts.invariant_tsc),
      JudgePlace(facts.place),
      JudgeKernel(facts.kernel),
  };
  for (const std::string& name : facts.unknown_variables) {
    checks.push_back(JudgeUnknownVariable(name));
  }
  return checks;
}

bool HasProblem(const std::vector<Check>& checks) {
  return std::any_of(checks.begin(), checks.end(),
                     [](const Check& check) { return check.readiness == Readiness::kProblem; });
}

std::string RenderChecks(const std::vector<Check>& checks, const TextOptions& options) {
  constexpr int kIndent = 24;
  const int width = std::max(options.width, 60);
  std::string text;
  for (const Check& check : checks) {
    // Wrapped without the coloured word, whose escapes would count as columns.
    const std::string head = fmt::format("{:<{}}{:<16}", "", kWordColumns, check.subject);
    text += Colored(check.readiness, options);
    text += Wrap(head + EscapeName(check.finding), width, kIndent).substr(kWordColumns);
    if (check.remedy.empty()) continue;
    text += Wrap(std::string(kIndent, ' ') + EscapeName(check.remedy), width, kIndent);
  }
  return text + (HasProblem(checks) ? "\nNot ready: see the problems above.\n"
                                    : "\nReady: gpubound run -- CMD\n");
}

}  // namespace gpubound
