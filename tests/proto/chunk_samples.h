// SPDX-License-Identifier: Apache-2.0
//
// Batches of slots and records for the codec's tests, and what a decoder has to make of them. The
// expected events are computed here by the letter of the format's rules, without the codec.
#ifndef GPUBOUND_TESTS_PROTO_CHUNK_SAMPLES_H_
#define GPUBOUND_TESTS_PROTO_CHUNK_SAMPLES_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <ostream>
#include <random>
#include <vector>

#include "proto/chunk_decoder.h"
#include "proto/chunk_encoder.h"
#include "proto/live_format.h"

namespace gpubound {

// One event of a thread, for comparison and for messages.
struct EventRow {
  int64_t time_ns;
  SlotKind kind;
  uint32_t label;
  uint64_t payload;
  friend bool operator==(const EventRow&, const EventRow&) = default;
};
inline void PrintTo(const EventRow& e, std::ostream* out) {
  *out << "{" << e.time_ns << " ns, kind " << static_cast<int>(e.kind) << ", label " << e.label
       << ", payload " << e.payload << "}";
}
inline std::vector<EventRow> RowsOf(const ThreadEvents& events) {
  std::vector<EventRow> rows;
  for (const ThreadEvent& event : events.events) {
    rows.push_back({event.time_ns, event.kind, Raw(event.label), event.payload});
  }
  return rows;
}

// Builds the slots of a page as a thread would write them, stamped in ticks since the page's base.
class SlotWriter {
 public:
  SlotWriter& Begin(uint32_t label, uint64_t ticks) { return Put(SlotKind::kBegin, label, ticks); }
  SlotWriter& End(uint32_t label, uint64_t ticks) { return Put(SlotKind::kEnd, label, ticks); }
  SlotWriter& Put(SlotKind kind, uint32_t label, uint64_t ticks, uint64_t payload = 0) {
    slots_.push_back(MakeSlot(kind, static_cast<LabelId>(label), ticks));
    if (HasPayload(kind)) slots_.push_back(payload);
    return *this;
  }
  SlotWriter& Raw64(Slot slot) {
    slots_.push_back(slot);
    return *this;
  }
  const std::vector<Slot>& slots() const { return slots_; }

 private:
  std::vector<Slot> slots_;
};

// What the slots mean, converted tick by tick; time that runs backwards stays where it was.
inline std::vector<EventRow> EventsOf(const std::vector<Slot>& slots, uint64_t base_ticks,
                                      const ClockConversion& conversion) {
  std::vector<EventRow> events;
  for (size_t i = 0; i < slots.size(); ++i) {
    int64_t ns = conversion.ToMonotonic(base_ticks + TicksOf(slots[i]));
    if (!events.empty()) ns = std::max(ns, events.back().time_ns);
    const SlotKind kind = KindOf(slots[i]);
    const uint32_t label = Raw(LabelOf(slots[i]));
    const uint64_t payload = HasPayload(kind) ? slots[++i] : 0;
    events.push_back({ns, kind, label, payload});
  }
  return events;
}

// A seeded source of everything that a random test needs.
class Dice {
 public:
  explicit Dice(uint32_t seed) : engine_(seed) {}
  uint64_t Below(uint64_t limit) { return engine_() % limit; }
  bool OneIn(uint64_t n) { return Below(n) == 0; }
  // Any magnitude is as likely as any other.
  uint64_t AnyMagnitude(int max_bits = 64) {
    const uint64_t bits = Below(static_cast<uint64_t>(max_bits) + 1);
    return bits == 0 ? 0 : engine_() >> (64 - bits);
  }

 private:
  std::mt19937_64 engine_;
};

// Slots of a random life of a thread: mostly nested scopes, with every other kind among them, ends
// out of order, stamps that run backwards, and more open scopes than a page can name.
inline std::vector<Slot> RandomSlots(Dice* dice, size_t events) {
  SlotWriter writer;
  std::vector<uint32_t> open;
  uint64_t ticks = 0;
  for (size_t i = 0; i < events; ++i) {
    ticks += dice->OneIn(40) ? dice->AnyMagnitude(30) : dice->Below(20000);
    const uint64_t stamp = dice->OneIn(30) ? ticks - std::min(ticks, dice->Below(3000)) : ticks;
    if (dice->OneIn(12)) {
      const auto kind = static_cast<SlotKind>(3 + dice->Below(11));
      writer.Put(kind, static_cast<uint32_t>(dice->Below(kMaxLabels)), stamp, dice->AnyMagnitude());
    } else if (open.empty() || !dice->OneIn(2)) {
      const auto label = static_cast<uint32_t>(dice->AnyMagnitude(kSlotLabelBits));
      open.push_back(label);
      writer.Begin(label, stamp);
    } else {
      const size_t at = dice->OneIn(15) ? dice->Below(open.size()) : open.size() - 1;
      writer.End(open[at], stamp);
      open.erase(open.begin() + static_cast<ptrdiff_t>(at));
    }
  }
  return writer.slots();
}

inline ClockConversion TscConversion() {
  const ClockKnot knots[] = {{1'000'000, 500'000'000},
                             {3'000'000, 500'700'000},
                             {60'000'000, 521'000'000},
                             {400'000'000, 640'500'000}};
  return ClockConversion(knots);
}

// ---- Records. A record's times are compared after conversion.

template <typename Record>
Record At(uint64_t start_ns, uint64_t end_ns) {
  Record record{};
  record.start_ns = start_ns;
  record.end_ns = end_ns;
  return record;
}

inline ApiRecord RandomApi(Dice* dice, const ApiRecord& previous) {
  const uint64_t start = previous.start_ns + dice->Below(20000) - dice->Below(2000);
  return {.start_ns = start,
          .end_ns = dice->OneIn(50) ? start - dice->Below(100) : start + dice->AnyMagnitude(24),
          .correlation = previous.correlation + static_cast<uint32_t>(dice->Below(9)) - 3,
          .tid = static_cast<uint32_t>(dice->OneIn(100) ? dice->AnyMagnitude(32)
                                                        : 40000 + dice->Below(4)),
          .label = static_cast<LabelId>(dice->AnyMagnitude(8)),
          .result = dice->OneIn(20) ? static_cast<int32_t>(dice->AnyMagnitude(32)) : 0};
}

inline DeviceRecord RandomDevice(Dice* dice, const DeviceRecord& previous) {
  const uint64_t start = previous.start_ns + dice->Below(20000) - dice->Below(2000);
  const bool detail = dice->OneIn(4);
  return {
      .start_ns = start,
      .end_ns = dice->OneIn(50) ? start - dice->Below(100) : start + dice->AnyMagnitude(24),
      .bytes = detail ? dice->AnyMagnitude() : 0,
      .graph_node = detail ? dice->AnyMagnitude() : 0,
      .correlation = previous.correlation + static_cast<uint32_t>(dice->Below(9)),
      .stream = static_cast<StreamId>(dice->OneIn(30) ? dice->AnyMagnitude(32) : dice->Below(3)),
      .work = static_cast<WorkId>(dice->AnyMagnitude(32)),
      .graph = static_cast<uint32_t>(detail ? dice->AnyMagnitude(32) : 0)};
}

inline SyncRecord RandomSync(Dice* dice, const SyncRecord& previous) {
  const uint64_t start = previous.start_ns + dice->Below(20000);
  return {.start_ns = start,
          .end_ns = start + dice->AnyMagnitude(24),
          .event = dice->AnyMagnitude(),
          .correlation = previous.correlation + static_cast<uint32_t>(dice->Below(9)),
          .type = static_cast<uint32_t>(dice->Below(5)),
          .context = static_cast<uint32_t>(dice->AnyMagnitude(32)),
          .stream = static_cast<uint32_t>(dice->AnyMagnitude(32))};
}

inline OverheadRecord RandomOverhead(Dice* dice, const OverheadRecord& previous) {
  const uint64_t start = previous.start_ns + dice->Below(20000);
  return {.start_ns = start,
          .end_ns = start + dice->AnyMagnitude(24),
          .correlation = static_cast<uint32_t>(dice->AnyMagnitude(32)),
          .tid = static_cast<uint32_t>(dice->AnyMagnitude(32)),
          .label = static_cast<LabelId>(dice->AnyMagnitude(kSlotLabelBits)),
          .reserved = 0};
}

inline CpuTimeRecord RandomCpuTime(Dice* dice, const CpuTimeRecord& previous) {
  const uint64_t start = previous.start_ns + dice->Below(20000);
  return {.start_ns = start,
          .end_ns = start + dice->AnyMagnitude(24),
          .on_cpu_ns = dice->AnyMagnitude(),
          .ready_ns = dice->Below(4) == 0 ? kReadyNotKnown : dice->AnyMagnitude(),
          .correlation = 0,
          .tid = static_cast<uint32_t>(dice->AnyMagnitude(32))};
}

inline StackRecord RandomStack(Dice* dice, const StackRecord& previous) {
  const uint64_t start = previous.start_ns + dice->Below(20000);
  return {.start_ns = start,
          .end_ns = start + dice->AnyMagnitude(24),
          .correlation = 0,
          .tid = static_cast<uint32_t>(dice->AnyMagnitude(32)),
          .frame = static_cast<FrameId>(dice->AnyMagnitude(32)),
          .looks = static_cast<uint32_t>(dice->AnyMagnitude(32)),
          .runnable = static_cast<uint32_t>(dice->AnyMagnitude(32)),
          .reserved = 0};
}

template <typename Record, typename Make>
std::vector<Record> RandomRecords(Dice* dice, size_t count, Make make) {
  std::vector<Record> records;
  Record previous{};
  previous.start_ns = 1'700'000'000'000'000'000;
  previous.correlation = UINT32_MAX - 100;  // so that it wraps on the way
  for (size_t i = 0; i < count; ++i) {
    previous = make(dice, previous);
    records.push_back(previous);
  }
  return records;
}

template <typename Record>
void ExpectTimes(const Record& record, const ClockConversion& conversion, int64_t start_ns,
                 int64_t end_ns) {
  EXPECT_EQ(start_ns, conversion.ToMonotonic(record.start_ns));
  EXPECT_EQ(end_ns, conversion.ToMonotonic(std::max(record.start_ns, record.end_ns)));
}

inline void ExpectEvent(const ApiEvents& events, size_t i, const ApiRecord& record) {
  EXPECT_EQ(events.correlation[i], record.correlation);
  EXPECT_EQ(events.tid[i], record.tid);
  EXPECT_EQ(events.label[i], record.label);
  EXPECT_EQ(events.result[i], record.result);
}
inline void ExpectEvent(const DeviceEvents& events, size_t i, const DeviceRecord& record) {
  EXPECT_EQ(events.correlation[i], record.correlation);
  EXPECT_EQ(events.stream[i], record.stream);
  EXPECT_EQ(events.work[i], record.work);
  EXPECT_EQ(events.DetailOf(i).bytes, record.bytes);
  EXPECT_EQ(events.DetailOf(i).graph, record.graph);
  EXPECT_EQ(events.DetailOf(i).graph_node, record.graph_node);
}
inline void ExpectEvent(const SyncEvents& events, size_t i, const SyncRecord& record) {
  EXPECT_EQ(events.correlation[i], record.correlation);
  EXPECT_EQ(events.type[i], record.type);
  EXPECT_EQ(events.context[i], record.context);
  EXPECT_EQ(events.stream[i], record.stream);
  EXPECT_EQ(events.event[i], record.event);
}
inline void ExpectEvent(const OverheadEvents& events, size_t i, const OverheadRecord& record) {
  EXPECT_EQ(events.correlation[i], record.correlation);
  EXPECT_EQ(events.tid[i], record.tid);
  EXPECT_EQ(events.label[i], record.label);
}
inline void ExpectEvent(const CpuTimeEvents& events, size_t i, const CpuTimeRecord& record) {
  EXPECT_EQ(events.correlation[i], record.correlation);
  EXPECT_EQ(events.tid[i], record.tid);
  EXPECT_EQ(events.on_cpu_ns[i], record.on_cpu_ns);
  EXPECT_EQ(events.ready_ns[i], record.ready_ns);
}
inline void ExpectEvent(const StackEvents& events, size_t i, const StackRecord& record) {
  EXPECT_EQ(events.correlation[i], record.correlation);
  EXPECT_EQ(events.tid[i], record.tid);
  EXPECT_EQ(events.frame[i], record.frame);
  EXPECT_EQ(events.looks[i], record.looks);
  EXPECT_EQ(events.runnable[i], record.runnable);
}

template <typename Events, typename Record>
void ExpectSame(const Events& events, const std::vector<Record>& records,
                const ClockConversion& conversion) {
  ASSERT_EQ(events.size(), records.size());
  for (size_t i = 0; i < records.size(); ++i) {
    SCOPED_TRACE(testing::Message() << "record " << i);
    ExpectTimes(records[i], conversion, events.start_ns[i], events.end_ns[i]);
    ExpectEvent(events, i, records[i]);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace gpubound

#endif  // GPUBOUND_TESTS_PROTO_CHUNK_SAMPLES_H_
