// SPDX-License-Identifier: Apache-2.0
//
// Packets of a Perfetto trace, as bytes: one sequence of packets on which names are interned, so
// that a name is written once and then referred to. Memory grows with names and tracks, not with
// events. One object, one thread.
//
//   first packet   state cleared, default clock CLOCK_MONOTONIC, a snapshot of the clocks
//   descriptors    process -> thread -> track of its own; process -> device -> stream
//   events         slice begin, slice end, instant, counter value, each on a track
#ifndef GPUBOUND_ANALYSIS_OUTPUT_EXPORT_PERFETTO_PACKETS_H_
#define GPUBOUND_ANALYSIS_OUTPUT_EXPORT_PERFETTO_PACKETS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/output/export/output_file.h"

namespace gpubound {

// A track; 0 is none.
enum class PerfettoTrack : uint64_t {};

// A detail of a slice: a number or a text.
struct PerfettoDetail {
  const char* name;
  uint64_t number = 0;
  std::string_view text = {};  // not empty: instead of the number
};

class PerfettoPackets {
 public:
  // |monotonic_ns| and |realtime_ns| are of one instant.
  PerfettoPackets(OutputFile* file, int64_t monotonic_ns, int64_t realtime_ns);

  // What is added to the times of all that follows.
  void SetOffset(int64_t offset_ns) { offset_ns_ = offset_ns; }

  PerfettoTrack AddProcess(int64_t pid, std::string_view name,
                           const std::vector<std::string>& command);
  PerfettoTrack AddThread(PerfettoTrack process, int64_t pid, int64_t tid, std::string_view name);
  PerfettoTrack AddTrack(PerfettoTrack parent, std::string_view name);
  PerfettoTrack AddCounter(PerfettoTrack parent, std::string_view name);

  // |flow|: joins this slice with others of the same number; 0 is none.
  void Begin(PerfettoTrack track, int64_t time_ns, std::string_view category, std::string_view name,
             uint64_t flow = 0, const std::vector<PerfettoDetail>& details = {});
  void End(PerfettoTrack track, int64_t time_ns, const std::vector<PerfettoDetail>& details = {});
  void Instant(PerfettoTrack track, int64_t time_ns, std::string_view category,
               std::string_view name);
  void Value(PerfettoTrack track, int64_t time_ns, double value);

 private:
  // What one kind of name has been given numbers for; and those that the next packet introduces.
  struct Interned {
    std::unordered_map<std::string, uint64_t> numbers;
    std::vector<std::pair<uint64_t, std::string>> fresh;
    uint64_t NumberOf(std::string_view name);
  };
  PerfettoTrack AddDescriptor(PerfettoTrack parent, std::string_view name, uint32_t field,
                              const std::string& detail);
  void AddDetails(const std::vector<PerfettoDetail>& details, std::string* event);
  void AddEvent(int64_t time_ns, const std::string& event);
  void WriteInterned(std::string* packet);
  void WritePacket(const std::string& packet);

  OutputFile& file_;
  int64_t offset_ns_ = 0;
  uint64_t tracks_ = 0;
  Interned categories_;
  Interned names_;
  Interned detail_names_;
  Interned detail_texts_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_EXPORT_PERFETTO_PACKETS_H_
