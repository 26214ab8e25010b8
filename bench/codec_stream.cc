// SPDX-License-Identifier: Apache-2.0
//
// See codec_stream.h. Times in ns are drawn first, then stamped: scopes in ticks of a 2.3 GHz TSC,
// records in CLOCK_REALTIME.
#include "bench/codec_stream.h"

#include <algorithm>
#include <array>
#include <random>

#include "proto/live_format.h"

namespace gpubound {
namespace {

constexpr uint32_t kThreads = 4;
constexpr uint32_t kStreams = 2;
constexpr uint32_t kNames = 200;     // of scopes; and as many of kernels
constexpr uint32_t kFirstLabel = 2;  // 1 is "(other names)"
constexpr uint32_t kApiNames = 6;    // a loop calls few functions
constexpr uint64_t kTicksPer10Ns = 23;
constexpr uint64_t kFirstTick = 7'000'000'000'000;
constexpr uint64_t kRealtimeOffset = 1'763'000'000'000'000'000;
constexpr uint64_t kSampleEveryNs = 200'000'000;  // the flusher's period
constexpr size_t kApiPerPage = (kLivePageSize - kLivePageHeaderBytes) / sizeof(ApiRecord);
constexpr size_t kDevicePerPage = (kLivePageSize - kLivePageHeaderBytes) / sizeof(DeviceRecord);

uint64_t TicksAt(uint64_t ns) { return kFirstTick + ns * kTicksPer10Ns / 10; }

class Generator {
 public:
  explicit Generator(uint32_t seed) : engine_(seed) {}

  uint64_t Between(uint64_t low, uint64_t high) { return low + engine_() % (high - low + 1); }

 private:
  std::mt19937_64 engine_;
};

// Collects what comes in order of time into pages.
class Pages {
 public:
  explicit Pages(BenchStream* stream) : stream_(stream) {}

  void Scope(uint32_t thread, uint32_t label, uint64_t begin_ns, uint64_t end_ns) {
    BenchPage& page = threads_[thread];
    if (page.slots.size() + 2 > kSlotsPerPage) Submit(&page);
    if (page.slots.empty()) {
      page.family = EventFamily::kThread;
      page.thread = thread + 1;
      page.base_ticks = TicksAt(begin_ns);
    }
    const auto id = static_cast<LabelId>(label);
    page.slots.push_back(MakeSlot(SlotKind::kBegin, id, TicksAt(begin_ns) - page.base_ticks));
    page.slots.push_back(MakeSlot(SlotKind::kEnd, id, TicksAt(end_ns) - page.base_ticks));
    ++page.events;
  }
  void Api(const ApiRecord& record) {
    if (api_.api.size() == kApiPerPage) Submit(&api_);
    api_.family = EventFamily::kApi;
    api_.thread = kThreads + 1;
    api_.api.push_back(record);
    ++api_.events;
  }
  void Device(const DeviceRecord& record) {
    if (device_.device.size() == kDevicePerPage) Submit(&device_);
    device_.family = EventFamily::kDevice;
    device_.thread = kThreads + 1;
    device_.device.push_back(record);
    ++device_.events;
  }
  void Finish() {
    for (BenchPage& page : threads_) Submit(&page);
    Submit(&api_);
    Submit(&device_);
  }

 private:
  void Submit(BenchPage* page) {
    if (page->events == 0) return;
    stream_->events += page->events;
    stream_->pages.push_back(std::move(*page));
    *page = {};
  }

  BenchStream* stream_;
  std::array<BenchPage, kThreads> threads_{};
  BenchPage api_{};
  BenchPage device_{};
};

// Clock samples as the flusher takes them, with the jitter of a sample and a drift of 20 ppm.
void SetClocks(Generator* dice, uint64_t until_ns, BenchStream* stream) {
  std::vector<ClockKnot> ticks;
  std::vector<ClockKnot> source;
  const uint64_t every = std::max(kSampleEveryNs, until_ns / (ClockConversion::kMaxKnots - 2));
  for (uint64_t ns = 0; ns < until_ns + every; ns += every) {
    const auto monotonic = static_cast<int64_t>(ns + ns / 50'000 + dice->Between(0, 40));
    ticks.push_back({TicksAt(ns), monotonic});
    source.push_back({kRealtimeOffset + ns, monotonic});
  }
  stream->ticks_to_ns = ClockConversion(ticks);
  stream->source_to_ns = ClockConversion(source);
}

struct Launch {
  uint32_t thread;
  uint64_t scope_begin;
  uint64_t scope_end;
  uint64_t call_begin;
  uint64_t call_end;
  uint32_t label;
};

std::vector<Launch> DrawLaunches(Generator* dice, uint32_t scopes) {
  std::vector<Launch> launches;
  launches.reserve(scopes);
  std::array<uint64_t, kThreads> now{};
  for (uint32_t i = 0; i < scopes; ++i) {
    const uint32_t thread = i % kThreads;
    Launch launch{};
    launch.thread = thread;
    launch.scope_begin = now[thread] + dice->Between(2000, 20'000);
    launch.call_begin = launch.scope_begin + dice->Between(200, 2000);
    launch.call_end = launch.call_begin + dice->Between(2000, 8000);
    launch.scope_end = launch.call_end + dice->Between(200, 2000);
    launch.label = kFirstLabel + static_cast<uint32_t>(dice->Between(0, kNames - 1));
    now[thread] = launch.scope_end;
    launches.push_back(launch);
  }
  std::sort(launches.begin(), launches.end(),
            [](const Launch& a, const Launch& b) { return a.call_begin < b.call_begin; });
  return launches;
}

template <typename Record>
void SortByEnd(std::vector<Record>* records) {
  std::sort(records->begin(), records->end(),
            [](const Record& a, const Record& b) { return a.end_ns < b.end_ns; });
}

}  // namespace

BenchStream MakeBenchStream(uint32_t scopes, uint32_t seed) {
  Generator dice(seed);
  const std::vector<Launch> launches = DrawLaunches(&dice, scopes);
  std::vector<ApiRecord> calls;
  std::vector<DeviceRecord> kernels;
  std::array<uint64_t, kStreams> stream_free{};
  uint32_t correlation = 1000;
  for (const Launch& launch : launches) {
    correlation += 1;
    ApiRecord call{};
    call.start_ns = kRealtimeOffset + launch.call_begin;
    call.end_ns = kRealtimeOffset + launch.call_end;
    call.correlation = correlation;
    call.tid = 41'000 + 7 * launch.thread;
    call.label = static_cast<LabelId>(kFirstLabel + kNames +
                                      static_cast<uint32_t>(dice.Between(0, kApiNames - 1)));
    calls.push_back(call);
    const uint32_t stream = launch.thread % kStreams;
    DeviceRecord kernel{};
    kernel.start_ns = kRealtimeOffset + std::max(stream_free[stream] + dice.Between(600, 1500),
                                                 launch.call_end + dice.Between(500, 4000));
    kernel.end_ns = kernel.start_ns + dice.Between(2000, 50'000);
    stream_free[stream] = kernel.end_ns - kRealtimeOffset;
    kernel.correlation = correlation;
    kernel.stream = static_cast<StreamId>(1 + stream);
    kernel.work = static_cast<WorkId>(1 + dice.Between(0, kNames - 1));
    kernels.push_back(kernel);
  }
  SortByEnd(&calls);
  SortByEnd(&kernels);

  BenchStream stream;
  Pages pages(&stream);
  for (uint32_t i = 0; i < scopes; ++i) {
    const Launch& launch = launches[i];
    pages.Scope(launch.thread, launch.label, launch.scope_begin, launch.scope_end);
    pages.Api(calls[i]);
    pages.Device(kernels[i]);
  }
  pages.Finish();
  SetClocks(&dice, kernels.back().end_ns - kRealtimeOffset, &stream);
  return stream;
}

BenchStream MakeScopeStream(uint32_t scopes, uint32_t seed) {
  Generator dice(seed);
  BenchStream stream;
  Pages pages(&stream);
  uint64_t now = 0;
  for (uint32_t i = 0; i < scopes; ++i) {
    const uint64_t begin = now + dice.Between(20, 60);
    now = begin + dice.Between(20, 60);
    pages.Scope(0, kFirstLabel, begin, now);
  }
  pages.Finish();
  SetClocks(&dice, now, &stream);
  return stream;
}

}  // namespace gpubound
