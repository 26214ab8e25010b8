// SPDX-License-Identifier: Apache-2.0
//
// The timeline of the report page: for every process its devices, streams and threads as tracks,
// each with a coarse level over the whole run (share_band.h) and single events where they are kept
// (event_keeper.h). One pass over the events of each process; memory and result are bounded by the
// limits, not by the length of the run. Pure.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_PAGE_PAGE_TIMELINE_H_
#define GPUBOUND_ANALYSIS_OUTPUT_PAGE_PAGE_TIMELINE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/output/page/counter_series.h"
#include "analysis/output/page/detail_window.h"
#include "analysis/output/page/event_keeper.h"
#include "analysis/output/page/iteration_series.h"
#include "analysis/output/page/share_band.h"
#include "analysis/report/report.h"

namespace gpubound {

// What a page may weigh. The defaults keep it below 5 MB (tests/page/large_page_test.mjs).
struct PageLimits {
  uint64_t band_bytes = 1'000'000;  // of all coarse levels, before base64
  uint32_t most_buckets = 16'384;
  uint32_t fewest_buckets = 256;
  uint32_t coarsest = 16;            // buckets in one, of tracks that are no devices
  uint64_t events = 200'000;         // a run with no more is kept whole
  uint64_t window_events = 3'000;    // aimed at in a detail window
  size_t iteration_points = 2'000;   // of one process
  size_t names = 4'000;              // the others are one name
  size_t unknown_intervals = 2'000;  // of one process; neighbours are joined
  size_t counters = 32;              // of one process
  size_t counter_points = 20'000;    // of the run; each counter has at least some
  size_t idle_marks = 10'000;        // of the run, the longest of each device
  size_t thinned_intervals = 2'000;  // likewise, of the run; of a thread its part of as many
};

enum class TrackKind : uint8_t { kDevice, kStream, kThread, kCalls };
const char* TrackKindName(TrackKind kind);

struct TimelineTrack {
  uint32_t process = 0;  // index into Report::processes
  TrackKind kind = TrackKind::kDevice;
  std::string title;
  uint32_t ordinal = 0;    // of the device
  uint32_t tid = 0;        // of a thread
  bool reporting = false;  // the main thread of its process
  ByteColumn band;
  uint64_t seen = 0;  // events that the run has here
  std::vector<KeptEvent> events;
  std::vector<Interval> thinned;  // of a thread: where its events were removed
};

// Why a device of a process was idle: its longest gaps, by begin.
struct IdleTrack {
  uint32_t process = 0;
  uint32_t ordinal = 0;
  struct Gap {
    Interval time;
    IdleCause cause = IdleCause::kUnknown;
  };
  std::vector<Gap> gaps;
};

// All times are of the run's timeline: 0 is where its first process begins.
struct PageTimeline {
  BucketGrid grid;
  int64_t span_ns = 0;
  bool whole = true;  // every event that the run has is here; else those in |windows|
  std::vector<DetailWindow> windows;  // disjoint, ascending
  std::vector<Interval> thinned;      // where a compaction removed events (thinned_time.h)
  std::vector<std::string> names;     // names[0] stands for all that have no room
  std::vector<uint32_t> comm_names;   // of collectives, as indices
  std::vector<uint32_t> copy_names;   // of copies and sets
  std::vector<uint32_t> wait_names;   // of scopes in which a thread waits
  std::vector<TimelineTrack> tracks;  // of each process: devices, streams, threads with their calls
  std::vector<CounterSeries> counters;                  // by process
  std::vector<IdleTrack> idle;                          // by process, then device
  std::vector<int64_t> offset_ns;                       // of each process's span
  std::vector<std::vector<IterationPoint>> iterations;  // by process
  std::vector<std::vector<Interval>> unknown;           // by process
};

// |report| is that of |run|.
PageTimeline BuildTimeline(const Run& run, const Report& report, const PageLimits& limits = {});

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_PAGE_PAGE_TIMELINE_H_
