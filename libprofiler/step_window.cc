// SPDX-License-Identifier: Apache-2.0
//
// Maps the file and keeps its two times.
#include "libprofiler/step_window.h"

#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "libprofiler/log.h"
#include "libprofiler/mapped_file.h"

namespace gpubound {
namespace {

// What lies beyond is a number below 0 that a program counted down to, or up from.
constexpr uint64_t kLargestNumber = INT64_MAX;

int64_t Load(int64_t& value) noexcept {
  return std::atomic_ref<int64_t>(value).load(std::memory_order_acquire);
}

// True for whoever comes first. |own_ticks| is there before anybody sees the time, and is taken back
// where another process was first.
bool SetOnce(int64_t& value, int64_t now_ns, std::atomic<uint64_t>& own_ticks,
             uint64_t ticks) noexcept {
  uint64_t none = 0;
  if (!own_ticks.compare_exchange_strong(none, ticks)) return false;  // another thread is at it
  int64_t unset = 0;
  if (std::atomic_ref<int64_t>(value).compare_exchange_strong(unset, now_ns)) return true;
  own_ticks.store(0);
  return false;
}

int64_t TimeOn(const ClockConversion& conversion, int64_t time_ns,
               const std::atomic<uint64_t>& own_ticks) noexcept {
  const uint64_t ticks = time_ns == 0 ? 0 : own_ticks.load();
  return ticks == 0 ? time_ns : conversion.ToMonotonic(ticks) + 1;
}

}  // namespace

StepWindow::StepWindow(const StepRange& steps, const std::string& path)
    : steps_(steps), shared_(&own_) {
  if (void* mapped = MapFile(path, sizeof(Shared))) {
    shared_ = static_cast<Shared*>(mapped);
    return;
  }
  char reason[128];
  LogOnce("cannot share %s: %s; --steps goes by the iterations of each process alone", path.c_str(),
          strerror_r(errno, reason, sizeof(reason)));
}

StepWindow::~StepWindow() {
  if (shared_ != &own_) munmap(shared_, sizeof(Shared));
}

int64_t StepWindow::begin_ns() const noexcept { return Load(shared_->begin_ns); }
int64_t StepWindow::end_ns() const noexcept { return Load(shared_->end_ns); }

int64_t StepWindow::BeginOn(const ClockConversion& ticks) const noexcept {
  return TimeOn(ticks, begin_ns(), begin_ticks_);
}

int64_t StepWindow::EndOn(const ClockConversion& ticks) const noexcept {
  return TimeOn(ticks, end_ns(), end_ticks_);
}

bool StepWindow::OnStep(uint64_t number, int64_t now_ns, uint64_t ticks) noexcept {
  if (number > kLargestNumber) return false;
  const uint64_t next = number + 1;
  const bool begins = steps_.begin != 0 && next >= steps_.begin && begin_ns() == 0 &&
                      SetOnce(shared_->begin_ns, now_ns, begin_ticks_, ticks);
  const bool ends =
      next >= steps_.end && !over() && SetOnce(shared_->end_ns, now_ns, end_ticks_, ticks);
  return begins || ends;
}

}  // namespace gpubound
