// SPDX-License-Identifier: Apache-2.0
//
// One damaged place in a Chrome trace costs the event that it is in, and no other silently.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "analysis/import/import.h"
#include "analysis/reader/reader.h"
#include "tests/analysis/gzip_text.h"
#include "tests/analysis/trace_writer.h"

namespace gpubound {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using testing_support::GzipText;
using testing_support::TemporaryRun;

class ImportDamage : public testing::Test {
 protected:
  using Run = gpubound::Run;  // not testing::Test::Run

  void ImportFile(const std::string& bytes) {
    const TemporaryRun input;
    const TemporaryRun output;
    const auto summary = ImportTrace(input.Write("trace.json", bytes), output.path());
    ASSERT_TRUE(summary.ok()) << summary.error().ToString();
    summary_ = *summary;
    Result<Run> run = LoadRun(output.path());
    ASSERT_TRUE(run.ok()) << run.error().ToString();
    run_ = std::move(*run);
  }

  const ProcessTrace& Process() const { return run_.processes.at(0); }
  uint64_t Malformed() const { return Process().Counted(LedgerCounter::import_events_malformed); }
  uint64_t CutShort() const { return Process().Counted(LedgerCounter::import_cut_short); }

  ImportSummary summary_;
  Run run_;
};

constexpr char kTrain[] =
    R"({"ph":"X","cat":"user_annotation","name":"train","pid":1,"tid":1,"ts":0,"dur":90})";
constexpr char kKernel[] =
    R"({"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":20,"dur":10,)"
    R"("args":{"device":0,"stream":7}})";
constexpr char kOperator[] =
    R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":5,"dur":2,"args":)";

// The arguments of an operator, without what was lost at their end.
class LostEnd : public ImportDamage, public testing::WithParamInterface<const char*> {
 protected:
  std::string Damaged() const { return std::string(kOperator) + GetParam() + "\n,"; }
};

TEST_P(LostEnd, CostsOneEvent) {
  ImportFile(std::string("{\"traceEvents\":[") + kTrain + "," + Damaged() + kKernel + "]}");
  EXPECT_EQ(Malformed(), 1u);
  EXPECT_EQ(CutShort(), 0u);
  EXPECT_THAT(Process().threads.at(0).events, SizeIs(2));
  EXPECT_THAT(Process().device_work, SizeIs(1));
}

// Two places are damaged, and all brackets match.
TEST_P(LostEnd, HidesNothingWhereALaterEventHasItTooMuch) {
  for (const char* excess : {"}", "}}", "]}}", "}]}}"}) {
    ImportFile(std::string("{\"traceEvents\":[") + kTrain + "," + Damaged() + kKernel + excess +
               "," + kKernel + "]}");
    EXPECT_EQ(Malformed(), 2u) << excess;
    EXPECT_THAT(Process().device_work, SizeIs(2)) << excess;
  }
}

INSTANTIATE_TEST_SUITE_P(ImportDamage, LostEnd,
                         testing::Values(R"({"e":5})", R"({"e":5)", R"({"e":{"f":5)",
                                         R"({"e":{"f":5})", R"({"e":[5,6)", R"({"e":[5,6})",
                                         R"({"e":[5,6}})", R"({"e":[5,6]})", R"({"e":[5,{"f":6)",
                                         R"({"e":)", R"({"e")", R"({"e":"5)", R"({)"));

// What ended the list of events too early, before an event that follows.
class EarlyEnd : public ImportDamage, public testing::WithParamInterface<const char*> {};

TEST_P(EarlyEnd, LosesNoEventBehindIt) {
  for (const bool bare : {false, true}) {
    ImportFile((bare ? "[" : "{\"traceEvents\":[") + std::string(kTrain) + GetParam() + kKernel +
               "," + kKernel + (bare ? "]" : "], \"a\": 1}"));
    EXPECT_EQ(Malformed(), 1u);
    EXPECT_EQ(CutShort(), 0u);
    EXPECT_THAT(Process().device_work, SizeIs(2));
  }
}

INSTANTIATE_TEST_SUITE_P(ImportDamage, EarlyEnd,
                         testing::Values("],", "]", "] ,\n", "],[", "]}", "]},", "}],"));

TEST_F(ImportDamage, AnEventInBracketsIsFound) {
  ImportFile(std::string("{\"traceEvents\":[") + kTrain + ",[" + kKernel + "]," + kKernel + "]}");
  EXPECT_EQ(CutShort(), 0u);
  EXPECT_THAT(Process().device_work, SizeIs(2));
}

TEST_F(ImportDamage, WhatElseFollowsTheEventsIsNotTakenForOne) {
  for (const char* rest : {R"(], {"a": 1}, {"ph":"X"})", R"(], "a" "b", {"ph":"X"})", "] x"}) {
    ImportFile(std::string("{\"traceEvents\":[") + kTrain + rest);
    EXPECT_EQ(Malformed(), 0u) << rest;
    EXPECT_THAT(Process().threads.at(0).events, SizeIs(2)) << rest;
  }
}

TEST_F(ImportDamage, TextBehindABareListIsSaid) {
  ImportFile(std::string("[") + kTrain + "] x");
  EXPECT_EQ(CutShort(), 1u);
}

// Kernels whose begin can be read and whose end cannot.
class UnknownEnd : public ImportDamage, public testing::WithParamInterface<const char*> {};

TEST_P(UnknownEnd, MakesGpuTimeUnknownFromTheBeginOn) {
  ImportFile(std::string("[") + kTrain + R"(,{"cat":"kernel","name":"k","pid":0,"tid":7,"ts":20,)" +
             GetParam() + "]");
  EXPECT_EQ(Malformed(), 1u);
  EXPECT_EQ(summary_.device_events, 0u);
  EXPECT_THAT(Process().device_work, IsEmpty());
  ASSERT_THAT(Process().unknown, SizeIs(1));
  EXPECT_EQ(Process().unknown.at(0).start_ns, 20'000);
  EXPECT_EQ(Process().unknown.at(0).end_ns, 90'000);
}

INSTANTIATE_TEST_SUITE_P(ImportDamage, UnknownEnd,
                         testing::Values(R"("ph":"X","dur":"800"})", R"("ph":"X"})",
                                         R"("ph":"X","dur":1e300})", R"("ph":"X","dur":5e15})",
                                         R"("ph":"B"})",
                                         R"("ph":"B"},{"ph":"E","pid":0,"tid":7,"ts":"21"})",
                                         R"("ph":"B"},{"ph":"E","pid":0,"tid":7,"ts":5e15})"));

TEST_F(ImportDamage, WorkOfWhichNoEndIsKnownCountsAsNoTime) {
  ImportFile(std::string("[") + kTrain +
             R"(,{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":-20},)"
             R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":95},)"
             R"({"ph":"B","cat":"cpu_op","name":"open","pid":1,"tid":1,"ts":80}])");
  EXPECT_EQ(Process().span_end_ns, 90'000);
  ASSERT_THAT(Process().unknown, SizeIs(1));
  EXPECT_EQ(Process().unknown.at(0).start_ns, 0);
  EXPECT_EQ(Process().unknown.at(0).end_ns, 90'000);
}

TEST_F(ImportDamage, AWrongChecksumIsNotedBehindAllEvents) {
  for (const char* end : {"]", "]}", "],\"a\":1}"}) {
    std::string bytes =
        GzipText(std::string(end[1] == 0 ? "[" : "{\"traceEvents\":[") + kTrain + end);
    bytes.back() ^= 1;
    ImportFile(bytes);
    EXPECT_THAT(Process().threads.at(0).events, SizeIs(2));
    EXPECT_EQ(CutShort(), 0u);
    ASSERT_THAT(Process().notes, SizeIs(1));
    EXPECT_THAT(Process().notes.at(0).text,
                HasSubstr("(incorrect length check), after all of its events"));
  }
}

TEST_F(ImportDamage, AWrongChecksumOfAListWithoutAnEndIsMoreThanThat) {
  std::string bytes = GzipText(std::string("[") + kTrain);
  bytes.back() ^= 1;
  ImportFile(bytes);
  EXPECT_THAT(Process().threads.at(0).events, SizeIs(2));
  EXPECT_EQ(CutShort(), 1u);
}

// What is wrong with the arguments of one event, of a category of which none is wanted.
class WrongArguments : public ImportDamage, public testing::WithParamInterface<const char*> {};

TEST_P(WrongArguments, MakeAnEventMalformed) {
  ImportFile(std::string("[") + kTrain + "," + kOperator + GetParam() + "}," + kKernel + "]");
  EXPECT_EQ(Malformed(), 1u);
  EXPECT_THAT(Process().threads.at(0).events, SizeIs(2));
  EXPECT_THAT(Process().device_work, SizeIs(1));
}

INSTANTIATE_TEST_SUITE_P(ImportDamage, WrongArguments,
                         testing::Values(R"({"e" 5})", R"({"e":})", R"({"e":,"f":1})",
                                         R"({"e":5 "f":6})", R"({"e":5 6})", R"({5})", R"([1,,2])",
                                         R"([1,])", R"([1 2])", R"([:])", R"({"e":[{"f"}]})"));

class UnusualArguments : public ImportDamage, public testing::WithParamInterface<const char*> {};

TEST_P(UnusualArguments, AreNoDamage) {
  ImportFile(std::string("[") + kTrain + "," + kOperator + GetParam() + "}," + kKernel + "]");
  EXPECT_EQ(Malformed(), 0u);
  EXPECT_THAT(Process().threads.at(0).events, SizeIs(4));
  EXPECT_THAT(run_.problems, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(ImportDamage, UnusualArguments,
                         testing::Values("5", "null", "[]", "{}", "[[],{},[{}]]",
                                         R"({"e":NaN,"f":-Infinity,"g":inf})",
                                         R"({"e":"C:\Users\me","f":"\ud800"})",
                                         R"({"e":{"ph":1},"f":"{\"ph\""})"));

TEST_F(ImportDamage, ArgumentsOfAnyDepthAreRead) {
  const std::string deep(500, '[');
  const std::string end(500, ']');
  ImportFile(std::string("[") + kTrain + "," + kOperator + deep + end + "}]");
  EXPECT_EQ(Malformed(), 0u);
  const std::string deeper(1 << 20, '[');
  const std::string deeper_end(1 << 20, ']');
  ImportFile(std::string("[") + kTrain + "," + kOperator + deeper + deeper_end + "}]");
  EXPECT_EQ(Malformed(), 1u);
}

}  // namespace
}  // namespace gpubound
