// SPDX-License-Identifier: Apache-2.0
//
// Disks that are full or read-only. They are real: small tmpfs mounts in a mount namespace of the
// test's own, which takes root, or a kernel that gives a user namespace to everybody. Where neither
// is to be had these tests fail rather than pass unseen; leave them out by their label, `mount`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/integration/command_run.h"

namespace gpubound {
namespace {

using testing::HasSubstr;
using testing::Not;

class MountedFolder : public CommandRun {
 protected:
  MountedFolder() { std::filesystem::create_directory(File("disk")); }

  // Runs |script| in a mount namespace in which $DISK has been mounted with |options|.
  Outcome WithDisk(const std::string& options, const std::string& script) {
    runner().Set("DISK", File("disk"));
    runner().Set("GPUBOUND", GPUBOUND_TEST_COMMAND);
    runner().Set("VICTIM", GPUBOUND_TEST_VICTIM);
    const std::string all =
        "mount -t tmpfs -o " + options + " none \"$DISK\" || exit 99\n" + script;
    std::vector<std::string> command = {"unshare", "--mount"};
    if (geteuid() != 0) command = {"unshare", "--mount", "--map-root-user"};
    command.insert(command.end(), {"/bin/sh", "-c", all});
    Outcome outcome = runner().Run(command);
    EXPECT_NE(outcome.exit_code, 99) << "Nothing can be mounted here. Run as root, or leave the "
                                        "tests with the label `mount` out.\n"
                                     << outcome.err;
    return outcome;
  }

  // Of |outcome|, which printed a report as JSON.
  static void ExpectVerdict(const Outcome& outcome, const std::string& begin) {
    const Json report = Json::parse(outcome.out, nullptr, /*allow_exceptions=*/false);
    ExpectExactPartition(report);
    EXPECT_THAT(report["run"]["verdict"].dump(), HasSubstr(begin)) << outcome.Describe();
  }
};

TEST_F(MountedFolder, AReadOnlyFolderIsNamedBeforeTheProgramStarts) {
  const Outcome outcome = WithDisk("size=1m,ro", "\"$GPUBOUND\" run -o \"$DISK/x\" -- echo ran");
  EXPECT_EQ(outcome.exit_code, 125) << outcome.Describe();
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("Read-only file system"));
}

TEST_F(MountedFolder, AFullDiskStopsTheRecordingAndNotTheProgram) {
  const Outcome outcome =
      WithDisk("size=64k", "\"$GPUBOUND\" run -o \"$DISK/x\" -- \"$VICTIM\" train 50");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.Describe();
  EXPECT_EQ(outcome.out, "trained 50\n");
  EXPECT_THAT(outcome.err, HasSubstr("gpubound: "));
}

// The database of a process takes more than that before its first row.
TEST_F(MountedFolder, ADiskTooSmallForATraceIsNamedOnceAndTheEndIsKept) {
  for (const char* size : {"64k", "100k"}) {
    const Outcome outcome =
        WithDisk(std::string("size=") + size,
                 "\"$GPUBOUND\" run -q -o \"$DISK/x\" -- \"$VICTIM\" train 50 > /dev/null\n"
                 "\"$GPUBOUND\" report \"$DISK/x\" --json > report\n"
                 "cp \"$DISK/x/run.json\" .");
    EXPECT_THAT(outcome.err, Not(HasSubstr("run.json"))) << outcome.Describe();
    const Json report = Json::parse(ReadText(File("report")), nullptr, false);
    EXPECT_THAT(report["run"]["verdict"].dump(), HasSubstr("incomplete: Transactions that could"));
    ASSERT_EQ(report["notes"].size(), 1u) << report["notes"];
    EXPECT_THAT(report["notes"][0].dump(), HasSubstr("the disk was full"));
    const Json record = Json::parse(ReadText(File("run.json")), nullptr, false);
    EXPECT_TRUE(record.contains("end_monotonic_ns")) << record;
    EXPECT_EQ(record["exit_code"], 0) << record;
  }
}

TEST_F(MountedFolder, WhatAFullDiskLosesIsCountedOnce) {
  constexpr uint64_t kOperations = 3'000'000;
  WithDisk("size=20m", "\"$GPUBOUND\" run -q -o \"$DISK/x\" -- \"$VICTIM\" annotate " +
                           std::to_string(kOperations) +
                           " > /dev/null 2>&1\n"
                           "cp -r \"$DISK/x\" x.gpubound");
  gpubound::Run run = Load();
  ASSERT_EQ(run.processes.size(), 1u);
  ProcessTrace& process = run.processes[0];
  EXPECT_EQ(process.Counted(LedgerCounter::sink_write_errors), 1u);
  uint64_t read = 0;
  for (const ThreadTrace& thread : process.threads) read += thread.events.size();
  EXPECT_EQ(read + process.Counted(LedgerCounter::scope_events_dropped), 2 * kOperations);
  EXPECT_EQ(process.Counted(LedgerCounter::chunk_events_lost), 0u);
}

TEST_F(MountedFolder, ADiskThatFillsUpLeavesAReadableTrace) {
  const Outcome outcome = WithDisk(
      "size=1m",
      "\"$GPUBOUND\" run -q -o \"$DISK/x\" -- \"$VICTIM\" annotate 2000000 > /dev/null 2>&1\n"
      "status=$?\n"
      "\"$GPUBOUND\" report \"$DISK/x\" --json\n"
      "exit $status");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.Describe();
  ExpectVerdict(outcome, "incomplete: Processes that ended without");
}

TEST_F(MountedFolder, ADiskThatFillsUpBesideAMappingIsWhatTheVerdictNames) {
  const Outcome outcome = WithDisk(
      "size=20m",
      "\"$GPUBOUND\" run -q -o \"$DISK/x\" -- \"$VICTIM\" annotate 3000000 > /dev/null 2>&1\n"
      "\"$GPUBOUND\" report \"$DISK/x\" --json");
  ExpectVerdict(outcome, "incomplete: Transactions that could not");
}

TEST_F(MountedFolder, AKilledRunWithoutRoomForItsMappingIsIncomplete) {
  const Outcome outcome =
      WithDisk("size=2m",
               "\"$GPUBOUND\" run -q -o \"$DISK/x\" -- \"$VICTIM\" die 5 > /dev/null 2>&1\n"
               "\"$GPUBOUND\" report \"$DISK/x\" --json");
  ExpectVerdict(outcome, "incomplete: Processes that ended without");
  EXPECT_THAT(outcome.out, HasSubstr("\"device_kind\": \"simulated\""));
}

TEST_F(MountedFolder, AReadOnlyRunDirectoryCanBeRead) {
  const Outcome outcome =
      WithDisk("size=200m",
               "\"$GPUBOUND\" run -q -o \"$DISK/x\" -- \"$VICTIM\" train 5 > /dev/null || exit 98\n"
               "mount -o remount,ro \"$DISK\" || exit 99\n"
               "\"$GPUBOUND\" report \"$DISK/x\" && \"$GPUBOUND\" doctor \"$DISK/x\"");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.Describe();
  EXPECT_THAT(outcome.out, HasSubstr("backpropagation"));
}

TEST_F(MountedFolder, AKilledRunCanBeReadFromAReadOnlyDisk) {
  const Outcome outcome =
      WithDisk("size=200m",
               "\"$GPUBOUND\" run -q -o \"$DISK/x\" -- \"$VICTIM\" die 5 > /dev/null\n"
               "mount -o remount,ro \"$DISK\" || exit 99\n"
               "\"$GPUBOUND\" report --full \"$DISK/x\"");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.Describe();
  // The operation that it was in: of so short a one only --full has a row, whatever else there is.
  EXPECT_THAT(outcome.out, HasSubstr("last words"));
}

TEST_F(MountedFolder, AFullDiskFailsAnImportAndNothingIsLeft) {
  runner().Set("TRACE", GPUBOUND_TEST_DATA "/kineto/h100_qwen_chat.json.gz");
  const Outcome outcome = WithDisk("size=100k",
                                   "\"$GPUBOUND\" import \"$TRACE\" -o \"$DISK/x\"\n"
                                   "status=$?\n"
                                   "ls \"$DISK\"\n"
                                   "exit $status");
  EXPECT_EQ(outcome.exit_code, 1) << outcome.Describe();
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("database or disk is full"));
}

}  // namespace
}  // namespace gpubound
