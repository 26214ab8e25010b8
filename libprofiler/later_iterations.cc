// SPDX-License-Identifier: Apache-2.0
//
// Stores into the mapping.
#include "libprofiler/later_iterations.h"

#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "libprofiler/log.h"
#include "libprofiler/mapped_file.h"

namespace gpubound {

std::unique_ptr<LaterIterations> LaterIterations::Create(const std::string& path) {
  if (void* const mapped = MapFile(path, kLaterFileBytes)) {
    return std::unique_ptr<LaterIterations>(new LaterIterations(mapped));
  }
  char reason[128];
  LogOnce("cannot write %s: %s; iterations after the recording will not tell what it costs",
          path.c_str(), strerror_r(errno, reason, sizeof(reason)));
  return nullptr;
}

LaterIterations::LaterIterations(void* mapped)
    : header_(static_cast<LaterHeader*>(mapped)),
      iterations_(reinterpret_cast<LaterIteration*>(header_ + 1)) {
  // Every page, so that no step of the program has to fetch one.
  for (size_t i = 0; i < kLaterCapacity; ++i) {
    std::atomic_ref<int64_t>(iterations_[i].end_ns).store(0, std::memory_order_relaxed);
  }
  std::atomic_ref<uint64_t>(header_->magic).store(kLaterMagic, std::memory_order_release);
}

LaterIterations::~LaterIterations() { munmap(header_, kLaterFileBytes); }

void LaterIterations::Add(uint64_t number, int64_t now_ns) noexcept {
  const uint64_t place =
      std::atomic_ref<uint64_t>(header_->ended).fetch_add(1, std::memory_order_relaxed);
  if (place >= kLaterCapacity) return;
  iterations_[place].number = number;
  std::atomic_ref<int64_t>(iterations_[place].end_ns).store(now_ns, std::memory_order_release);
}

}  // namespace gpubound
