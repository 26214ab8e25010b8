// SPDX-License-Identifier: Apache-2.0
//
// Which places in a folder are a run's own.
#include "analysis/output/export/run_file_name.h"

#include <gtest/gtest.h>

#include "analysis/output/export/output_file.h"
#include "analysis/segments/run_info.h"
#include "tests/analysis/trace_writer.h"

namespace gpubound {
namespace {

using namespace testing_support;

constexpr char kLauncherRecord[] = R"({"format": "gpubound.run.v1"})";

TEST(RunFileName, TracesAndWhatLiesBesideThemAreTheRuns) {
  const TemporaryRun run;
  SegmentWriter writer(run, WriterIdentity{});
  for (const char* name : {"host.100.5.0.db", "host.100.5.0.db-wal", "host.100.5.0.db-shm",
                           "host.100.5.1.db", "host.100.5.live", "host.100.5.later", "run.json",
                           "sums.gpubound", "sums.gpubound.new", "calibration.json"}) {
    EXPECT_TRUE(IsPlaceOfRun(run.File(name))) << name;
  }
}

TEST(RunFileName, AnyOtherNameIsFree) {
  const TemporaryRun run;
  SegmentWriter writer(run, WriterIdentity{});
  for (const char* name : {"train.db", "train.prom", "run.json.gz", "host.100.db", "x.later"}) {
    EXPECT_FALSE(IsPlaceOfRun(run.File(name))) << name;
  }
}

TEST(RunFileName, ARunOfNoProcessHasItsLaunchersRecord) {
  const TemporaryRun run;
  run.Write("run.json", kLauncherRecord);
  EXPECT_TRUE(IsPlaceOfRun(run.File("run.json")));
}

TEST(RunFileName, WhereNoRunIsNothingIsTheRuns) {
  const TemporaryRun folder;
  folder.Write("run.json", "{\"traceEvents\": []}");
  EXPECT_FALSE(IsPlaceOfRun(folder.File("run.json")));
  EXPECT_FALSE(IsPlaceOfRun(folder.File("host.100.5.0.db")));
  EXPECT_FALSE(IsPlaceOfRun("run.json"));
}

TEST(RunFileName, AnOutputTakesNoPlaceOfTheRun) {
  const TemporaryRun run;
  run.Write("run.json", kLauncherRecord);
  for (const char* name : {"run.json", "host.1.2.0.db"}) {
    const auto file = OutputFile::Create(run.File(name), /*replace=*/true);
    ASSERT_FALSE(file.ok()) << name;
    EXPECT_EQ(file.error().expected, kNothingThere);
  }
  EXPECT_TRUE(ReadRunInfo(run.File("run.json")).ok());
  EXPECT_TRUE(OutputFile::Create(run.File("train.prom"), /*replace=*/true).ok());
}

TEST(FolderName, IsWhatReadersOfPartitionsDecode) {
  EXPECT_EQ(FolderName("node-07.rack_3"), "node-07.rack_3");
  EXPECT_EQ(FolderName("a/b=c %\xc3\xa4"), "a%2Fb%3Dc%20%25%C3%A4");
}

}  // namespace
}  // namespace gpubound
