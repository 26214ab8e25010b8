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

#include "libprofiler/shim/shim_info.h"
#include "proto/ledger_counters.h"

namespace gpubound {
namespace {

// The drivers, not what applications link: libGL.so.1 and libvulkan.so.1 load these once something
// is rendered on the GPU.
constexpr std::string_view kGraphicsDrivers[] = {"libGLX_nvidia.so", "libEGL_nvidia.so",
                                                 "libnvidia-glvkspirv.so"};
constexpr std::string_view kCudaDriver = "libcuda.so";

class MapsScan {
 public:
  void Line(std::string_view line) {
    const size_t slash = line.rfind('/');
    if (slash == std::string_view::npos) return;
    const std::string_view file = line.substr(slash + 1);
    found_.cuda_driver |= file.starts_with(kCudaDriver);
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
  const int maps = open(path, O_RDONLY | O_CLOEXEC);
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

Bystanders::Bystanders(const ProcessStart& start, DeviceTables* tables, Ledger* ledger,
                       const char* maps)
    : start_(start), tables_(tables), ledger_(ledger), maps_(maps) {
  if ((start.shim_flags & GPUBOUND_SHIM_FOREIGN_NVTX_INJECTION) != 0) {
    ledger_->Add(LedgerCounter::nvtx_not_injected, 1);
  }
}

void Bystanders::LookNowAndThen(int64_t now_ns) {
  if (now_ns < next_ns_) return;
  next_ns_ = now_ns + kIntervalNs;
  Look();
}

void Bystanders::Look() {
  const MappedLibraries mapped = ScanMaps(maps_);
  if (mapped.graphics_drivers > graphics_counted_) {
    ledger_->Add(LedgerCounter::graphics_libraries_mapped,
                 mapped.graphics_drivers - graphics_counted_);
    graphics_counted_ = mapped.graphics_drivers;
  }
  // A program that never loads the CUDA driver has no GPU time for anybody to miss.
  const bool foreign = (start_.shim_flags & GPUBOUND_SHIM_FOREIGN_CUDA_INJECTION) != 0;
  if (!foreign || !mapped.cuda_driver || foreign_marked_) return;
  foreign_marked_ = true;
  constexpr std::string_view kReason =
      "CUDA_INJECTION64_PATH belongs to another tool, so CUPTI is not ours; GPU time is unknown. "
      "Unset it to have gpubound measure the GPU";
  ledger_->Add(LedgerCounter::cupti_held_by_other, 1);
  tables_->MarkUnknown(start_.monotonic_ns, INT64_MAX, kReason);
  tables_->AddNote(start_.monotonic_ns, kReason);
}

}  // namespace gpubound
