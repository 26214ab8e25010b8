// SPDX-License-Identifier: Apache-2.0
//
// Encodes Perfetto's TracePacket. The numbers are those of its protos/perfetto/trace; the test
// decodes what is written here with the descriptors that Perfetto itself ships
// (tests/exports/perfetto_trace.py). One object, one thread.
#include "analysis/output/export/perfetto_packets.h"

#include <protozero/pbf_writer.hpp>

#include "analysis/base/utf8.h"

namespace gpubound {
namespace {

using protozero::pbf_writer;

// BuiltinClock.
constexpr uint32_t kRealtime = 1;
constexpr uint32_t kMonotonic = 3;

// One sequence of packets, and what its packets say of its state.
constexpr uint32_t kSequence = 1;
constexpr uint32_t kStateCleared = 1;
constexpr uint32_t kNeedsState = 2;

// TracePacket.
constexpr uint32_t kClockSnapshot = 6;
constexpr uint32_t kTimestamp = 8;
constexpr uint32_t kSequenceId = 10;
constexpr uint32_t kTrackEvent = 11;
constexpr uint32_t kInternedData = 12;
constexpr uint32_t kSequenceFlags = 13;
constexpr uint32_t kClockId = 58;
constexpr uint32_t kDefaults = 59;
constexpr uint32_t kTrackDescriptor = 60;

// TrackDescriptor.
constexpr uint32_t kUuid = 1;
constexpr uint32_t kTrackName = 2;
constexpr uint32_t kProcess = 3;
constexpr uint32_t kThread = 4;
constexpr uint32_t kParent = 5;
constexpr uint32_t kCounter = 8;

// TrackEvent, and its type.
constexpr uint32_t kCategories = 3;
constexpr uint32_t kDetails = 4;
constexpr uint32_t kType = 9;
constexpr uint32_t kName = 10;
constexpr uint32_t kTrack = 11;
constexpr uint32_t kDoubleValue = 44;
constexpr uint32_t kFlows = 47;
constexpr uint32_t kSliceBegin = 1;
constexpr uint32_t kSliceEnd = 2;
constexpr uint32_t kInstant = 3;
constexpr uint32_t kCounterValue = 4;

// InternedData.
constexpr uint32_t kInternedCategories = 1;
constexpr uint32_t kInternedNames = 2;
constexpr uint32_t kInternedDetailNames = 3;
constexpr uint32_t kInternedTexts = 29;

// ThreadDescriptor and ProcessDescriptor have 32 bits for ids.
int32_t Id(int64_t id) { return static_cast<int32_t>(id); }

uint64_t Raw(PerfettoTrack track) { return static_cast<uint64_t>(track); }

void AddText(pbf_writer* writer, uint32_t field, std::string_view text) {
  std::string scratch;
  const std::string_view valid = ValidUtf8(text, &scratch);
  writer->add_string(field, valid.data(), valid.size());
}

std::string EventBytes(uint32_t type, PerfettoTrack track) {
  std::string bytes;
  pbf_writer event(bytes);
  event.add_enum(kType, static_cast<int32_t>(type));
  event.add_uint64(kTrack, Raw(track));
  return bytes;
}

}  // namespace

uint64_t PerfettoPackets::Interned::NumberOf(std::string_view name) {
  const auto [entry, added] = numbers.try_emplace(std::string(name), numbers.size() + 1);
  if (added) fresh.emplace_back(entry->second, entry->first);
  return entry->second;
}

PerfettoPackets::PerfettoPackets(OutputFile* file, int64_t monotonic_ns, int64_t realtime_ns)
    : file_(*file) {
  std::string packet;
  pbf_writer writer(packet);
  {
    pbf_writer snapshot(writer, kClockSnapshot);
    for (const auto& [clock, time_ns] :
         {std::pair(kRealtime, realtime_ns), std::pair(kMonotonic, monotonic_ns)}) {
      pbf_writer reading(snapshot, 1);
      reading.add_uint32(1, clock);
      reading.add_uint64(2, static_cast<uint64_t>(time_ns));
    }
    snapshot.add_enum(2, kMonotonic);  // what times are shown in
  }
  writer.add_uint64(kTimestamp, static_cast<uint64_t>(monotonic_ns));
  writer.add_uint32(kSequenceFlags, kStateCleared);
  {
    pbf_writer defaults(writer, kDefaults);
    defaults.add_uint32(kClockId, kMonotonic);
  }
  WritePacket(packet);
}

PerfettoTrack PerfettoPackets::AddProcess(int64_t pid, std::string_view name,
                                          const std::vector<std::string>& command) {
  std::string bytes;
  pbf_writer process(bytes);
  process.add_int32(1, Id(pid));
  for (const std::string& word : command) AddText(&process, 2, word);
  AddText(&process, 6, name);
  return AddDescriptor(PerfettoTrack{}, "", kProcess, bytes);
}

PerfettoTrack PerfettoPackets::AddThread(PerfettoTrack process, int64_t pid, int64_t tid,
                                         std::string_view name) {
  std::string bytes;
  pbf_writer thread(bytes);
  thread.add_int32(1, Id(pid));
  thread.add_int32(2, Id(tid));
  AddText(&thread, 5, name);
  return AddDescriptor(process, "", kThread, bytes);
}

PerfettoTrack PerfettoPackets::AddTrack(PerfettoTrack parent, std::string_view name) {
  return AddDescriptor(parent, name, 0, "");
}

PerfettoTrack PerfettoPackets::AddCounter(PerfettoTrack parent, std::string_view name) {
  return AddDescriptor(parent, name, kCounter, "");
}

PerfettoTrack PerfettoPackets::AddDescriptor(PerfettoTrack parent, std::string_view name,
                                             uint32_t field, const std::string& detail) {
  const PerfettoTrack track{++tracks_};
  std::string packet;
  pbf_writer writer(packet);
  {
    pbf_writer descriptor(writer, kTrackDescriptor);
    descriptor.add_uint64(kUuid, Raw(track));
    if (!name.empty()) AddText(&descriptor, kTrackName, name);
    if (field != 0) descriptor.add_message(field, detail);
    if (Raw(parent) != 0) descriptor.add_uint64(kParent, Raw(parent));
  }
  WritePacket(packet);
  return track;
}

void PerfettoPackets::Begin(PerfettoTrack track, int64_t time_ns, std::string_view category,
                            std::string_view name, uint64_t flow,
                            const std::vector<PerfettoDetail>& details) {
  std::string bytes = EventBytes(kSliceBegin, track);
  pbf_writer event(bytes);
  event.add_uint64(kCategories, categories_.NumberOf(category));
  event.add_uint64(kName, names_.NumberOf(name));
  AddDetails(details, &bytes);
  if (flow != 0) event.add_fixed64(kFlows, flow);
  AddEvent(time_ns, bytes);
}

void PerfettoPackets::End(PerfettoTrack track, int64_t time_ns,
                          const std::vector<PerfettoDetail>& details) {
  std::string bytes = EventBytes(kSliceEnd, track);
  AddDetails(details, &bytes);
  AddEvent(time_ns, bytes);
}

void PerfettoPackets::AddDetails(const std::vector<PerfettoDetail>& details, std::string* event) {
  for (const PerfettoDetail& detail : details) {
    pbf_writer writer(*event);
    pbf_writer annotation(writer, kDetails);
    annotation.add_uint64(1, detail_names_.NumberOf(detail.name));
    if (detail.text.empty()) {
      annotation.add_uint64(3, detail.number);
    } else {
      annotation.add_uint64(17, detail_texts_.NumberOf(detail.text));
    }
  }
}

void PerfettoPackets::Instant(PerfettoTrack track, int64_t time_ns, std::string_view category,
                              std::string_view name) {
  std::string bytes = EventBytes(kInstant, track);
  pbf_writer event(bytes);
  event.add_uint64(kCategories, categories_.NumberOf(category));
  event.add_uint64(kName, names_.NumberOf(name));
  AddEvent(time_ns, bytes);
}

void PerfettoPackets::Value(PerfettoTrack track, int64_t time_ns, double value) {
  std::string bytes = EventBytes(kCounterValue, track);
  pbf_writer event(bytes);
  event.add_double(kDoubleValue, value);
  AddEvent(time_ns, bytes);
}

void PerfettoPackets::AddEvent(int64_t time_ns, const std::string& event) {
  std::string packet;
  pbf_writer writer(packet);
  writer.add_uint64(kTimestamp, static_cast<uint64_t>(time_ns + offset_ns_));
  writer.add_uint32(kSequenceFlags, kNeedsState);
  WriteInterned(&packet);
  pbf_writer(packet).add_message(kTrackEvent, event);
  WritePacket(packet);
}

void PerfettoPackets::WriteInterned(std::string* packet) {
  std::string bytes;
  pbf_writer interned(bytes);
  for (const auto& [field, names] :
       {std::pair(kInternedCategories, &categories_), std::pair(kInternedNames, &names_),
        std::pair(kInternedDetailNames, &detail_names_),
        std::pair(kInternedTexts, &detail_texts_)}) {
    for (const auto& [number, name] : names->fresh) {
      pbf_writer entry(interned, field);
      entry.add_uint64(1, number);
      AddText(&entry, 2, name);
    }
    names->fresh.clear();
  }
  if (!bytes.empty()) pbf_writer(*packet).add_message(kInternedData, bytes);
}

// Appends the sequence to |packet| and writes it as the next one of the trace.
void PerfettoPackets::WritePacket(const std::string& packet) {
  std::string bytes = packet;
  pbf_writer(bytes).add_uint32(kSequenceId, kSequence);
  std::string framed;
  pbf_writer(framed).add_message(1, bytes);
  file_.Write(framed);
}

}  // namespace gpubound
