// SPDX-License-Identifier: Apache-2.0
//
// The offset behind cupti_clock.h.
#include "cupti_hooks/cupti/cupti_clock.h"

#include <atomic>

#include "libprofiler/clock.h"

namespace gpubound {
namespace {

constexpr int64_t kNotKept = INT64_MIN;
constinit std::atomic<int64_t> g_ahead_ns{kNotKept};  // of CLOCK_MONOTONIC

int64_t NowNs() { return static_cast<int64_t>(ReadMonotonicNs()); }

bool ReadKept(int64_t* now_ns) {
  const int64_t ahead_ns = g_ahead_ns.load(std::memory_order_acquire);
  if (ahead_ns == kNotKept) return false;
  *now_ns = NowNs() + ahead_ns;
  return true;
}

}  // namespace

void UseCuptiClock() noexcept { g_ahead_ns.store(kNotKept, std::memory_order_release); }

void KeepCuptiClock(const CuptiApi& api) noexcept {
  if (g_ahead_ns.load(std::memory_order_acquire) != kNotKept) return;
  constexpr int kAttempts = 10;
  int64_t narrowest_ns = INT64_MAX;
  int64_t ahead_ns = kNotKept;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    uint64_t cupti_ns = 0;
    const int64_t before_ns = NowNs();
    if (api.cuptiGetTimestamp(&cupti_ns) != CUPTI_SUCCESS) return;
    const int64_t width_ns = NowNs() - before_ns;
    if (width_ns >= narrowest_ns) continue;
    narrowest_ns = width_ns;
    ahead_ns = static_cast<int64_t>(cupti_ns) - (before_ns + width_ns / 2);
  }
  // Who comes second may have read the other tool's clock.
  int64_t nobody = kNotKept;
  g_ahead_ns.compare_exchange_strong(nobody, ahead_ns, std::memory_order_acq_rel);
}

bool ReadCuptiClock(const CuptiApi& api, int64_t* now_ns) noexcept {
  if (ReadKept(now_ns)) return true;
  uint64_t cupti_ns = 0;
  if (api.cuptiGetTimestamp(&cupti_ns) != CUPTI_SUCCESS) return false;
  // Given up meanwhile: whose clock that was is not known.
  if (ReadKept(now_ns)) return true;
  *now_ns = static_cast<int64_t>(cupti_ns);
  return true;
}

}  // namespace gpubound
