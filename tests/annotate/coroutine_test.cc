// SPDX-License-Identifier: Apache-2.0
//
// Which scopes of coroutines are open on which thread, by what a collector is told.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <gpubound/coroutine.hpp>

#include <coroutine>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/annotate/fake_collector.h"
#include "tests/programs/task.h"

namespace gpubound {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Suspends until Resume(), which goes on on the thread that calls it.
class Gate {
 public:
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> waiting) noexcept { waiting_ = waiting; }
  int await_resume() const noexcept { return 7; }
  void Resume() { std::exchange(waiting_, {}).resume(); }

 private:
  std::coroutine_handle<> waiting_;
};

class CoroutineTest : public testing::Test {
 protected:
  CoroutineTest() { FakeCollector::Reset(); }
  ~CoroutineTest() override { EXPECT_EQ(detail::t_coroutines.count, 0u); }

  static std::vector<std::string> Calls() { return FakeCollector::Take(); }
  static std::vector<std::string> OnAnotherThread(Gate* gate) {
    std::thread([gate] { gate->Resume(); }).join();
    return Calls();
  }
};

Task WaitIn(Gate* gate, const char* name) {
  const CoroutineOperation scope(name);
  GPUBOUND_COROUTINE_ANNOTATION("turn");
  EXPECT_EQ(co_await *gate, 7);
}

TEST_F(CoroutineTest, ASuspendedCoroutineOwnsNothing) {
  Gate gate;
  Task task = WaitIn(&gate, "episode");
  task.Start();
  EXPECT_THAT(Calls(), ElementsAre("begin operation episode", "begin annotation turn",
                                   "end annotation turn", "end operation episode"));
  gate.Resume();
  EXPECT_THAT(Calls(), ElementsAre("begin operation episode", "begin annotation turn",
                                   "end annotation turn", "end operation episode"));
}

TEST_F(CoroutineTest, ItsScopesGoOnOnTheThreadThatResumesIt) {
  Gate gate;
  Task task = WaitIn(&gate, "episode");
  task.Start();
  Calls();
  EXPECT_THAT(OnAnotherThread(&gate),
              ElementsAre("begin operation episode", "begin annotation turn", "end annotation turn",
                          "end operation episode"));
  EXPECT_TRUE(task.done());
}

Task Play(Gate* gate) {
  GPUBOUND_COROUTINE_OPERATION("episode");
  co_await WaitIn(gate, "turn");
}

TEST_F(CoroutineTest, AnAwaitedCoroutineIsSuspendedWithThoseThatAwaitIt) {
  Gate gate;
  Task task = Play(&gate);
  task.Start();
  EXPECT_THAT(Calls(), ElementsAre("begin operation episode", "begin operation turn",
                                   "begin annotation turn", "end annotation turn",
                                   "end operation turn", "end operation episode"));
  EXPECT_THAT(OnAnotherThread(&gate), ElementsAre("begin operation episode", "begin operation turn",
                                                  "begin annotation turn", "end annotation turn",
                                                  "end operation turn", "end operation episode"));
}

TEST_F(CoroutineTest, ScopesOfTheThreadStayOpen) {
  Gate gate;
  Task task = WaitIn(&gate, "episode");
  {
    GPUBOUND_OPERATION("serve");
    task.Start();
    gate.Resume();
  }
  const std::vector<std::string> calls = Calls();
  EXPECT_EQ(calls.front(), "begin operation serve");
  EXPECT_EQ(calls.back(), "end operation serve");
  EXPECT_EQ(calls.size(), 10u);
}

TEST_F(CoroutineTest, CoroutinesOfOneThreadDoNotCloseEachOthersScopes) {
  Gate first_gate;
  Gate second_gate;
  Task first = WaitIn(&first_gate, "same");
  Task second = WaitIn(&second_gate, "same");
  first.Start();
  second.Start();
  Calls();
  OnAnotherThread(&first_gate);
  second_gate.Resume();
  EXPECT_THAT(Calls(), ElementsAre("begin operation same", "begin annotation turn",
                                   "end annotation turn", "end operation same"));
}

Task ResumeWithin(Gate* own, Gate* others) {
  GPUBOUND_COROUTINE_OPERATION("outer");
  others->Resume();
  co_await *own;
}

TEST_F(CoroutineTest, ACoroutineThatIsResumedWithinAnotherOneLeavesItsScopesAlone) {
  Gate own;
  Gate inner_gate;
  Task inner = WaitIn(&inner_gate, "inner");
  inner.Start();
  Calls();
  Task outer = ResumeWithin(&own, &inner_gate);
  outer.Start();
  EXPECT_THAT(Calls(),
              ElementsAre("begin operation outer", "begin operation inner", "begin annotation turn",
                          "end annotation turn", "end operation inner", "end operation outer"));
  EXPECT_THAT(OnAnotherThread(&own), ElementsAre("begin operation outer", "end operation outer"));
}

Task Detached(Gate* first, Gate* second) {
  CoroutineRoot root;
  co_await *first;
  GPUBOUND_COROUTINE_OPERATION("detached");
  co_await *second;
}

Task StartDetached(Task* detached, Gate* gate) {
  GPUBOUND_COROUTINE_OPERATION("starter");
  detached->Start();
  GPUBOUND_COROUTINE_ANNOTATION("further");
  co_await *gate;
}

TEST_F(CoroutineTest, ARootSeparatesACoroutineFromTheOneThatStartsIt) {
  Gate first;
  Gate second;
  Gate own;
  Task detached = Detached(&first, &second);
  Task starter = StartDetached(&detached, &own);
  starter.Start();
  EXPECT_THAT(Calls(), ElementsAre("begin operation starter", "begin annotation further",
                                   "end annotation further", "end operation starter"));
  first.Resume();
  EXPECT_THAT(Calls(), ElementsAre("begin operation detached", "end operation detached"));
  EXPECT_THAT(OnAnotherThread(&own),
              ElementsAre("begin operation starter", "begin annotation further",
                          "end annotation further", "end operation starter"));
  EXPECT_THAT(OnAnotherThread(&second),
              ElementsAre("begin operation detached", "end operation detached"));
}

TEST_F(CoroutineTest, ACoroutineThatIsDestroyedWhileSuspendedLeavesNothingOpen) {
  Gate gate;
  {
    Task task = Play(&gate);
    task.Start();
  }
  const std::vector<std::string> calls = Calls();
  EXPECT_EQ(std::count(calls.begin(), calls.end(), "begin operation episode"),
            std::count(calls.begin(), calls.end(), "end operation episode"));
  EXPECT_EQ(std::count(calls.begin(), calls.end(), "ledger unbalanced_scopes 1 "), 0);
}

// Of somebody else, without the promise of ours.
struct ForeignTask {
  struct promise_type {
    ForeignTask get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
};

ForeignTask WaitUnwrapped(Gate* gate) {
  GPUBOUND_COROUTINE_OPERATION("episode");
  co_await *gate;
}

TEST_F(CoroutineTest, AScopeThatMovesToAnotherThreadUnnoticedIsCounted) {
  std::thread([] {
    Gate gate;
    WaitUnwrapped(&gate);
    EXPECT_THAT(Calls(), ElementsAre("begin operation episode"));
    EXPECT_THAT(OnAnotherThread(&gate), ElementsAre("ledger unbalanced_scopes 1 "));
  }).join();
}

// With a scope of annotate.h, which belongs to the thread.
ForeignTask WaitInScopeOfThread(Gate* gate) {
  GPUBOUND_OPERATION("episode");
  co_await *gate;
}

TEST_F(CoroutineTest, ScopesOfThreadsThatCoroutinesEndOutOfOrderAreCounted) {
  Gate first;
  Gate second;
  WaitInScopeOfThread(&first);
  WaitInScopeOfThread(&second);
  Calls();
  first.Resume();
  second.Resume();
  EXPECT_THAT(Calls(), ElementsAre("ledger unbalanced_scopes 1 ", "end operation episode",
                                   "ledger unbalanced_scopes 1 ", "end operation episode"));
}

TEST_F(CoroutineTest, ScopesOfThreadsThatCoroutinesEndInOrderAreNot) {
  Gate first;
  Gate second;
  WaitInScopeOfThread(&first);
  WaitInScopeOfThread(&second);
  second.Resume();
  { const auto held = std::make_unique<Operation>("held"); }
  first.Resume();
  EXPECT_THAT(Calls(), testing::Not(testing::Contains("ledger unbalanced_scopes 1 ")));
}

ForeignTask WaitWrapped(Gate* gate) {
  GPUBOUND_COROUTINE_OPERATION("episode");
  EXPECT_EQ(co_await Suspended(*gate), 7);
}

TEST_F(CoroutineTest, SuspendedServesCoroutinesOfAnyType) {
  Gate gate;
  WaitWrapped(&gate);
  EXPECT_THAT(Calls(), ElementsAre("begin operation episode", "end operation episode"));
  EXPECT_THAT(OnAnotherThread(&gate),
              ElementsAre("begin operation episode", "end operation episode"));
}

Task WaitWrappedTwice(Gate* gate) {
  GPUBOUND_COROUTINE_OPERATION("episode");
  EXPECT_EQ(co_await Suspended(*gate), 7);
}

TEST_F(CoroutineTest, SuspendedIsOfNoConsequenceWhereThePromiseIsOurs) {
  Gate gate;
  Task task = WaitWrappedTwice(&gate);
  task.Start();
  EXPECT_THAT(Calls(), ElementsAre("begin operation episode", "end operation episode"));
  EXPECT_THAT(OnAnotherThread(&gate),
              ElementsAre("begin operation episode", "end operation episode"));
}

struct Refusing {
  bool await_ready() { return false; }
  bool await_suspend(std::coroutine_handle<>) { throw std::runtime_error("expected"); }
  void await_resume() {}
};

Task AwaitWhatThrows() {
  GPUBOUND_COROUTINE_OPERATION("episode");
  try {
    co_await Refusing();
  } catch (const std::runtime_error&) {
    GPUBOUND_OPERATION("caught");
  }
}

TEST_F(CoroutineTest, ScopesAreOpenAgainWhereASuspensionThrows) {
  Task task = AwaitWhatThrows();
  task.Start();
  EXPECT_THAT(Calls(), ElementsAre("begin operation episode", "end operation episode",
                                   "begin operation episode", "begin operation caught",
                                   "end operation caught", "end operation episode"));
}

Task EndOutOfOrder(Gate* gate) {
  std::optional<CoroutineOperation> first(std::in_place, "first");
  GPUBOUND_COROUTINE_OPERATION("second");
  first.reset();
  co_await *gate;
}

TEST_F(CoroutineTest, AScopeMayEndBeforeTheOnesInsideIt) {
  Gate gate;
  Task task = EndOutOfOrder(&gate);
  task.Start();
  EXPECT_THAT(Calls(), ElementsAre("begin operation first", "begin operation second",
                                   "end operation first", "end operation second"));
  EXPECT_THAT(OnAnotherThread(&gate),
              ElementsAre("begin operation second", "end operation second"));
}

Task OpenMany(Gate* gate) {
  std::optional<CoroutineOperation> scopes[kCoroutineScopes + 1];
  for (auto& scope : scopes) scope.emplace("deep");
  co_await *gate;
}

TEST_F(CoroutineTest, MoreScopesThanATaskMayHaveAreCounted) {
  Gate gate;
  Task task = OpenMany(&gate);
  task.Start();
  const std::vector<std::string> calls = Calls();
  EXPECT_EQ(std::count(calls.begin(), calls.end(), "end operation deep"), kCoroutineScopes);
  EXPECT_EQ(std::count(calls.begin(), calls.end(), "ledger unbalanced_scopes 1 "), 1);
  gate.Resume();
}

Task PlayUnrecorded(Gate* gate) {
  GPUBOUND_COROUTINE_OPERATION("unrecorded");
  co_await *gate;
}

TEST_F(CoroutineTest, WithoutACollectorNothingIsKept) {
  FakeCollector::Withdraw();
  gpubound_table_word_ = GPUBOUND_TABLE_UNKNOWN_;
  Gate gate;
  Task task = PlayUnrecorded(&gate);
  task.Start();
  EXPECT_EQ(detail::t_coroutines.count, 0u);
  gate.Resume();
  gpubound_table_word_ = GPUBOUND_TABLE_UNKNOWN_;
  EXPECT_THAT(Calls(), IsEmpty());
}

}  // namespace
}  // namespace gpubound
