// SPDX-License-Identifier: Apache-2.0
//
// Devices of a machine: what each physical device did over all processes that used it, and what
// share each process had in it. One pass over what their sweeps saw. Pure but for reading that.
#ifndef GPUBOUND_ANALYSIS_PROCESSES_DEVICE_USAGE_H_
#define GPUBOUND_ANALYSIS_PROCESSES_DEVICE_USAGE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/base/interval.h"
#include "analysis/base/status.h"
#include "analysis/timeline/device_activity.h"
#include "analysis/trace/run.h"

namespace gpubound {

// Of one device within one window.
struct DeviceTime {
  Interval time;           // the window, on the clock that it was given in
  int64_t busy_ns = 0;     // union of all work
  int64_t compute_ns = 0;  // union of the work of a class
  int64_t comm_ns = 0;
  int64_t copy_ns = 0;
  int64_t graph_ns = 0;  // in which graphs ran that were recorded as a whole
  double smi_model = 0;
  double most_smi_model = 0;  // had kernels run in all unknown time
  int64_t nvml_samples = 0;   // of the process that has most of them
  int64_t nvml_percents = 0;

  // Mean of what NVML said, 0..1; absent where it said nothing.
  std::optional<double> nvml_utilization() const {
    if (nvml_samples == 0) return {};
    return static_cast<double>(nvml_percents) / static_cast<double>(nvml_samples) / 100;
  }
};

// What a process has of a device: its work alone there, and its work beside that of others. The
// truth about "its" time lies between |alone_ns| and their sum.
struct DeviceBand {
  size_t process = 0;  // index into Run::processes
  int64_t alone_ns = 0;
  int64_t contended_ns = 0;
  template <typename Archive>
  void Visit(Archive& archive) {
    archive.All(process, alone_ns, contended_ns);
  }
};

struct DeviceUsage {
  std::string uuid;
  std::string name;
  bool simulated = false;
  bool used = false;            // some work ran on it, in a window or not
  int64_t nvml_sampled_ns = 0;  // from the first to the last sample in the first window
  int64_t memory_bytes = 0;     // that it has; 0 unknown
  // In the first window, as NVML's samples say, of all that ran there, recorded or not.
  int64_t memory_peak_bytes = kNotKnown;
  std::vector<size_t> seen_by;  // the processes that could use it; ascending
  std::vector<DeviceTime> windows;
  std::vector<DeviceBand> bands;  // within the first window; of the processes that used it
};

// When a process's work on its devices could have run unrecorded, on one clock with the
// windows.
struct ProcessUnknown {
  std::vector<Interval> times;    // within its span
  std::vector<Interval> outside;  // in which others were recorded
  // It says of no device whether it sees it, so that it may see any.
  bool sees_any = false;
};
using RunUnknown = std::vector<ProcessUnknown>;  // by process

// What the devices of each process did since the run's sums, by process; null: nothing.
using RunActivity = std::vector<std::shared_ptr<const DeviceActivity>>;

// Every device that any of |processes| saw, which are those of one machine by their numbers in the
// run, in order of host and ordinal, within each of |windows| (trace time of that machine). A device
// without uuid is one per host and ordinal. An error where the run's sums cannot tell one of the
// windows from the rest. |offset_ns|: by process, to the clock of |windows|. |parts|: into so many
// the time is cut, which are gone through side by side; 0: as many as are worth it.
Result<std::vector<DeviceUsage>> MeasureDevices(const Run& run,
                                                const std::vector<size_t>& processes,
                                                const RunActivity& activity,
                                                const std::vector<int64_t>& offset_ns,
                                                const std::vector<Interval>& windows,
                                                const RunUnknown& unknown, size_t parts = 0);

// For RunSums::devices: what devices of one host did before |until_ns|. Afterwards
// windows can be told that are bounded by |boundaries_ns|, ascending, the run's begin first, or by
// instants from |until_ns| on.
Result<std::string> SumDevices(const Run& run, const RunActivity& activity,
                               const RunUnknown& unknown, const std::vector<int64_t>& boundaries_ns,
                               int64_t until_ns);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_PROCESSES_DEVICE_USAGE_H_
