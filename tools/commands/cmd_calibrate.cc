// SPDX-License-Identifier: Apache-2.0
//
// `gpubound calibrate`: measures what the profiler itself costs on this machine and keeps it.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <random>
#include <system_error>

#include "analysis/base/text_table.h"
#include "analysis/calibration/calibration_file.h"
#include "tools/calibrate/calibrate.h"
#include "tools/commands/commands.h"
#include "tools/commands/option_parser.h"
#include "tools/commands/option_values.h"
#include "tools/console/console.h"
#include "tools/console/exit_codes.h"
#include "tools/console/progress_note.h"
#include "tools/launch/cuda_runtime.h"
#include "tools/launch/library_files.h"
#include "tools/launch/program_file.h"

namespace gpubound {
namespace {

constexpr char kPython[] = "python3";  // a machine may have none

constexpr CommandHelp kCalibrateHelp = {
    "gpubound calibrate", "[OPTIONS]",
    "Measures what recording costs per event on this machine: scopes and instants from C++ and\n"
    "Python, wrapped Python calls, CUDA API calls. Takes some seconds, less than a minute, and is\n"
    "most exact while nothing else runs. Reports take these costs out of what they show.",
    "The result is kept in $XDG_CACHE_HOME/gpubound (~/.cache/gpubound) for this CPU, device,\n"
    "driver, CUPTI and Python. `gpubound run` measures by itself, after the program has ended,\n"
    "where nothing was kept yet, with the interpreter and the CUDA runtime that the program used.\n"
    "Here CUDA calls are measured with the CUDA runtime in the interpreter's site-packages, else\n"
    "with the one that the dynamic loader finds (LD_LIBRARY_PATH).\n"
    "Exit status: 0; 1 if stdout cannot be written; 2 for wrong use; 3 if nothing could\n"
    "be measured.\n",
    "  gpubound calibrate\n"
    "  gpubound calibrate --python .venv/bin/python --json > calibration.json\n"};

// Whether |python| is left out, may be missing, or is there.
bool IsMeasurable(const std::string& python) {
  if (python.empty() || python == kPython) return true;
  const std::string found = FindProgram(python, EnvironmentVariable);
  std::error_code ignored;
  return std::filesystem::is_regular_file(found, ignored) && access(found.c_str(), X_OK) == 0;
}

}  // namespace

int Calibrate(const Arguments& words) {
  CalibrateOptions options;
  options.python = kPython;
  options.seed = std::random_device()();
  bool json = false;
  OptionParser parser(kCalibrateHelp);
  parser.AddFlag("--json", &json, "JSON (gpubound.calibration.v1), the stable form");
  parser.AddOption("--python", &options.python, "Interpreter to measure (default: python3)")
      .Value("PATH");
  parser.AddOption("--seed", &options.seed, "Order in which blocks are measured (default: random)")
      .Check(WholeNumber(0, UINT64_MAX))
      .Value("N");
  constexpr int kMostSeconds = 600;
  int seconds = static_cast<int>(options.time_cap.count());
  parser
      .AddOption("--seconds", &seconds,
                 "Time to take (default: 45; three rounds at least); less is less exact")
      .Check(WholeNumber(1, kMostSeconds))
      .Value("N");
  if (const auto over = parser.Parse(words, kExitWrongUse)) return *over;
  if (!IsMeasurable(options.python)) {
    PrintError({"reading --python", options.python, "no program", "a Python interpreter",
                "Give its path, or its name in PATH; without --python it is python3."});
    return kExitWrongUse;
  }
  options.time_cap = std::chrono::seconds(seconds);
  options.cuda_runtime = CudaRuntimeOfPython(options.python, EnvironmentVariable);

  const Result<LibraryFiles> libraries = FindOurLibraryFiles();
  if (!libraries.ok()) {
    PrintError(libraries.error());
    return kExitUnreadable;
  }
  options.libraries = *libraries;
  PrintMessage(fmt::format("measuring in random order, seed {}", options.seed));
  Result<Calibration> calibration = [&] {
    const ProgressNote note("measuring what the profiler costs");
    return MeasureCosts(options);
  }();
  if (!calibration.ok()) {
    PrintError(calibration.error());
    return kExitUnreadable;
  }
  const std::string folder = CalibrationFolder();
  if (folder.empty()) {
    PrintWarning("neither XDG_CACHE_HOME nor HOME is set; the result is not kept.");
  } else if (const Status stored = StoreCalibration(folder, *calibration); !stored.ok()) {
    PrintError(stored.error());
  } else {
    PrintMessage("kept as " + EscapeName(CalibrationPath(folder, calibration->machine)));
  }
  return WriteStdout(json ? RenderCalibration(*calibration) : RenderCosts(*calibration));
}

}  // namespace gpubound
