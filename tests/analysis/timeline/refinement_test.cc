// SPDX-License-Identifier: Apache-2.0
#include "analysis/timeline/refinement.h"

#include <gtest/gtest.h>

#include <vector>

namespace gpubound {
namespace {

constexpr OperationIndex kTrain = 1;
constexpr OperationIndex kPlay = 2;

Doing Under(OperationIndex operation, Layer layer, IdleCause cause = IdleCause::kLaunch) {
  return {operation, layer, cause, kNotOne};
}

// A window from 0 on.
class RefinementTest : public testing::Test {
 protected:
  void Reports(int64_t time_ns, OperationIndex operation, Layer layer,
               IdleCause cause = IdleCause::kLaunch) {
    own_.push_back({time_ns, {operation, layer, cause, kNotOne}});
  }
  void Open(bool starting = false) { refinement_.Open(own_, starting); }
  void Speaks(const Doing& at_begin, const std::vector<ThreadChange>& changes = {}) {
    refinement_.Add(/*adopts=*/false, at_begin, changes);
  }
  void Adopts(const Doing& at_begin, const std::vector<ThreadChange>& changes = {}) {
    refinement_.Add(/*adopts=*/true, at_begin, changes);
  }

  struct At {
    int64_t time_ns;
    Layer layer;
    friend bool operator==(const At&, const At&) = default;
  };
  std::vector<At> Layers() {
    std::vector<At> layers = {{0, refinement_.Resolve(&changes_).layer()}};
    for (const ThreadChange& change : changes_) {
      layers.push_back({change.time_ns, change.doing.layer()});
    }
    return layers;
  }

  std::vector<ThreadChange> own_;
  PlainList<ThreadChange> changes_;
  Refinement refinement_;
};

TEST_F(RefinementTest, WithoutOthersTheReportingThreadSaysAll) {
  Reports(0, kTrain, Layer::kNative);
  Reports(5, kTrain, Layer::kCudaApi);
  Open();
  EXPECT_EQ(Layers(), (std::vector<At>{{0, Layer::kNative}, {5, Layer::kCudaApi}}));
}

TEST_F(RefinementTest, AThreadUnderTheSameOperationHelpsWhileItLiesDeeper) {
  Reports(0, kTrain, Layer::kNative);
  Open();
  Speaks(Under(kTrain, Layer::kNative),
         {{3, Under(kTrain, Layer::kCudaApi)}, {7, Under(kTrain, Layer::kNative)}});
  EXPECT_EQ(Layers(),
            (std::vector<At>{{0, Layer::kNative}, {3, Layer::kCudaApi}, {7, Layer::kNative}}));
}

TEST_F(RefinementTest, AThreadUnderAnotherOperationIsNoHelp) {
  Reports(0, kTrain, Layer::kNative);
  Open();
  Speaks(Under(kPlay, Layer::kCudaApi));
  EXPECT_EQ(Layers(), (std::vector<At>{{0, Layer::kNative}}));
}

TEST_F(RefinementTest, AnAdoptingThreadHelpsUnderAnyOperation) {
  Reports(0, kTrain, Layer::kNative);
  Open();
  Adopts(Under(kNotOne, Layer::kCudaApi));
  EXPECT_EQ(Layers(), (std::vector<At>{{0, Layer::kCudaApi}}));
}

TEST_F(RefinementTest, NobodyHelpsPython) {
  Reports(0, kTrain, Layer::kPython);
  Reports(4, kTrain, Layer::kNative);
  Open();
  Speaks(Under(kTrain, Layer::kCudaApi));
  EXPECT_EQ(Layers(), (std::vector<At>{{0, Layer::kPython}, {4, Layer::kCudaApi}}));
}

TEST_F(RefinementTest, HelpEndsWhereTheReportingThreadTurnsToAnotherOperation) {
  Reports(0, kTrain, Layer::kNative);
  Reports(4, kPlay, Layer::kNative);
  Open();
  Speaks(Under(kTrain, Layer::kCudaApi));
  EXPECT_EQ(Layers(), (std::vector<At>{{0, Layer::kCudaApi}, {4, Layer::kNative}}));
}

TEST_F(RefinementTest, OfSeveralTheDeepestIsTaken) {
  Reports(0, kTrain, Layer::kNative);
  Open();
  Speaks(Under(kTrain, Layer::kBackend));
  Speaks(Under(kTrain, Layer::kCudaSync), {{6, Under(kTrain, Layer::kNative)}});
  EXPECT_EQ(Layers(), (std::vector<At>{{0, Layer::kCudaSync}, {6, Layer::kBackend}}));
}

TEST_F(RefinementTest, InTheSameLayerAnAdoptingThreadGivesTheCause) {
  Reports(0, kTrain, Layer::kWait, IdleCause::kWaiting);
  Open();
  Speaks(Under(kTrain, Layer::kCudaApi, IdleCause::kCopy));
  Adopts(Under(kNotOne, Layer::kCudaApi, IdleCause::kLaunch));
  EXPECT_EQ(refinement_.Resolve(&changes_).cause(), IdleCause::kLaunch);
}

TEST_F(RefinementTest, ACauseThatSaysAllStays) {
  Reports(0, kTrain, Layer::kNative, IdleCause::kCheckpoint);
  Open();
  Speaks(Under(kTrain, Layer::kCudaApi, IdleCause::kCopy));
  EXPECT_EQ(refinement_.Resolve(&changes_).cause(), IdleCause::kCheckpoint);
}

TEST_F(RefinementTest, BeforeAnythingBeganHelpIsStartUp) {
  Reports(0, kNoOperationIndex, Layer::kNative, IdleCause::kStartUp);
  Open(/*starting=*/true);
  Adopts(Under(kNotOne, Layer::kCudaApi));
  EXPECT_EQ(refinement_.Resolve(&changes_).cause(), IdleCause::kStartUp);
}

TEST_F(RefinementTest, WhatChangesAtOneInstantIsOneChange) {
  Reports(0, kTrain, Layer::kNative);
  Reports(5, kPlay, Layer::kNative);
  Open();
  Speaks(Under(kTrain, Layer::kCudaApi), {{5, Under(kPlay, Layer::kCudaApi)}});
  EXPECT_EQ(Layers(), (std::vector<At>{{0, Layer::kCudaApi}, {5, Layer::kCudaApi}}));
}

TEST_F(RefinementTest, AThreadThatChangesSeldomHelpsAcrossManyStretches) {
  for (int64_t i = 0; i < 100; ++i) {
    Reports(10 * i, i % 2 == 0 ? kTrain : kPlay, Layer::kNative);
  }
  Open();
  Speaks(Under(kTrain, Layer::kNative),
         {{905, Under(kTrain, Layer::kCudaApi)}, {945, Under(kTrain, Layer::kNative)}});
  std::vector<At> deep;
  for (const At& at : Layers()) {
    if (at.layer == Layer::kCudaApi) deep.push_back(at);
  }
  EXPECT_EQ(deep, (std::vector<At>{
                      {905, Layer::kCudaApi}, {920, Layer::kCudaApi}, {940, Layer::kCudaApi}}));
}

TEST_F(RefinementTest, HelpOfOneWindowIsForgottenInTheNext) {
  Reports(0, kTrain, Layer::kNative);
  Open();
  Speaks(Under(kTrain, Layer::kCudaApi));
  EXPECT_EQ(Layers(), (std::vector<At>{{0, Layer::kCudaApi}}));
  Open();
  Speaks(Under(kTrain, Layer::kNative));
  EXPECT_EQ(Layers(), (std::vector<At>{{0, Layer::kNative}}));
}

}  // namespace
}  // namespace gpubound
