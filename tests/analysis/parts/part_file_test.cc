// SPDX-License-Identifier: Apache-2.0
//
// Parts of runs as they lie on disk: made, merged, damaged, refused.
#include "analysis/parts/part_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "analysis/attribution/build_report.h"
#include "analysis/compact/compact.h"
#include "analysis/correction/run_report.h"
#include "analysis/parts/machine_part.h"
#include "analysis/parts/message_codec.h"
#include "analysis/parts/part_fields.h"
#include "analysis/parts/part_proto.h"
#include "analysis/parts/part_report.h"
#include "analysis/reader/reader.h"
#include "analysis/report/report_json.h"
#include "tests/analysis/trace_writer.h"

namespace gpubound {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using testing_support::Begin;
using testing_support::End;
using testing_support::Kernel;
using testing_support::kTrain;
using testing_support::Launch;
using testing_support::SegmentWriter;
using testing_support::TemporaryRun;

constexpr char kHere[] = "11111111-aaaa";
constexpr char kThere[] = "22222222-bbbb";

std::string Text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void WriteProcess(const TemporaryRun& run, const std::string& host, int64_t pid,
                  const std::string& boot_id, int64_t rank = -1, int64_t world_size = 0) {
  SegmentWriter writer(run, {host, pid, pid});
  writer.PutUsualRows();
  writer.Meta("boot_id", boot_id);
  if (rank >= 0) {
    writer.Meta("rank", rank);
    writer.Meta("world_size", world_size);
    writer.Meta("rank_variable", "RANK");
  }
  writer.Sql("update device set memory_bytes=80000, uuid='GPU-" + host + std::to_string(pid) + "'");
  writer.Sql(
      "insert into utilization(time_ns, uuid, memory_used_bytes) "
      "select 300, uuid, 12000 from device");
  writer.Scopes({.thread = 1}, {Begin(kTrain, 100), End(kTrain, 900)});
  writer.Calls({}, {Launch(200, 210, 1)});
  writer.Work({}, {Kernel(250, 650, 1)});
}

std::vector<StoredPart> Stored(const std::vector<MachinePart>& parts) {
  std::vector<StoredPart> stored;
  for (const MachinePart& part : parts) stored.push_back(StorePart(part));
  return stored;
}

class PartFileTest : public testing::Test {
 protected:
  // A part of what |run| has of |host|, in a file.
  std::string PartOfHost(const TemporaryRun& run, const std::string& host) {
    Result<std::vector<MachinePart>> parts = MakeParts(run.path(), host, {});
    EXPECT_TRUE(parts.ok()) << (parts.ok() ? "" : parts.error().ToString());
    if (!parts.ok()) return {};
    const std::string file = folder_.File(std::to_string(++files_) + kPartSuffix);
    EXPECT_TRUE(WriteParts(file, Stored(*parts)).ok());
    return file;
  }
  Report ReportOf(const std::string& path) {
    Result<Report> report = ReportOfRun(path);
    EXPECT_TRUE(report.ok()) << (report.ok() ? "" : report.error().ToString());
    return report.ok() ? std::move(*report) : Report();
  }
  Status Merge(const std::vector<std::string>& files, const std::string& into) {
    std::vector<StoredPart> all;
    for (const std::string& file : files) {
      Result<std::vector<StoredPart>> parts = ReadParts(file);
      if (!parts.ok()) return parts.error();
      all.insert(all.end(), parts->begin(), parts->end());
    }
    return WriteParts(into, MergeParts(std::move(all)));
  }

  TemporaryRun folder_;
  int files_ = 0;
};

TEST(PartProtoTest, TheFileSaysWhatIsWritten) {
  EXPECT_EQ(Text(GPUBOUND_PART_PROTO), PartProto())
      << "the fields have changed: write PartProto() into analysis/parts/part.proto";
}

TEST_F(PartFileTest, PartsOfAllMachinesGiveTheReportOfTheRun) {
  const TemporaryRun run;
  WriteProcess(run, "node0", 100, kHere, 0, 2);
  WriteProcess(run, "node1", 100, kThere, 1, 2);
  const std::string first = PartOfHost(run, "node0");
  const std::string second = PartOfHost(run, "node1");
  const std::string merged = folder_.File("all.part");
  ASSERT_TRUE(Merge({second, first}, merged).ok());
  ReportOptions options;
  options.replays = false;
  Report whole = *ReportOfRun(run.path(), options);
  Report parts = ReportOf(merged);
  EXPECT_THAT(parts.notes, Contains(HasSubstr("made from parts of 2 machines")));
  for (Report* report : {&whole, &parts}) {
    report->notes.clear();
    for (ReportProcess& process : report->processes) process.corrected_why_not.clear();
  }
  EXPECT_EQ(RenderJson(parts), RenderJson(whole));
  EXPECT_EQ(parts.devices.at(0).memory_peak_bytes, 12000);
  EXPECT_EQ(parts.devices[0].memory_bytes, 80000);
  EXPECT_THAT(whole.run.verdict, StartsWith("complete"));
  EXPECT_THAT(ReportOf(merged).notes, Contains(HasSubstr("need the events of all machines")));
  EXPECT_THAT(ReportOf(first).notes, Not(Contains(HasSubstr("need the events"))));
  // In any order, in any number of steps, and from the folder that they lie in.
  const std::string again = folder_.File("again.part");
  ASSERT_TRUE(Merge({first, merged, second, first}, again).ok());
  EXPECT_EQ(Text(again), Text(merged));
  EXPECT_EQ(ReportOf(folder_.path()).processes.size(), 2u);
}

TEST_F(PartFileTest, RanksOfMachinesThatAreNotThereAreMissed) {
  const TemporaryRun run;
  WriteProcess(run, "node0", 100, kHere, 0, 3);
  WriteProcess(run, "node1", 100, kThere, 1, 3);
  const Report one = ReportOf(PartOfHost(run, "node0"));
  EXPECT_THAT(one.run.verdict, StartsWith("incomplete: Ranks of a job"));
  EXPECT_THAT(one.notes, Contains(HasSubstr("2 are not here: 1, 2.")));
  const Report two = ReportOf(PartOfHost(run, ""));
  EXPECT_THAT(two.notes, Contains(HasSubstr("1 is not here: 2.")));
}

TEST_F(PartFileTest, MachinesOfOneNameAreToldApart) {
  const TemporaryRun here;
  const TemporaryRun there;
  WriteProcess(here, "localhost", 100, kHere);
  WriteProcess(there, "localhost", 101, kThere);
  const std::string merged = folder_.File("all.part");
  ASSERT_TRUE(Merge({PartOfHost(here, ""), PartOfHost(there, "")}, merged).ok());
  const Report report = ReportOf(merged);
  ASSERT_EQ(report.processes.size(), 2u);
  EXPECT_EQ(report.processes[0].host, "localhost");
  EXPECT_EQ(report.processes[1].host, "localhost#22222222");
  EXPECT_THAT(report.notes, Contains(HasSubstr("2 machines are called localhost.")));
}

TEST_F(PartFileTest, OneFolderMayHaveMachinesOfOneName) {
  const TemporaryRun run;
  WriteProcess(run, "localhost", 100, kHere);
  WriteProcess(run, "localhost", 101, kThere);
  Result<std::vector<MachinePart>> parts = MakeParts(run.path(), "", {});
  ASSERT_TRUE(parts.ok()) << parts.error().ToString();
  EXPECT_EQ((*parts).size(), 2u);
}

TEST_F(PartFileTest, ContainersOfOneMachineAreOnePart) {
  const TemporaryRun run;
  WriteProcess(run, "pod-a", 100, kHere);
  WriteProcess(run, "pod-b", 100, kHere);
  const Result<std::vector<MachinePart>> parts = MakeParts(run.path(), "", {});
  ASSERT_TRUE(parts.ok()) << parts.error().ToString();
  ASSERT_EQ((*parts).size(), 1u);
  EXPECT_EQ((*parts)[0].processes.size(), 2u);
}

TEST_F(PartFileTest, ContainersWithFoldersOfTheirOwnAreAllKept) {
  const TemporaryRun one;
  const TemporaryRun other;
  WriteProcess(one, "pod-a", 100, kHere);
  WriteProcess(other, "pod-b", 101, kHere);
  const std::string merged = folder_.File("all.part");
  ASSERT_TRUE(Merge({PartOfHost(one, ""), PartOfHost(other, "")}, merged).ok());
  const Report report = ReportOf(merged);
  EXPECT_EQ(report.processes.size(), 2u);
  EXPECT_EQ(report.devices.size(), 2u);
  EXPECT_THAT(report.run.verdict, StartsWith("complete"));
}

TEST_F(PartFileTest, APartThatIsMadeAgainTakesThePlaceOfTheFirst) {
  const TemporaryRun run;
  WriteProcess(run, "node0", 100, kHere);
  const std::string early = PartOfHost(run, "");
  WriteProcess(run, "node0", 101, kHere);
  const std::string merged = folder_.File("all.part");
  ASSERT_TRUE(Merge({PartOfHost(run, ""), early}, merged).ok());
  EXPECT_EQ(ReportOf(merged).processes.size(), 2u);
}

TEST_F(PartFileTest, OfAMachineThatIsThereTwiceTheLaterPartCounts) {
  StoredPart early{"machine", 10, 3, "abc"};
  StoredPart late{"machine", 20, 3, "abd"};
  const std::vector<StoredPart> merged = MergeParts({late, early, late});
  ASSERT_EQ(merged.size(), 1u);
  EXPECT_EQ(merged[0].made_realtime_ns, 20);
}

TEST_F(PartFileTest, PartsThatDoNotGoTogetherAreRefused) {
  const TemporaryRun run;
  WriteProcess(run, "node0", 100, kHere);
  Result<std::vector<MachinePart>> parts = MakeParts(run.path(), "", {});
  ASSERT_TRUE(parts.ok());
  MachinePart other = (*parts)[0];
  other.host = "node1";
  other.boot_id = kThere;
  other.processes[0].facts.identity.host = "node1";
  const Result<CombinedRun> shared = CombineParts({(*parts)[0], other});
  ASSERT_FALSE(shared.ok());
  EXPECT_THAT(shared.error().ToString(), HasSubstr("in the parts of node0 and node1"));
  for (DeviceUsage& device : other.machine.devices) device.uuid = "GPU-other";
  EXPECT_TRUE(CombineParts({(*parts)[0], other}).ok());
  other.operations = {"all"};
  const Result<CombinedRun> differ = CombineParts({(*parts)[0], other});
  ASSERT_FALSE(differ.ok());
  EXPECT_THAT(differ.error().ToString(), HasSubstr("--operations all for node1"));
}

TEST_F(PartFileTest, ARunThatWasCompactedAndAHostThatIsNotThereAreRefused) {
  const TemporaryRun run;
  WriteProcess(run, "node0", 100, kHere);
  const Result<std::vector<MachinePart>> absent = MakeParts(run.path(), "node7", {});
  ASSERT_FALSE(absent.ok());
  EXPECT_THAT(absent.error().ToString(), HasSubstr("files of node0"));
  std::ofstream(run.File("sums.gpubound")) << "no sums";
  EXPECT_FALSE(MakeParts(run.path(), "", {}).ok());
}

TEST_F(PartFileTest, NoDamageIsTakenForAPart) {
  const TemporaryRun run;
  WriteProcess(run, "node0", 100, kHere);
  const std::string file = PartOfHost(run, "");
  const std::string sound = Text(file);
  const std::string report = RenderJson(ReportOf(file));
  const std::string damaged = folder_.File("damaged");
  for (size_t at = 0; at < sound.size(); at += 1 + sound.size() / 400) {
    std::string text = sound;
    text[at] = static_cast<char>(text[at] ^ 0x20);
    std::ofstream(damaged, std::ios::binary) << text;
    const Result<PartsReport> flipped = ReportOfParts(damaged, {});
    // The key and the time are not covered: they say which of several parts counts.
    EXPECT_TRUE(!flipped.ok() || RenderJson((*flipped).report) == report) << at;
    std::ofstream(damaged, std::ios::binary) << sound.substr(0, at);
    EXPECT_FALSE(ReportOfParts(damaged, {}).ok() && at > 12) << at;
  }
}

// What has the right checksum may still be anything.
TEST_F(PartFileTest, NoBytesOfAMessageLeadAstray) {
  const TemporaryRun run;
  WriteProcess(run, "node0", 100, kHere);
  Result<std::vector<MachinePart>> parts = MakeParts(run.path(), "", {});
  ASSERT_TRUE(parts.ok());
  const std::string sound = EncodeMessage((*parts)[0]);
  std::mt19937_64 random(1);
  int decoded = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string bytes = sound;
    for (int flips = 1 + static_cast<int>(random() % 3); flips > 0; --flips) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    MachinePart part;
    try {
      DecodeMessage(bytes, &part);
      ++decoded;
    } catch (const std::exception&) {
    }
  }
  EXPECT_GT(decoded, 0);
}

// Field 1 of a note is a number, field 2 a text.
TEST(MessageCodecTest, AFieldOfAnotherTypeIsNoMessage) {
  Note note{7, "text"};
  Note read;
  DecodeMessage(EncodeMessage(note), &read);
  EXPECT_EQ(read.text, "text");
  EXPECT_THROW(DecodeMessage(std::string_view("\x0a\x01x", 3), &read), MessageError);
  EXPECT_THROW(DecodeMessage(std::string_view("\x10\x01", 2), &read), MessageError);
}

TEST_F(PartFileTest, OtherFilesAndVersionsAreNamed) {
  const std::string other = folder_.Write("other", "something else");
  const Result<std::vector<StoredPart>> parts = ReadParts(other);
  ASSERT_FALSE(parts.ok());
  EXPECT_THAT(parts.error().ToString(), HasSubstr("a file made by gpubound part"));
  EXPECT_FALSE(HoldsParts(other));
  std::string text = "GPBDPART";
  text += std::string("\x09\0\0\0", 4);
  const std::string newer = folder_.Write("newer", text);
  EXPECT_TRUE(HoldsParts(newer));
  const Result<std::vector<StoredPart>> unknown = ReadParts(newer);
  ASSERT_FALSE(unknown.ok());
  EXPECT_THAT(unknown.error().ToString(), HasSubstr("format version 9"));
  EXPECT_THAT(ReadParts(folder_.File("nothing")).error().ToString(), HasSubstr("No such file"));
}

}  // namespace
}  // namespace gpubound
