// SPDX-License-Identifier: Apache-2.0
//
// Reads the maps a block at a time: a large program has megabytes of them.
#include "libprofiler/bystanders.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <iterator>

#include "libprofiler/high_descriptor.h"
#include "libprofiler/shim/shim_info.h"
#include "proto/ledger_counters.h"

namespace gpubound {
namespace {

// The drivers, not what applications link: libGL.so.1 and libvulkan.so.1 load these once something
// is rendered on the GPU.
constexpr std::string_view kGraphicsDrivers[] = {"libGLX_nvidia.so", "libEGL_nvidia.so",
                                                 "libnvidia-glvkspirv.so"};
constexpr std::string_view kCudaDriver = "libcuda.so";
// Mapped by every context, and by nothing that only asks about the GPU (NVML).
constexpr std::string_view kContextDevice = "nvidia-uvm";

class MapsScan {
 public:
  void Line(std::string_view line) {
    const size_t slash = line.rfind('/');
    if (slash == std::string_view::npos) return;
    const std::string_view file = line.substr(slash + 1);
    found_.python_library |= line.substr(slash).starts_with(kPythonLibrary);
    found_.cuda_driver |= file.starts_with(kCudaDriver);
    found_.cuda_context |= file.starts_with(kContextDevice);
    for (size_t i = 0; i < std::size(kGraphicsDrivers); ++i) {
      if (!file.starts_with(kGraphicsDrivers[i]) || seen_[i]) continue;
      seen_[i] = true;
      ++found_.graphics_drivers;
    }
  }
  const MappedLibraries& found() const { return found_; }

 private:
  MappedLibraries found_;
  std::array<bool, std::size(kGraphicsDrivers)> seen_{};
};

}  // namespace

MappedLibraries ScanMaps(const char* path) {
  const int maps = OpenHigh(path, O_RDONLY | O_CLOEXEC, 0);
  if (maps < 0) return {};
  MapsScan scan;
  std::array<char, size_t{16} * 1024> block;  // longer than any line: a path has at most 4 KiB
  size_t kept = 0;
  while (true) {
    const ssize_t got = read(maps, block.data() + kept, block.size() - kept);
    if (got <= 0) break;
    std::string_view rest(block.data(), kept + static_cast<size_t>(got));
    for (size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
      scan.Line(rest.substr(0, end));
      rest.remove_prefix(end + 1);
    }
    kept = rest.size() == block.size() ? 0 : rest.size();
    std::memmove(block.data(), rest.data(), kept);
  }
  scan.Line({block.data(), kept});
  close(maps);
  return scan.found();
}

Bystanders::Bystanders(const ProcessStart& start, const std::atomic<bool>& injected,
                       DeviceTables* tables, Ledger* ledger, const char* maps)
    : start_(start), injected_(injected), tables_(tables), ledger_(ledger), maps_(maps) {
  if ((start.shim_flags & GPUBOUND_SHIM_FOREIGN_NVTX_INJECTION) != 0) {
    ledger_->Add(LedgerCounter::nvtx_not_injected, 1);
  }
}

void Bystanders::LookNowAndThen(int64_t now_ns) {
  if (now_ns < next_ns_) return;
  next_ns_ = now_ns + kIntervalNs;
  Look(/*at_end=*/false);
}

void Bystanders::Look(bool at_end) {
  const MappedLibraries mapped = ScanMaps(maps_);
  if (mapped.python_library) NotePythonLibrary();
  if (mapped.graphics_drivers > graphics_counted_) {
    ledger_->Add(LedgerCounter::graphics_libraries_mapped,
                 mapped.graphics_drivers - graphics_counted_);
    graphics_counted_ = mapped.graphics_drivers;
  }
  LookForUnhookedPython();
  if (!looked_) inherited_ = start_.forked && mapped.cuda_context;
  looked_ = true;
  if (!marked_) LookForOtherInjection(mapped, at_end);
}

void Bystanders::LookForUnhookedPython() {
  const bool unhooked = (start_.shim_flags & GPUBOUND_SHIM_NO_PYTHON_HOOK) != 0;
  if (said_python_ || !unhooked || !PythonHasRun()) return;
  said_python_ = true;
  ledger_->Add(LedgerCounter::python_without_extension, 1);
  tables_->AddNote(
      start_.monotonic_ns,
      "Python runs without the start-up hook of gpubound, so what its libraries do has "
      "no names: it was started without gpubound run, with -E, -I or -S, or by a program that is "
      "none. Start it by gpubound run -- python ..., without these options");
}

void Bystanders::LookForOtherInjection(const MappedLibraries& mapped, bool at_end) {
  // A program that never loads the CUDA driver has no GPU time for anybody to miss.
  if ((start_.shim_flags & GPUBOUND_SHIM_FOREIGN_CUDA_INJECTION) != 0) {
    if (!mapped.cuda_driver) return;
    return NoteUnrecorded(
        LedgerCounter::cupti_held_by_other,
        "CUDA_INJECTION64_PATH belongs to another tool, so CUPTI is not ours; GPU time is unknown. "
        "Unset it to have gpubound measure the GPU");
  }
  if (injected_.load(std::memory_order_acquire) || !mapped.cuda_context || inherited_) return;
  // Inside cuInit the driver may be about to call: what is so at two looks is so.
  if (!suspected_ && !at_end) {
    suspected_ = true;
    return;
  }
  NoteUnrecorded(LedgerCounter::cupti_unavailable,
                 "CUDA was initialised without CUDA_INJECTION64_PATH, so nothing of the GPU was "
                 "recorded; GPU time is unknown. Leave the variable as gpubound set it, and load "
                 "gpubound before CUDA is used");
}

void Bystanders::NoteUnrecorded(LedgerCounter counter, std::string_view reason) {
  marked_ = true;
  ledger_->Add(counter, 1);
  tables_->MarkUnknown(start_.monotonic_ns, INT64_MAX, reason);
  tables_->AddNote(start_.monotonic_ns, reason);
}

}  // namespace gpubound
