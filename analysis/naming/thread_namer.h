// SPDX-License-Identifier: Apache-2.0
//
// Names what one thread did by the facts before and after it: all rules in one place.
//
//   a call of a module or jitted function is decided by what comes next on its thread:
//     an environment's step                inference, whatever the gradient mode
//     a replay sample, backward() or an    forward; but target while gradients are off, if another
//     optimizer's step                     call has them on; a jitted function keeps its name
//     nothing                              inference; but while gradients were on only where
//                                          nothing of the process computes any: what autograd
//                                          recomputes on a thread of its own has no name here
//
// Calls of one name in a row are one operation. It ends with the last call of the framework that
// belongs to it: of a policy that is up to where its results are stored away (distribution, sample,
// log-prob). What hands the action over (.cpu(), .numpy()) is part of it too, and so is its input
// (as_tensor(), a minibatch that is picked). What the program does with a result that was handed to
// it or detached, such as logging a loss, is no part of `forward`, until the framework computes
// again. A function called a loss is part of it, also after a target.
//
// Within an operation that is called `inference` already, by the program or a framework's hook, calls
// have no names of their own.
//
// `rollout` begins with the first such question to the policy and ends with the last environment
// step; `update` begins there. A thread that asks a policy and steps an environment in turns, with
// no operation open around it, is in `rollout` though it never learns. After a `rollout` of a
// framework that has no name for the update, what is learned with no operation around it is one.
//
// What it decides is edits of the thread's events: scopes that are to be inserted, events of stages
// that are moved. One object, one thread's events in order.
#ifndef GPUBOUND_ANALYSIS_NAMING_THREAD_NAMER_H_
#define GPUBOUND_ANALYSIS_NAMING_THREAD_NAMER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/naming/fact_table.h"
#include "analysis/trace/run.h"

namespace gpubound {

// |event| is inserted before the event number |before| of its thread; or, if |drops|, that one is
// left out. Of several inserted at one place: ends, then what stages do, then begins.
struct NamingEdit {
  enum class Rank : uint8_t { kEnd, kStage, kBegin, kDrop };
  uint64_t before = 0;
  ThreadEvent event;
  Rank rank = Rank::kDrop;
};

class ThreadNamer {
 public:
  explicit ThreadNamer(const FactTable& facts) : facts_(facts) {}

  void Add(const ThreadEvent& event);
  // Events are missing before the next one; |open| is open there.
  void Resync(std::span<const LabelId> open);
  // Whether gradients were computed by the events so far.
  bool has_gradients() const { return has_gradients_; }
  // No more events come. |any_gradients|: some thread of the process computed them. By place and
  // rank.
  std::vector<NamingEdit> Finish(bool any_gradients);

 private:
  // Between two events, as the number of the later one, and when the earlier one was.
  struct Place {
    uint64_t before = 0;
    int64_t time_ns = 0;
  };
  struct OpenScope {
    LabelId label{};
    Fact fact = Fact::kNone;
    Place begin;
    bool has_operation = false;  // something inside it is an operation by itself
  };
  // A call whose name is to be decided, with the framework's calls after it.
  struct Piece {
    Place input;  // where its input was made; its begin where that is not known
    Place end;
    Place end_at_store;   // the same, but up to the first result that was stored away
    Place end_at_detach;  // ... or detached
    size_t depth = 0;
    Fact fact = Fact::kNone;
    LabelId label{};
    bool stored = false;
    bool detached = false;
    bool handed_over = false;      // a result of it was handed to the program
    bool goes_on = false;          // what the framework did after that for the piece before
    bool after_hand_over = false;  // ... of which a result was handed over
    bool apart = false;            // from the one before: an operation lies between them
  };
  // An interval of the thread at one depth.
  struct Stretch {
    Place begin;
    Place end;
    size_t depth = 0;
  };
  // What is held of the events of a stage until the next fact says where they belong.
  struct HeldStages {
    std::vector<ThreadEvent> events;
    Place first;
    size_t depth = 0;             // around them
    std::optional<Place> policy;  // where the first call that is not decided yet begins there
    bool opens_rollout = false;
  };

  void Begin(const ThreadEvent& event);
  void End(const ThreadEvent& event);
  void EndScope(const OpenScope& scope, Place end);
  void AddCall(const OpenScope& call, Place end);
  void NoteInput(const OpenScope& call, Place end);
  void ExtendLastPiece(Fact fact, const OpenScope& call, Place end);
  void NoteAsked(const OpenScope& scope, Place end);
  void HoldStage(const ThreadEvent& event);
  void ReleaseStages();
  void Decide(Fact next);
  bool HasCallOn() const;
  LabelId NameOf(const Piece& piece, Fact next, bool is_target) const;
  void Insert(LabelId label, Place begin, Place end);
  void NotePolicyAsked(Place begin, size_t depth);
  void NoteEnvironment(Place end, size_t depth);
  void NoteLearning();
  void EndActing();
  void EndLearning();
  void EndInferredStages() { EndActing(), EndLearning(); }
  void InsertStage(LabelId label, const Stretch& stage);
  bool IsOutermostFact() const { return open_facts_ == 0; }

  const FactTable& facts_;
  std::vector<NamingEdit> edits_;
  uint64_t next_ = 0;   // number of the next event
  int64_t now_ns_ = 0;  // of the last one
  std::vector<OpenScope> open_;
  size_t open_facts_ = 0;           // of them: calls, steps, samples, gradients
  size_t open_operations_ = 0;      // of them: operations of any kind, stages included
  std::vector<Piece> pieces_;       // not decided yet
  std::optional<Stretch> input_;    // made since the last call of another kind
  std::vector<Stretch> transfers_;  // after a store, since the last piece
  std::optional<Stretch> asked_;    // `inference` as it was, since the last decisive fact
  bool apart_ = false;              // an operation or a wait lies after the last piece
  bool crossed_ = false;            // a scope around the pieces has ended since
  bool has_gradients_ = false;      // the thread computed some
  bool elsewhere_ = false;          // ... or another one of the process, once that is known
  std::optional<HeldStages> held_;
  // Where the last environment step ended that a stage may end with.
  std::optional<Stretch> environment_;
  std::optional<Stretch> acting_;     // a rollout of a thread that no stage knows
  bool acted_ = false;                // ... in which an environment was stepped
  std::optional<Stretch> learning_;   // an update of a thread that no stage knows
  bool learned_ = false;              // ... in which gradients were computed or applied
  std::optional<Stretch> collected_;  // a framework's rollout, after which nothing was learned yet
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_NAMING_THREAD_NAMER_H_
