// SPDX-License-Identifier: Apache-2.0
//
// Two time stamps in a callback of one call in sixteen, and a counter.
#include "cupti_hooks/cupti/entry_times.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>

#include "libprofiler/clock.h"
#include "proto/other_work.h"

namespace gpubound {
namespace {

constexpr uint32_t kFewestBetween = 8;  // calls until the next one is timed
constexpr uint32_t kSpread = 16;        // ... and up to so many more, at random
constexpr int kExactBits = 3;           // of a length, beside its power of two
constexpr double kCounted = 0.98;       // of the lengths: an interrupt, or loading, is none of them

uint64_t Ticks() noexcept { return ReadTsc(); }
uint64_t MonotonicNs() noexcept { return ReadMonotonicNs(); }

// The middle of a bucket, ticks.
double MiddleOf(int bucket) {
  constexpr int kExact = 1 << kExactBits;
  if (bucket < kExact) return bucket;
  return std::ldexp(kExact + bucket % kExact + 0.5, bucket / kExact - 1);
}

}  // namespace

// All begins as zero, as in libprofiler/current_thread.h.
struct EntryTimes::OfThread {
  uint32_t calls_between = 0;  // until one is timed; the one before it is stamped where it ends
  uint32_t random = 0;         // what differs from the seed
  uint32_t function = 0;
  bool is_timed = false;  // the call that the thread is in
  bool is_late = false;
  uint64_t begun = 0;
  uint64_t ended = 0;  // the call before; 0: not known

  uint32_t Random() noexcept {  // G. Marsaglia, Xorshift RNGs
    constexpr uint32_t kSeed = 2'463'534'242;
    uint32_t state = random ^ kSeed;
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    random = state ^ kSeed;
    return state;
  }
};

EntryTimes::OfThread& EntryTimes::ThisThread() noexcept {
  constinit static thread_local OfThread state;
  return state;
}

EntryTimes::EntryTimes() : EntryTimes(Clocks{&Ticks, &MonotonicNs}) {}

EntryTimes::EntryTimes(const Clocks& clocks)
    : clocks_(clocks),
      made_ticks_(clocks.ticks()),
      made_ns_(clocks.monotonic_ns()),
      histograms_(static_cast<Histogram*>(std::calloc(size_t{2} * kFunctions, sizeof(Histogram)))) {
  constexpr uint64_t kLookAtClocksNs = 20'000;
  while (clocks_.monotonic_ns() - made_ns_ < kLookAtClocksNs) {
  }
  other_work_ticks_ =
      static_cast<uint64_t>(static_cast<double>(kOtherWorkBeforeCallNs) * TicksPerNs());
}

int EntryTimes::BucketOf(uint64_t ticks) noexcept {
  constexpr uint64_t kExact = 1 << kExactBits;
  if (ticks < kExact) return static_cast<int>(ticks);
  const int power = std::bit_width(ticks) - 1 - kExactBits;
  const auto rest = static_cast<int>(ticks >> power & (kExact - 1));
  const int bucket = (power + 1) * static_cast<int>(kExact) + rest;
  return bucket < kBuckets ? bucket : kBuckets - 1;
}

void EntryTimes::OnRuntimeBegin(uint32_t function) noexcept {
  OfThread& thread = ThisThread();
  if (thread.calls_between != 0) return (void)--thread.calls_between;
  thread.begun = clocks_.ticks();
  thread.function = function;
  thread.is_timed = thread.ended != 0 && function < kFunctions && histograms_ != nullptr;
  thread.is_late = thread.begun - thread.ended >= other_work_ticks_;
  thread.calls_between = kFewestBetween - 1 + thread.Random() % kSpread;
}

void EntryTimes::OnDriverBegin() noexcept {
  OfThread& thread = ThisThread();
  if (!thread.is_timed) return;
  thread.is_timed = false;
  const int bucket = BucketOf(clocks_.ticks() - thread.begun);
  HistogramOf(thread.function, thread.is_late)[bucket].fetch_add(1, std::memory_order_relaxed);
  std::atomic<bool>& is_used = is_used_[thread.function];
  if (!is_used.load(std::memory_order_relaxed)) is_used.store(true, std::memory_order_relaxed);
  count_.fetch_add(1, std::memory_order_relaxed);
}

void EntryTimes::OnRuntimeEnd() noexcept {
  OfThread& thread = ThisThread();
  thread.is_timed = false;
  if (thread.calls_between == 0) thread.ended = clocks_.ticks();
}

double EntryTimes::TicksPerNs() const noexcept {
  const auto ticks = static_cast<double>(clocks_.ticks() - made_ticks_);
  const auto ns = static_cast<double>(clocks_.monotonic_ns() - made_ns_);
  return ticks > 0 && ns > 0 ? ticks / ns : 1;
}

EntryTimes::Histogram& EntryTimes::HistogramOf(uint32_t function, bool late) const {
  return histograms_[size_t{2} * function + (late ? 1 : 0)];
}

EntryTimes::Figures EntryTimes::FiguresOf(uint32_t function, bool late) const {
  const Histogram& histogram = HistogramOf(function, late);
  Figures figures;
  for (const auto& bucket : histogram) figures.timed += bucket.load(std::memory_order_relaxed);
  const double counted = std::max(1.0, kCounted * static_cast<double>(figures.timed));
  double seen = 0;
  double ticks = 0;
  for (int i = 0; i < kBuckets && seen < counted; ++i) {
    const double here = histogram[i].load(std::memory_order_relaxed);
    const double taken = std::min(here, counted - seen);
    ticks += taken * MiddleOf(i);
    seen += taken;
  }
  if (seen > 0) figures.mean_ticks = ticks / seen;
  return figures;
}

std::string EntryTimes::Text(const std::function<std::string_view(uint32_t)>& name_of) const {
  std::string text;
  if (histograms_ == nullptr || count() == 0) return text;
  const double ticks_per_ns = TicksPerNs();
  for (uint32_t function = 0; function < kFunctions; ++function) {
    if (!is_used_[function].load(std::memory_order_relaxed)) continue;
    const std::string_view name = name_of(function);
    if (name.empty()) continue;
    text += text.empty() ? "" : "\n";
    text += name;
    for (const bool late : {false, true}) {
      const Figures figures = FiguresOf(function, late);
      char words[64];
      std::snprintf(words, sizeof(words), " %llu %.1f",
                    static_cast<unsigned long long>(figures.timed),
                    figures.mean_ticks / ticks_per_ns);
      text += words;
    }
  }
  return text;
}

}  // namespace gpubound
