// SPDX-License-Identifier: Apache-2.0
//
// Rules of scopes and calls, stacked up by hand.
#include "analysis/timeline/state_rules.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace gpubound {
namespace {

constexpr OperationIndex kStep = 7;
constexpr PeerIndex kPeer = 3;

LabelRole OfOperation(OperationIndex operation, IdleCause cause = IdleCause::kUnknown) {
  LabelRole role;
  role.operation = operation;
  role.cause = cause;
  return role;
}

LabelRole OfLayer(Layer layer, PeerIndex peer = kNotOne) {
  LabelRole role;
  role.layer = layer;
  role.peer = peer;
  return role;
}

LabelRole OfName(IdleCause cause) { return OfOperation(kNotOne, cause); }

LabelRole OfCall(IdleCause cause, ApiClass api_class = ApiClass::kCall) {
  LabelRole role;
  role.cause = cause;
  role.api_class = api_class;
  return role;
}

// The outermost first, above nothing in a native program.
ScopesSay Under(std::initializer_list<LabelRole> scopes) {
  ScopesSay says = {Doing(kNotOne, Layer::kNative, IdleCause::kUnknown, kNotOne),
                    CauseOrigin(IdleCause::kUnknown, true, false)};
  for (const LabelRole& role : scopes) says = StateRule(role).Above(says);
  return says;
}

TEST(StateRules, TheCauseThatIsLookedUpIsTheOneThatIsDecided) {
  for (uint8_t bits = 0; bits < CauseOrigin::kValues; ++bits) {
    for (uint8_t layer = 0; layer < kLayerValues; ++layer) {
      const CauseOrigin origin(bits);
      EXPECT_EQ(CauseUnderScopes(origin, Layer{layer}), origin.CauseIn(Layer{layer}));
    }
  }
}

TEST(StateRules, AScopeReplacesItsOwnPartsOnly) {
  const LabelRole wait = OfLayer(Layer::kWait, kPeer);
  EXPECT_EQ(Under({OfOperation(kStep)}).doing,
            Doing(kStep, Layer::kNative, IdleCause::kLaunch, kNotOne));
  EXPECT_EQ(Under({OfOperation(kStep), wait}).doing,
            Doing(kStep, Layer::kWait, IdleCause::kWaiting, kPeer));
  EXPECT_EQ(Under({wait, OfOperation(kStep)}).doing,
            Doing(kStep, Layer::kWait, IdleCause::kWaiting, kPeer));
  EXPECT_EQ(Under({wait, OfLayer(Layer::kBackend)}).doing,
            Doing(kNotOne, Layer::kBackend, IdleCause::kLaunch, kNotOne));
}

TEST(StateRules, ALayerThatIsNoWaitHasNoPeer) {
  EXPECT_EQ(Under({OfLayer(Layer::kCudaSync, kPeer)}).doing.peer(), kNotOne);
}

TEST(StateRules, AnOperationSpeaksForItself) {
  const LabelRole simulation = OfName(IdleCause::kSimulation);
  EXPECT_EQ(Under({simulation}).doing.cause(), IdleCause::kSimulation);
  EXPECT_EQ(Under({simulation, OfOperation(kStep)}).doing.cause(), IdleCause::kLaunch);
  EXPECT_EQ(Under({OfOperation(kStep), simulation}).doing.cause(), IdleCause::kSimulation);
  EXPECT_EQ(Under({OfOperation(kStep, IdleCause::kSimulation)}).doing.cause(),
            IdleCause::kSimulation);
}

TEST(StateRules, ACheckpointExplainsAllInIt) {
  const ScopesSay says = Under({OfName(IdleCause::kCheckpoint), OfOperation(kStep)});
  EXPECT_EQ(says.doing.cause(), IdleCause::kCheckpoint);
  EXPECT_EQ(StateRule(OfCall(IdleCause::kCopy)).InCall(says.doing),
            Doing(kStep, Layer::kCudaApi, IdleCause::kCheckpoint, kNotOne));
}

TEST(StateRules, ACallLeavesNothingOfTheScopesButTheOperation) {
  const Doing scopes = Under({OfOperation(kStep), OfLayer(Layer::kWait, kPeer)}).doing;
  EXPECT_EQ(StateRule(OfCall(IdleCause::kCopy)).InCall(scopes),
            Doing(kStep, Layer::kCudaApi, IdleCause::kCopy, kNotOne));
  EXPECT_EQ(StateRule(OfCall(IdleCause::kLaunch, ApiClass::kSync)).InCall(scopes),
            Doing(kStep, Layer::kCudaSync, IdleCause::kSync, kNotOne));
}

TEST(StateRules, ACallThatIsAScopeSetsTheLayerUntilAnotherDoes) {
  LabelRole call = OfLayer(Layer::kCudaSync);
  call.cause = IdleCause::kLaunch;
  call.call_is_scope = true;
  EXPECT_FALSE(StateRule(call).is_plain_call());
  EXPECT_TRUE(Under({call}).origin.layer_is_call());
  EXPECT_EQ(Under({call}).doing.cause(), IdleCause::kSync);
  EXPECT_FALSE(Under({call, OfLayer(Layer::kPython)}).origin.layer_is_call());
}

}  // namespace
}  // namespace gpubound
