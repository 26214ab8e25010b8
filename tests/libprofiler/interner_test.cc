// SPDX-License-Identifier: Apache-2.0
//
// Names to ids, their bounds, and the heap that survives a kill.
#include "libprofiler/interner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "libprofiler/utf8.h"
#include "tests/libprofiler/temp_directory.h"
#include "tests/libprofiler/trace_file.h"

namespace gpubound {
namespace {

class InternerTest : public testing::Test {
 protected:
  static constexpr uint32_t kMaxForTest = 20;

  LabelId Operation(std::string_view text) {
    return labels_.Intern(LabelKind::kOperation, Layer::kUnset, "", text);
  }
  std::vector<LabelRow> Rows() {
    std::vector<LabelRow> rows;
    size_t position = 0;
    labels_.CopyRowsSince(&position, &rows);
    return rows;
  }
  uint64_t Count(LedgerCounter counter) const { return ledger_.Get(counter); }

  TempDirectory directory_;
  std::unique_ptr<LiveMapping> mapping_ =
      LiveMapping::Create(directory_.Below("a.live"), 1, {1, 2, 3, true});
  Ledger ledger_{mapping_->header()->ledger};
  Interner labels_{kMaxForTest, mapping_.get(), &ledger_};
};

TEST_F(InternerTest, TheSameNameHasTheSameIdAndAnotherNameAnother) {
  const LabelId inference = Operation("inference");
  EXPECT_EQ(Operation("inference"), inference);
  EXPECT_NE(Operation("simulation"), inference);
  EXPECT_NE(inference, LabelId{0});
}

TEST_F(InternerTest, KindLayerAndDomainArePartOfTheName) {
  const LabelId operation = Operation("x");
  EXPECT_NE(labels_.Intern(LabelKind::kAnnotation, Layer::kUnset, "", "x"), operation);
  EXPECT_NE(labels_.Intern(LabelKind::kOperation, Layer::kUnset, "d", "x"), operation);
  EXPECT_NE(labels_.Intern(LabelKind::kLayer, Layer::kBackend, "", "x"),
            labels_.Intern(LabelKind::kLayer, Layer::kSimulator, "", "x"));
}

TEST_F(InternerTest, DomainAndTextAreNotRunTogether) {
  EXPECT_NE(labels_.Intern(LabelKind::kAnnotation, Layer::kUnset, "a", "bc"),
            labels_.Intern(LabelKind::kAnnotation, Layer::kUnset, "ab", "c"));
}

// What the address and undefined sanitizers watch: such views have no memory.
TEST_F(InternerTest, ADomainAndATextThatAreNothingAreEmpty) {
  const LabelId nothing = labels_.Intern(LabelKind::kOperation, Layer::kUnset, {}, {});
  EXPECT_EQ(nothing, Operation(""));
  EXPECT_EQ(Rows().back().text, "");
}

TEST_F(InternerTest, TheFirstIdsAreTheOverflowLabelsOfEachKind) {
  EXPECT_EQ(labels_.KindOf(LabelId{1}), LabelKind::kOperation);
  EXPECT_EQ(labels_.KindOf(LabelId{7}), LabelKind::kOverhead);
  EXPECT_EQ(Rows()[0].text, "(other names)");
}

TEST_F(InternerTest, NamesBeyondTheTableAreRecordedAsOtherNamesOfTheirKind) {
  for (uint32_t i = 8; i <= kMaxForTest; ++i) Operation("name " + std::to_string(i));
  EXPECT_EQ(Count(LedgerCounter::labels_overflowed), 0u);
  EXPECT_EQ(Operation("one too many"), LabelId{1});
  EXPECT_EQ(labels_.Intern(LabelKind::kAnnotation, Layer::kUnset, "", "two too many"), LabelId{2});
  EXPECT_EQ(Count(LedgerCounter::labels_overflowed), 2u);
  EXPECT_EQ(Raw(Operation("name 8")), 8u) << "known names keep their ids";
}

TEST_F(InternerTest, AMegabyteOfNameIsCutToFourKilobytesAtACharacter) {
  std::string name(kMaxNameBytes - 1, 'a');
  while (name.size() < (1 << 20)) name += "\u00e9";  // two bytes, the first at the limit
  const LabelId id = Operation(name);
  EXPECT_EQ(Rows().back().id, id);
  EXPECT_EQ(Rows().back().text, std::string(kMaxNameBytes - 1, 'a'));
  EXPECT_EQ(Count(LedgerCounter::names_truncated), 1u);
  EXPECT_EQ(Operation(name), id) << "the cut name is known now";
  EXPECT_EQ(Count(LedgerCounter::names_truncated), 1u);
}

TEST_F(InternerTest, EveryNameIsInTheHeapThatSurvivesAKill) {
  Operation("inference");
  mapping_->Announce();
  const auto heap = ReadLiveLabels(directory_.Below("a.live"));
  EXPECT_EQ(heap.size(), 8u);
  EXPECT_EQ(heap.at(8), "inference");
}

TEST_F(InternerTest, NewRowsAreCopiedOnce) {
  size_t position = 0;
  std::vector<LabelRow> rows;
  labels_.CopyRowsSince(&position, &rows);
  rows.clear();
  Operation("inference");
  labels_.CopyRowsSince(&position, &rows);
  EXPECT_EQ(rows.size(), 1u);
  labels_.CopyRowsSince(&position, &rows);
  EXPECT_EQ(rows.size(), 1u);
}

// Who held it may have left for good, in a signal handler.
TEST_F(InternerTest, RowsAreCopiedWhileSomebodyHoldsTheLock) {
  Operation("inference");
  const std::lock_guard<std::mutex> held(labels_.mutex());
  EXPECT_EQ(Rows().back().text, "inference");
}

TEST_F(InternerTest, AnUnknownIdHasNoKind) {
  EXPECT_EQ(labels_.KindOf(LabelId{19}), LabelKind::kNone);
  EXPECT_EQ(labels_.KindOf(LabelId{kMaxLabels - 1}), LabelKind::kNone);
}

TEST_F(InternerTest, TwoThreadsThatInternTheSameNamesAgree) {
  std::vector<LabelId> first(10), second(10);
  const auto intern_all = [this](std::vector<LabelId>* ids) {
    for (int i = 0; i < 10; ++i) (*ids)[static_cast<size_t>(i)] = Operation(std::to_string(i));
  };
  std::thread other(intern_all, &second);
  intern_all(&first);
  other.join();
  EXPECT_EQ(first, second);
}

TEST_F(InternerTest, AfterAForkTheNamesKeepTheirIdsInTheNewMapping) {
  const LabelId inference = Operation("inference");
  auto child = LiveMapping::Create(directory_.Below("b.live"), 1, {9, 2, 3, true});
  Ledger child_ledger(child->header()->ledger);
  labels_.MoveTo(child.get(), &child_ledger);
  child->Announce();
  EXPECT_EQ(Operation("inference"), inference);
  EXPECT_EQ(ReadLiveLabels(directory_.Below("b.live")).at(Raw(inference)), "inference");
}

TEST(InternerHeapTest, NamesThatTheHeapCannotHoldAreOtherNames) {
  auto mapping = LiveMapping::Create("", 1, {1, 2, 3, true});
  Ledger ledger(mapping->header()->ledger);
  Interner labels(100'000, mapping.get(), &ledger);
  const std::string filler(kMaxNameBytes - 8, 'x');
  for (uint32_t i = 0; ledger.Get(LedgerCounter::labels_overflowed) == 0; ++i) {
    ASSERT_LT(i, kLiveLabelHeapBytes / kMaxNameBytes + 1);
    labels.Intern(LabelKind::kOperation, Layer::kUnset, "", filler + std::to_string(i));
  }
}

TEST(CutUtf8Test, CutsBeforeTheCharacterThatDoesNotFit) {
  EXPECT_EQ(CutUtf8("abc", 3), "abc");
  EXPECT_EQ(CutUtf8("abcd", 3), "abc");
  EXPECT_EQ(CutUtf8("ab\u20ac", 4), "ab");  // three bytes, two of which would fit
  EXPECT_EQ(CutUtf8("\U0001F600x", 4), "\U0001F600");
  EXPECT_EQ(CutUtf8("\U0001F600", 3), "");
  EXPECT_EQ(CutUtf8("abc", 0), "");
}

TEST(CutUtf8Test, BytesThatAreNoUtf8AreCutAnywhere) {
  EXPECT_EQ(CutUtf8("\x80\x80\x80\x80\x80\x80", 5).size(), 5u);
}

}  // namespace
}  // namespace gpubound
