// SPDX-License-Identifier: Apache-2.0
//
// What else is in the process and bears on what its figures mean: another tool that the CUDA driver
// or NVTX was told to load instead of us, a CUDA driver that was told to load nobody, a Python that runs
// without our hook, and NVIDIA's graphics drivers, whose work CUPTI does not see. Looks at /proc/self/maps now and then, since a
// kill leaves no time to look at the end.
//
// On the flusher's thread only.
#ifndef GPUBOUND_LIBPROFILER_BYSTANDERS_H_
#define GPUBOUND_LIBPROFILER_BYSTANDERS_H_

#include <atomic>
#include <cstdint>
#include <string_view>

#include "libprofiler/device_tables.h"
#include "libprofiler/ledger.h"
#include "libprofiler/process_info.h"

namespace gpubound {

// Of interest among the files that a process has mapped.
struct MappedLibraries {
  bool cuda_driver = false;
  bool cuda_context = false;      // CUDA is in use, not only loaded
  bool python_library = false;    // an interpreter, maybe opened privately
  uint32_t graphics_drivers = 0;  // distinct ones
};

// Reads a file in the format of /proc/PID/maps; nothing was found where that cannot be read.
MappedLibraries ScanMaps(const char* path);

class Bystanders {
 public:
  // All outlive the object. |injected|: whether the CUDA driver has called us. |maps|: another file
  // in the format of /proc/self/maps, for tests.
  Bystanders(const ProcessStart& start, const std::atomic<bool>& injected, DeviceTables* tables,
             Ledger* ledger, const char* maps = "/proc/self/maps");

  // Looks, if the last look was kIntervalNs ago or never.
  void LookNowAndThen(int64_t now_ns);
  void LookAtEnd() { Look(/*at_end=*/true); }

  static constexpr int64_t kIntervalNs = 10'000'000'000;

 private:
  void Look(bool at_end);
  void LookForUnhookedPython();
  void LookForOtherInjection(const MappedLibraries& mapped, bool at_end);
  void NoteUnrecorded(LedgerCounter counter, std::string_view reason);

  const ProcessStart start_;
  const std::atomic<bool>& injected_;
  DeviceTables* const tables_;
  Ledger* const ledger_;
  const char* const maps_;
  int64_t next_ns_ = 0;
  uint32_t graphics_counted_ = 0;
  bool marked_ = false;  // GPU time is unknown
  bool looked_ = false;
  bool said_python_ = false;
  bool suspected_ = false;  // CUDA was in use without having called us
  bool inherited_ = false;  // the parent's CUDA, of no use to a fork child
};

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_BYSTANDERS_H_
