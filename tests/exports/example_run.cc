// SPDX-License-Identifier: Apache-2.0
//
// Writes a run with everything that an export has to show:
// example_run FOLDER [damaged|long|iterating|asked|two_threads|odd_values|in_part]. Two processes,
// one of which was killed; names that are data; scopes that do not nest, ranges over threads,
// counters, phases, steps; calls inside calls; work that overlaps on its stream. A long one has
// more work than formats take at a time. An iterating one is to be compacted; of another like it,
// some iterations were asked for; those of one of two threads are ended by both. One of odd values
// has counters that are no number. One in part was to end before what it has last.
#include <sys/stat.h>

#include <bit>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "tests/analysis/trace_writer.h"

namespace gpubound::testing_support {
namespace {

constexpr LabelId kPhase{4};
constexpr LabelId kCounter{5};
constexpr LabelId kDriver{6};
constexpr LabelId kOdd{7};

Slot Odd(SlotKind kind, LabelId label, uint64_t time_ns) { return MakeSlot(kind, label, time_ns); }

void PutRows(SegmentWriter* writer) {
  writer->PutUsualRows();
  writer->Meta("end_monotonic_ns", 100'000);
  writer->Sql("INSERT INTO thread VALUES(2, 101, 'worker')");
  writer->Sql(
      "INSERT INTO label VALUES(4, 4, 0, '', 'update'), (5, 5, 0, '', 'reward'), "
      "(6, 6, 0, '', 'cuLaunchKernel')");
  // Quotes, a line break, markup, a backslash, a comma, bytes that are not UTF-8.
  writer->Sql(
      "INSERT INTO label VALUES(7, 1, 0, '', "
      "CAST(x'22273C623E2C0A5C80FF3B' AS TEXT))");
  writer->Sql("INSERT INTO work VALUES(2, 2, 1, 'Memcpy HtoD', 0,0,0,0,0,0,0,0,0)");
  writer->Sql("INSERT INTO utilization VALUES(500, 'GPU-1', 97, 3, 1000, -1, -1, -1)");
}

void PutThreads(SegmentWriter* writer) {
  writer->Scopes({.thread = 1},
                 {Odd(SlotKind::kPhase, kPhase, 10), Begin(kTrain, 100), Begin(kInner, 200),
                  End(kTrain, 300), End(kInner, 400), Begin(kOdd, 500),
                  Odd(SlotKind::kCounter, kCounter, 600), std::bit_cast<uint64_t>(1.5)});
  writer->Scopes({.thread = 1, .first_sequence = 8},
                 {Odd(SlotKind::kRangeStart, kInner, 650), 9, End(kOdd, 700),
                  Odd(SlotKind::kStep, kPhase, 800), 1, Odd(SlotKind::kStep, kPhase, 900), 2},
                 {7});
  writer->Scopes({.thread = 2}, {Begin(kInner, 150), Odd(SlotKind::kRangeEnd, kInner, 1200), 9,
                                 End(kInner, 1500), Odd(SlotKind::kMark, kPhase, 1600)});
}

void PutOddValues(SegmentWriter* writer) {
  std::vector<Slot> slots;
  const double infinite = std::numeric_limits<double>::infinity();
  for (const double value : {std::numeric_limits<double>::quiet_NaN(), infinite, -infinite, 2.5}) {
    slots.insert(slots.end(), {Odd(SlotKind::kCounter, kCounter, 1700 + slots.size()),
                               std::bit_cast<uint64_t>(value)});
  }
  writer->Scopes({.thread = 2, .first_sequence = 4}, slots);
}

void PutDeviceRecords(SegmentWriter* writer) {
  ApiRecord driver = Launch(1010, 1090, 1);
  driver.label = kDriver;
  writer->Calls({.thread = 9}, {Launch(1000, 1100, 1), driver, Launch(2000, 2100, 2, 101)});
  DeviceRecord copy = Kernel(2500, 2600, 7);
  copy.work = static_cast<WorkId>(2);
  copy.bytes = 4096;
  writer->Work({.thread = 9}, {Kernel(1200, 1800, 1), Kernel(1700, 1900, 2)});
  writer->Work({.thread = 9, .first_sequence = 2}, {copy, Kernel(3000, 3100, 2)});
}

void PutMuchWork(SegmentWriter* writer) {
  constexpr int64_t kChunks = 10;
  constexpr int64_t kOfChunk = 14'000;
  for (int64_t chunk = 0; chunk < kChunks; ++chunk) {
    std::vector<DeviceRecord> work;
    for (int64_t i = 0; i < kOfChunk; ++i) {
      const int64_t begin_ns = 5'000 + (chunk * kOfChunk + i) * 10;
      work.push_back(Kernel(begin_ns, begin_ns + 1 + i % 9, 0));
    }
    writer->Work({.thread = 9, .first_sequence = static_cast<uint64_t>(4 + chunk * kOfChunk)},
                 work);
  }
}

void Copy(const TemporaryRun& run, const std::string& folder) {
  for (const std::string& name : run.Names()) {
    std::ofstream(folder + "/" + name, std::ios::binary)
        << std::ifstream(run.File(name), std::ios::binary).rdbuf();
  }
}

// Ten iterations of 100 ms but for the fourth, which takes 500, a chunk each, within a scope that
// is open throughout, each in a phase of its own. A range begins in the slow one and ends behind
// it, and one behind it begins and ends far apart.
void PutIterations(SegmentWriter* writer) {
  constexpr uint64_t kMs = 1'000'000;
  constexpr int kSlow = 3;
  writer->PutUsualRows();
  writer->Meta("end_monotonic_ns", 1450 * kMs);
  writer->Sql("INSERT INTO label VALUES(4, 4, 0, '', 'update')");
  uint64_t at = 0;
  uint64_t sequence = 0;
  for (int i = 0; i < 10; ++i) {
    const uint64_t end = at + (i == kSlow ? 500 : 100) * kMs;
    std::vector<Slot> slots;
    if (i == 0) slots.push_back(Begin(kTrain, at));
    slots.push_back(Odd(SlotKind::kPhase, kPhase, at + kMs));
    slots.push_back(Begin(kInner, at + 10 * kMs));
    if (i == kSlow) {
      for (const uint64_t id : {7, 8}) {
        slots.insert(slots.end(), {Odd(SlotKind::kRangeStart, kInner, at + (13 + id) * kMs), id});
      }
    }
    if (i == kSlow + 2) {
      slots.insert(slots.end(), {Odd(SlotKind::kRangeEnd, kInner, at + 20 * kMs), 7});
    }
    if (i == 9) slots.insert(slots.end(), {Odd(SlotKind::kRangeEnd, kInner, at + 20 * kMs), 8});
    slots.push_back(End(kInner, end - 10 * kMs));
    slots.insert(slots.end(), {Odd(SlotKind::kStep, LabelId{0}, end), static_cast<uint64_t>(i)});
    const std::vector<uint32_t> open(i == 0 ? 0 : 1, 1);
    writer->Scopes({.thread = 1, .first_sequence = sequence}, slots, open);
    sequence += slots.size();
    const auto number = static_cast<uint32_t>(i);
    writer->Calls({.thread = 9, .first_sequence = number},
                  {Launch(at + 12 * kMs, at + 13 * kMs, number + 1)});
    writer->Work({.thread = 9, .first_sequence = number},
                 {Kernel(at + 14 * kMs, at + 40 * kMs, number + 1)});
    at = end;
  }
}

// Of the iterations above 4 to 6 were to be recorded; what surrounds them was still in memory.
void AskForSteps(SegmentWriter* writer) {
  writer->Meta("steps", "4:7");
  writer->Meta("steps_begin_ns", 800'000'000);
  writer->Meta("steps_end_ns", 1'100'000'000);
}

// A recording that ends as asked has events behind its end, and what is open there stays open.
void PutWhatFollowsTheEnd(SegmentWriter* writer) {
  writer->Sql("UPDATE meta SET value='steps' WHERE key='end_how'");
  writer->Sql("INSERT INTO thread VALUES(7, 107, 'late')");
  writer->Scopes({.thread = 7},
                 {Begin(kTrain, 101'000), End(kTrain, 102'000), Begin(kTrain, 103'000)});
}

// Of two threads one begins the first iteration, and both end some.
void PutIterationsOfTwoThreads(SegmentWriter* writer) {
  writer->PutUsualRows();
  writer->Sql("INSERT INTO thread VALUES(2, 101, 'worker')");
  writer->Scopes({.thread = 2},
                 {Begin(kInner, 100), End(kInner, 200), Odd(SlotKind::kStep, LabelId{0}, 350), 1});
  writer->Scopes({.thread = 1}, {Odd(SlotKind::kStep, LabelId{0}, 300), 0,
                                 Odd(SlotKind::kStep, LabelId{0}, 500), 2});
}

void Write(const std::string& folder, std::string_view kind) {
  mkdir(folder.c_str(), 0700);
  const TemporaryRun place;  // SegmentWriter writes there
  SegmentWriter writer(place, WriterIdentity{});
  if (kind == "iterating" || kind == "asked") {
    PutIterations(&writer);
    if (kind == "asked") AskForSteps(&writer);
    writer.Close();
    return Copy(place, folder);
  }
  if (kind == "two_threads") {
    PutIterationsOfTwoThreads(&writer);
    writer.Close();
    return Copy(place, folder);
  }
  PutRows(&writer);
  PutThreads(&writer);
  if (kind == "odd_values") PutOddValues(&writer);
  PutDeviceRecords(&writer);
  if (kind == "long") PutMuchWork(&writer);
  if (kind == "in_part") PutWhatFollowsTheEnd(&writer);
  if (kind == "damaged")
    writer.Sql("UPDATE chunk SET crc=crc+1 WHERE family=3 AND first_sequence=2");
  writer.Close();

  const WriterIdentity killed{"host", 200, 6};
  SegmentWriter second(place, killed);
  PutRows(&second);
  second.Sql("DELETE FROM meta WHERE key LIKE 'end%'");
  second.Scopes({.thread = 1}, {Begin(kTrain, 4000), End(kTrain, 4100)});
  second.Work({.thread = 9}, {Kernel(4200, 4300, 1)});
  second.Close();
  LiveWriter live(killed);
  live.AddScopes(1, 2, {Begin(kTrain, 5000), End(kTrain, 5200)});
  place.Write(LiveWriter::NameFor(killed), live.Bytes());
  Copy(place, folder);
}

}  // namespace
}  // namespace gpubound::testing_support

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: example_run FOLDER "
                 "[damaged|long|iterating|asked|two_threads|odd_values|in_part]\n";
    return 2;
  }
  gpubound::testing_support::Write(argv[1], argc > 2 ? argv[2] : "");
  return 0;
}
