// SPDX-License-Identifier: Apache-2.0
//
// What is kept of the iterations behind the end of a recording, on virtual time.
#include "libprofiler/later_iterations.h"

#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "proto/recording_end.h"
#include "tests/libprofiler/collector_fixture.h"

namespace gpubound {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

class LaterIterationsTest : public CollectorFixture {
 protected:
  void Step(uint64_t number) { Step(thread_, number); }
  void Step(ThreadBuffer* thread, uint64_t number) {
    clock_.Advance(1'000);
    if (collector_->context()->finished) {
      collector_->OnLaterStep(thread, number);
    } else {
      collector_->OnStep(thread, number, clock_.Ticks());
    }
  }
  std::vector<std::string> Files() { return FilesEndingIn(directory_.path(), ".later"); }
  LaterHeader Header() const {
    LaterHeader header = {};
    Bytes().copy(reinterpret_cast<char*>(&header), sizeof(header));
    return header;
  }
  LaterIteration At(size_t index) const {
    LaterIteration iteration = {};
    Bytes().copy(reinterpret_cast<char*>(&iteration), sizeof(iteration),
                 sizeof(LaterHeader) + index * sizeof(iteration));
    return iteration;
  }

 private:
  std::string Bytes() const {
    std::ifstream file(FilesEndingIn(directory_.path(), ".later").at(0), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
};

TEST_F(LaterIterationsTest, TheirEndsAreKeptOnceTheRecordingHasEnded) {
  StartCollector();
  Step(6);
  EXPECT_FALSE(collector_->ended());
  EXPECT_THAT(Files(), IsEmpty());
  Finish(kStepsOver);
  EXPECT_TRUE(collector_->ended());
  ASSERT_THAT(Files(), SizeIs(1));
  EXPECT_EQ(Header().magic, kLaterMagic);
  EXPECT_EQ(Header().ended, 0u);
  Step(7);
  const int64_t first_ns = Now();
  Step(8);
  EXPECT_EQ(Header().ended, 2u);
  EXPECT_EQ(At(0).number, 7u);
  EXPECT_EQ(At(0).end_ns, first_ns);
  EXPECT_EQ(At(1).number, 8u);
  EXPECT_EQ(At(1).end_ns, first_ns + 1'000);
  EXPECT_EQ(At(2).end_ns, 0);
}

TEST_F(LaterIterationsTest, TheFirstOnesAreKept) {
  StartCollector();
  Step(0);
  Finish(kDurationOver);
  for (uint64_t number = 1; number <= kLaterCapacity + 10; ++number) Step(number);
  EXPECT_EQ(Header().ended, kLaterCapacity + 10);
  EXPECT_EQ(At(0).number, 1u);
  EXPECT_EQ(At(kLaterCapacity - 1).number, kLaterCapacity);
}

TEST_F(LaterIterationsTest, OnlyThoseOfTheFirstThreadToStepAreKept) {
  StartCollector();
  ThreadBuffer* const other = collector_->RegisterThread(101, "evaluation");
  Step(0);
  Step(other, 7);
  Finish(kStepsOver);
  Step(other, 8);
  Step(1);
  EXPECT_EQ(Header().ended, 1u);
  EXPECT_EQ(At(0).number, 1u);
}

TEST_F(LaterIterationsTest, AProgramThatEndsHasNone) {
  StartCollector();
  Step(0);
  Finish("exit");
  EXPECT_FALSE(collector_->ended());
  Step(1);
  EXPECT_THAT(Files(), IsEmpty());
}

TEST_F(LaterIterationsTest, AProcessWithoutIterationsHasNone) {
  StartCollector();
  Finish(kStepsOver);
  EXPECT_TRUE(collector_->ended());
  Step(1);
  EXPECT_THAT(Files(), IsEmpty());
}

TEST_F(LaterIterationsTest, WhereThereCanBeNoFileThereIsNone) {
  EXPECT_EQ(LaterIterations::Create(directory_.Below("no/such/folder/x.later")), nullptr);
}

}  // namespace
}  // namespace gpubound
