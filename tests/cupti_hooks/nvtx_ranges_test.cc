// SPDX-License-Identifier: Apache-2.0
//
// What NVTX ranges become, without NVTX: stacks, labels, handles, messages.
#include "cupti_hooks/nvtx/nvtx_ranges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <climits>
#include <cstdlib>
#include <thread>
#include <vector>

#include "tests/cupti_hooks/recording_host.h"

namespace gpubound {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

RecordingHost* g_host = nullptr;

class NvtxRangesTest : public ::testing::Test {
 protected:
  NvtxRangesTest() { g_host = &host_; }
  ~NvtxRangesTest() override { g_host = nullptr; }
  static NvtxMessage Text(const char* text) { return {NvtxMessageKind::kAscii, text}; }

  RecordingHost host_;
  NvtxRanges ranges_{[]() -> DeviceHost* { return g_host; }};
};

TEST_F(NvtxRangesTest, ARangeIsAScopeOfTheThread) {
  EXPECT_EQ(ranges_.Push(nullptr, Text("a")), 0);
  EXPECT_EQ(ranges_.Push(nullptr, Text("b")), 1);
  EXPECT_EQ(ranges_.Pop(nullptr), 1);
  EXPECT_EQ(ranges_.Pop(nullptr), 0);
  EXPECT_THAT(host_.scopes, ElementsAre("begin /a", "begin /b", "end /b", "end /a"));
}

TEST_F(NvtxRangesTest, EachDomainHasAStackOfItsOwn) {
  const NvtxDomain* nccl = ranges_.Domain("NCCL");
  ranges_.Push(nullptr, Text("step"));
  EXPECT_EQ(ranges_.Push(nccl, Text("AllReduce")), 0);
  EXPECT_EQ(ranges_.Push(nullptr, Text("forward")), 1);
  EXPECT_EQ(ranges_.Pop(nccl), 0);
  EXPECT_EQ(ranges_.Pop(nullptr), 1);
  EXPECT_EQ(ranges_.Pop(nullptr), 0);
  EXPECT_THAT(host_.scopes, ElementsAre("begin /step", "begin NCCL/AllReduce", "begin /forward",
                                        "end NCCL/AllReduce", "end /forward", "end /step"));
}

TEST_F(NvtxRangesTest, APopWithoutAPushIsIgnored) {
  EXPECT_EQ(ranges_.Pop(nullptr), NvtxRanges::kNotTracked);
  ranges_.Push(nullptr, Text("a"));
  EXPECT_EQ(ranges_.Pop(ranges_.Domain("other")), NvtxRanges::kNotTracked);
  ranges_.Pop(nullptr);
  EXPECT_THAT(host_.scopes, ElementsAre("begin /a", "end /a"));
  EXPECT_EQ(host_.counts[LedgerCounter::unbalanced_scopes], 2u);
}

// In a process of its own, where no range has come before.
TEST_F(NvtxRangesTest, WhereTheProgramHasTakenEveryKeyItsValuesStay) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto values_of_all_keys = [] {
    std::vector<void*> values;
    for (pthread_key_t key = 0; key < PTHREAD_KEYS_MAX; ++key) {
      values.push_back(pthread_getspecific(key));
    }
    return values;
  };
  const auto push_without_keys = [&] {
    for (pthread_key_t key = 0; pthread_key_create(&key, nullptr) == 0;) continue;
    const std::vector<void*> before = values_of_all_keys();
    ranges_.Push(nullptr, Text("a"));
    std::_Exit(values_of_all_keys() == before && ranges_.Pop(nullptr) == 0 ? 0 : 1);
  };
  EXPECT_EXIT(push_without_keys(), testing::ExitedWithCode(0), "");
}

TEST_F(NvtxRangesTest, EachThreadHasStacksOfItsOwn) {
  ranges_.Push(nullptr, Text("main"));
  std::thread([&] {
    EXPECT_EQ(ranges_.Pop(nullptr), NvtxRanges::kNotTracked);
    EXPECT_EQ(ranges_.Push(nullptr, Text("thread")), 0);
    ranges_.Pop(nullptr);
  }).join();
  EXPECT_EQ(ranges_.Pop(nullptr), 0);
}

TEST_F(NvtxRangesTest, AStartedRangeMayEndOnAnotherThread) {
  const uint64_t range = ranges_.Start(nullptr, Text("transfer"));
  const uint64_t other = ranges_.Start(nullptr, Text("transfer"));
  EXPECT_NE(range, 0u);
  EXPECT_NE(range, other);
  std::thread([&] { ranges_.End(range); }).join();
  EXPECT_THAT(host_.scopes, ElementsAre("start /transfer", "start /transfer", "finish /transfer"));
}

TEST_F(NvtxRangesTest, EndingWhatIsNoRangeIsIgnored) {
  ranges_.End(0);
  EXPECT_THAT(host_.scopes, IsEmpty());
}

TEST_F(NvtxRangesTest, ARegisteredStringIsInternedOnceInItsDomain) {
  const NvtxDomain* own = ranges_.Domain("own");
  NvtxString* string = ranges_.RegisterString(own, "registered");
  const NvtxMessage message{NvtxMessageKind::kRegistered, string};
  for (int i = 0; i < 3; ++i) ranges_.Mark(own, message);
  EXPECT_EQ(host_.labels.size(), 1u);
  ranges_.Mark(nullptr, message);
  EXPECT_EQ(host_.scopes.back(), "mark /registered");
}

constexpr char kLaunch[] =
    "Thunk:#name=jit(train)/while/body/inference/dot_general,hlo_op=fusion.3,unique_hlo_op_id=7#";

TEST_F(NvtxRangesTest, ALaunchOfXlaIsInTheScopeThatTheProgramTracedItIn) {
  const LabelId scope = host_.InternLabel(LabelKind::kOperation, "jax", "inference");
  const NvtxDomain* xla = ranges_.Domain("TSL");
  NvtxString* registered = ranges_.RegisterString(xla, kLaunch);
  for (const NvtxMessage& message :
       {Text(kLaunch), NvtxMessage{NvtxMessageKind::kRegistered, registered}}) {
    host_.scopes.clear();
    ranges_.Push(xla, message);
    ranges_.Pop(xla);
    EXPECT_THAT(host_.scopes, ElementsAre("begin jax/inference", "end jax/inference"));
  }
  EXPECT_EQ(registered->label.load(), Raw(scope));
}

TEST_F(NvtxRangesTest, TheInnermostScopeThatTheProgramNamedCounts) {
  host_.InternLabel(LabelKind::kOperation, "jax", "train");
  host_.InternLabel(LabelKind::kOperation, "jax", "inference");
  host_.InternLabel(LabelKind::kOperation, "", "dot_general");  // of the program, but no such scope
  const NvtxDomain* xla = ranges_.Domain("TSL");
  ranges_.Push(xla, Text(kLaunch));
  ranges_.Push(xla, Text("Thunk:#name=jit(train)/add,hlo_op=copy#"));
  EXPECT_THAT(host_.scopes, ElementsAre("begin jax/inference", "begin jax/train"));
  for (int i = 0; i < 2; ++i) ranges_.Pop(xla);
}

TEST_F(NvtxRangesTest, WithoutSuchAScopeItIsARangeOfXla) {
  const NvtxDomain* xla = ranges_.Domain("TSL");
  ranges_.Push(xla, Text(kLaunch));
  ranges_.Push(xla, Text("XlaPass:#name=dce,module=jit_train,program_id=1325#"));
  EXPECT_THAT(host_.scopes,
              ElementsAre("begin TSL/Thunk:jit(train)/while/body/inference/dot_general",
                          "begin TSL/XlaPass"));
  for (int i = 0; i < 2; ++i) ranges_.Pop(xla);
}

TEST_F(NvtxRangesTest, OnlyXlasOwnDomainIsReadLikeThat) {
  host_.InternLabel(LabelKind::kOperation, "jax", "inference");
  ranges_.Push(nullptr, Text(kLaunch));
  EXPECT_THAT(host_.scopes, ElementsAre("begin /" + std::string(kLaunch)));
  ranges_.Pop(nullptr);
}

TEST_F(NvtxRangesTest, HandlesOfTheSameNameAreTheSame) {
  EXPECT_EQ(ranges_.Domain("a"), ranges_.Domain("a"));
  EXPECT_NE(ranges_.Domain("a"), ranges_.Domain("b"));
  EXPECT_EQ(ranges_.RegisterString(nullptr, "x"), ranges_.RegisterString(nullptr, "x"));
  EXPECT_NE(ranges_.RegisterString(nullptr, "x"), ranges_.RegisterString(ranges_.Domain("a"), "x"));
}

TEST_F(NvtxRangesTest, WideTextBecomesUtf8AndNoTextAPlaceholder) {
  ranges_.Mark(nullptr, {NvtxMessageKind::kWide, L"gr\u00fc\u00dfe \u65e5 \U0001f600"});
  ranges_.Mark(nullptr, {});
  EXPECT_THAT(host_.scopes,
              ElementsAre("mark /gr\u00fc\u00dfe \u65e5 \U0001f600", "mark /(unnamed)"));
}

TEST_F(NvtxRangesTest, WhileNothingIsRecordedNothingIsTracked) {
  g_host = nullptr;
  EXPECT_EQ(ranges_.Push(nullptr, Text("a")), NvtxRanges::kNotTracked);
  EXPECT_EQ(ranges_.Pop(nullptr), NvtxRanges::kNotTracked);
  EXPECT_EQ(ranges_.Start(nullptr, Text("a")), 0u);
  ranges_.Mark(nullptr, Text("a"));
  EXPECT_THAT(host_.labels, IsEmpty());
}

TEST_F(NvtxRangesTest, ARangeThatOutlivesTheRecordingIsPoppedQuietly) {
  ranges_.Push(nullptr, Text("a"));
  g_host = nullptr;
  EXPECT_EQ(ranges_.Pop(nullptr), 0);
  EXPECT_THAT(host_.scopes, ElementsAre("begin /a"));
}

TEST(NvtxTextTest, WhatIsNoCharacterIsReplaced) {
  const wchar_t bad[] = {static_cast<wchar_t>(0xd800), static_cast<wchar_t>(0x110000), L'x', 0};
  EXPECT_EQ(Utf8Of(bad), "\xef\xbf\xbd\xef\xbf\xbdx");
  EXPECT_EQ(Utf8Of(nullptr), "");
}

TEST(NvtxTextTest, AMessageIsReadOnlyIfTheStructureReachesThatFar) {
  NvtxEventAttributes event = {};
  event.size = sizeof(event);
  event.message_type = 1;
  event.message = "text";
  EXPECT_EQ(MessageOf(&event).kind, NvtxMessageKind::kAscii);
  event.size = 32;
  EXPECT_EQ(MessageOf(&event).kind, NvtxMessageKind::kNone);
  event.size = sizeof(event) + 16;
  EXPECT_EQ(MessageOf(&event).kind, NvtxMessageKind::kAscii);
  event.message_type = 99;
  EXPECT_EQ(MessageOf(&event).kind, NvtxMessageKind::kNone);
  event.message_type = 1;
  event.message = nullptr;
  EXPECT_EQ(MessageOf(&event).kind, NvtxMessageKind::kNone);
  EXPECT_EQ(MessageOf(nullptr).kind, NvtxMessageKind::kNone);
}

}  // namespace
}  // namespace gpubound
