// SPDX-License-Identifier: Apache-2.0
//
// The file of iterations behind the end of a recording, whole and damaged, by itself and in a run.
#include "analysis/reader/later_iterations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "analysis/reader/reader.h"
#include "tests/analysis/trace_writer.h"

namespace gpubound {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing_support::SegmentWriter;
using testing_support::TemporaryRun;
using testing_support::WriterIdentity;

constexpr int64_t kSpanEndNs = 1'000;

std::string FileOf(const std::vector<LaterIteration>& iterations, uint64_t ended) {
  const LaterHeader header{kLaterMagic, ended};
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof(header));
  bytes.append(reinterpret_cast<const char*>(iterations.data()),
               iterations.size() * sizeof(LaterIteration));
  bytes.resize(kLaterFileBytes);
  return bytes;
}

class LaterIterationsTest : public testing::Test {
 protected:
  std::vector<int64_t> Read(const std::string& bytes) {
    problems_.clear();
    std::vector<int64_t> ends;
    const std::string path = run_.Write("host.7.8.later", bytes);
    for (const LaterIteration& one : ReadLaterIterations(path, kSpanEndNs, &problems_)) {
      ends.push_back(one.end_ns);
    }
    return ends;
  }
  TemporaryRun run_;
  std::vector<std::string> problems_;
};

TEST_F(LaterIterationsTest, AreThoseBehindTheSpanInOrderOfTime) {
  EXPECT_THAT(Read(FileOf({{5, 1'300}, {4, 1'200}, {6, 1'400}, {6, 1'400}, {3, 900}}, 5)),
              ElementsAre(1'200, 1'300, 1'400));
  EXPECT_THAT(problems_, IsEmpty());
}

TEST_F(LaterIterationsTest, WhatIsNotStoredYetOrNeverWasIsNone) {
  EXPECT_THAT(Read(FileOf({{5, 1'300}, {6, 0}}, 2)), ElementsAre(1'300));
  EXPECT_THAT(Read(FileOf({{5, 1'300}}, UINT64_MAX)), ElementsAre(1'300));
  EXPECT_THAT(Read(FileOf({{5, 1'300}, {6, INT64_MAX}}, 2)), ElementsAre(1'300));
  EXPECT_THAT(Read(FileOf({{5, 1'300}, {6, 0}, {7, 1'500}}, 3)), ElementsAre(1'300));
  EXPECT_THAT(Read(FileOf({}, 0)), IsEmpty());
  EXPECT_THAT(problems_, IsEmpty());
  EXPECT_THAT(Read(FileOf({{5, 1'300}, {6, 1'400}}, 2).substr(0, sizeof(LaterHeader) + 20)),
              ElementsAre(1'300));
  EXPECT_THAT(problems_, ElementsAre(HasSubstr("found 1 iteration, expected 2")));
}

TEST_F(LaterIterationsTest, SomethingElseIsSaidAndLeftOut) {
  for (const std::string& bytes :
       {std::string("SQLite format 3"), std::string(kLaterFileBytes, 'x')}) {
    EXPECT_THAT(Read(bytes), IsEmpty());
    EXPECT_THAT(problems_, ElementsAre(HasSubstr("host.7.8.later")));
  }
  for (const std::string& bytes : {std::string(), std::string(kLaterFileBytes, '\0')}) {
    EXPECT_THAT(Read(bytes), IsEmpty());
    EXPECT_THAT(problems_, IsEmpty()) << "it is being made";
  }
  std::filesystem::create_directory(run_.File("folder.later"));
  problems_.clear();
  EXPECT_THAT(ReadLaterIterations(run_.File("folder.later"), 0, &problems_), IsEmpty());
  EXPECT_THAT(problems_, SizeIs(1));
  problems_.clear();
  EXPECT_THAT(ReadLaterIterations(run_.File("none.later"), 0, &problems_), IsEmpty());
  EXPECT_THAT(problems_, IsEmpty());
}

TEST_F(LaterIterationsTest, ARunHasThoseOfAProcessWhoseRecordingEndedAsAsked) {
  const auto load = [this](const char* how) {
    const WriterIdentity identity;
    {
      SegmentWriter writer(run_, identity);
      writer.PutUsualRows();
      writer.Sql("UPDATE meta SET value = '" + std::string(how) + "' WHERE key = 'end_how'");
      const std::string stem = std::filesystem::path(writer.path()).stem().stem().string();
      run_.Write(stem + ".later", FileOf({{4, 1'200}, {5, 1'300}}, 2));
    }
    const Result<gpubound::Run> run = LoadRun(run_.path());
    EXPECT_TRUE(run.ok());
    const size_t found = run->processes.at(0).later_iterations.size();
    for (const std::string& name : run_.Names()) std::filesystem::remove(run_.File(name));
    return found;
  };
  EXPECT_EQ(load("duration"), 2u);
  EXPECT_EQ(load("exit"), 0u);
}

}  // namespace
}  // namespace gpubound
