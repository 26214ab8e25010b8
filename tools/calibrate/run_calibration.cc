// SPDX-License-Identifier: Apache-2.0
//
// Looks, measures, copies.
#include "tools/calibrate/run_calibration.h"

#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <utility>

#include "analysis/calibration/calibration_file.h"
#include "analysis/reader/reader.h"
#include "tools/calibrate/calibrate.h"
#include "tools/console/console.h"
#include "tools/console/progress_note.h"
#include "tools/launch/cuda_runtime.h"

namespace gpubound {
namespace {

// While it lives, ^C ends the calibration programs, which the terminal sends it to as well, and
// not this one: the status of the profiled program must still be handed on. Handled, because what
// is ignored they would inherit; and ignored it stays where the user had it so.
class WithoutInterrupts {
 public:
  WithoutInterrupts() {
    struct sigaction nothing = {};
    nothing.sa_handler = [](int) {};
    nothing.sa_flags = SA_RESTART;
    sigaction(SIGINT, nullptr, &before_);
    if (before_.sa_handler != SIG_IGN) sigaction(SIGINT, &nothing, nullptr);
  }
  ~WithoutInterrupts() { sigaction(SIGINT, &before_, nullptr); }
  WithoutInterrupts(const WithoutInterrupts&) = delete;
  WithoutInterrupts& operator=(const WithoutInterrupts&) = delete;

 private:
  struct sigaction before_ = {};
};

bool IsPython(const std::string& program) {
  const std::string name = std::filesystem::path(program).filename().string();
  if (!name.starts_with("python")) return false;
  const size_t end = name.find_first_not_of("0123456789.", 6);
  return end == name.npos || name.substr(end) == "t";  // python3.14t has no global lock
}

Result<Calibration> Measure(const Run& run, const RunCalibrationOptions& options) {
  const std::string how_not = options.how_not.empty() ? "" : options.how_not + "; ";
  PrintMessage("measuring once what the profiler itself costs on this machine, some seconds (" +
               how_not + "gpubound calibrate measures longer)");
  CalibrateOptions measuring;
  measuring.libraries = options.libraries;
  measuring.python = InterpreterOf(run);
  measuring.cuda = KeyOf(run).device_kind != "none";
  measuring.cuda_runtime = CudaRuntimeOf(run);
  measuring.seed = std::random_device()();
  measuring.time_cap = options.time_cap;
  const WithoutInterrupts uninterrupted;
  const ProgressNote note("measuring what the profiler costs");
  Result<Calibration> measured = MeasureCosts(measuring);
  if (!measured.ok()) return measured;
  const std::string folder = CalibrationFolder();
  if (folder.empty()) return measured;
  if (const Status stored = StoreCalibration(folder, *measured); !stored.ok()) {
    PrintError(stored.error());
  }
  return measured;
}

}  // namespace

std::string InterpreterOf(const Run& run) {
  const auto is_python = [](const ProcessTrace& process) { return process.python; };
  const auto found = std::find_if(run.processes.begin(), run.processes.end(), is_python);
  if (found == run.processes.end()) return {};
  const bool named = !found->command.empty() && IsPython(found->command.front());
  return named ? found->command.front() : "python3";
}

Result<std::optional<Calibration>> CalibrateRun(const std::string& run_directory,
                                                const RunCalibrationOptions& options) {
  const Result<Run> run = OpenRun(run_directory);
  if (!run.ok()) return run.error();
  if (run->processes.empty()) return std::optional<Calibration>();
  Result<Calibration> calibration = CalibrationOf(*run, CalibrationFolder());
  if (!calibration.ok() && options.measure) {
    calibration = Measure(*run, options);
    if (!calibration.ok()) return calibration.error();
    const std::string why = WhyNotServing(calibration->machine, KeyOf(*run));
    if (!why.empty()) {
      return Error{"calibrating", run_directory, why, "costs measured with what the run used",
                   "Measure with its interpreter and libraries: gpubound calibrate --python PATH"};
    }
  }
  if (!calibration.ok()) return calibration.error();
  const Status written = WriteCalibration(run_directory + "/" + kCalibrationFile, *calibration);
  if (!written.ok()) return written.error();
  return std::optional<Calibration>(std::move(*calibration));
}

}  // namespace gpubound
