// SPDX-License-Identifier: Apache-2.0
//
// The rules. One object, one caller.
#include "analysis/naming/thread_namer.h"

#include <algorithm>
#include <utility>

namespace gpubound {
namespace {

// Calls without any other fact after them, as of a process that does nothing but answer for a
// policy, are decided when there are so many.
constexpr size_t kMostPieces = 4096;

// A policy is asked so soon after its input was made; what lies between for longer is something
// else, as an import.
constexpr int64_t kSoonNs = 5'000'000;

}  // namespace

void ThreadNamer::Add(const ThreadEvent& event) {
  now_ns_ = event.time_ns;
  if (event.kind == SlotKind::kBegin) {
    Begin(event);
  } else if (event.kind == SlotKind::kEnd) {
    End(event);
  } else if (held_ && event.kind == SlotKind::kStep) {
    held_->events.push_back(event);
  } else {
    held_.reset();  // its events lie in a row, or it stays where it is
  }
  ++next_;
}

void ThreadNamer::Begin(const ThreadEvent& event) {
  const Fact fact = facts_.Of(event.label);
  const bool outermost = IsOutermostFact();
  if (fact == Fact::kStage) {
    HoldStage(event);
  } else {
    if (outermost && fact >= Fact::kJittedTraining && fact <= Fact::kOptimizer) {
      if (fact >= Fact::kSample && open_operations_ == 0) NoteLearning();
      Decide(fact);
    }
    held_.reset();
  }
  if (fact == Fact::kWait && outermost) apart_ = true;
  if (fact == Fact::kOperation || fact == Fact::kStage || fact == Fact::kAsked) {
    apart_ = true;
    if (open_operations_ == 0 && fact != Fact::kAsked) EndInferredStages();
  }
  if (fact == Fact::kEnvironment && outermost) EndLearning();
  if (IsOperation(fact)) {
    for (OpenScope& scope : open_) scope.has_operation |= scope.fact < Fact::kEnvironment;
    ++open_operations_;
  }
  if (IsDecisive(fact)) ++open_facts_;
  if (fact == Fact::kStage || (IsOperation(fact) && outermost)) input_.reset();
  open_.push_back({event.label, fact, {next_, event.time_ns}, false});
}

void ThreadNamer::End(const ThreadEvent& event) {
  const Fact fact = facts_.Of(event.label);
  if (fact == Fact::kStage) {
    HoldStage(event);
  } else {
    held_.reset();
  }
  size_t place = open_.size();
  while (place > 0 && open_[place - 1].label != event.label) --place;
  if (place == 0) return;
  const OpenScope scope = open_[place - 1];
  if (place != open_.size()) {  // others of it are still open: nothing lies well in it any more
    apart_ = crossed_ = true;
    environment_.reset();
    EndInferredStages();
  }
  open_.erase(open_.begin() + static_cast<ptrdiff_t>(place - 1));
  if (IsOperation(scope.fact)) --open_operations_;
  if (IsDecisive(scope.fact)) --open_facts_;
  if (acting_ && open_.size() < acting_->depth) EndActing();
  if (learning_ && open_.size() < learning_->depth) EndLearning();
  if (collected_ && open_.size() < collected_->depth) {  // with what the rollout was a part of
    collected_->end = {next_ + 1, event.time_ns};
    collected_->depth = open_.size();
  }
  if (environment_ && fact != Fact::kStage &&
      open_.size() < environment_->depth) {  // with what it was stepped in
    environment_->end = {next_ + 1, event.time_ns};
    environment_->depth = open_.size();
  }
  if (input_ && open_.size() < input_->depth) input_.reset();
  if (!pieces_.empty() && open_.size() < pieces_.back().depth) apart_ = crossed_ = true;
  if (IsOutermostFact()) EndScope(scope, {next_ + 1, event.time_ns});
}

// Nothing that is a fact is open around it.
void ThreadNamer::EndScope(const OpenScope& scope, Place end) {
  switch (scope.fact) {
    case Fact::kCallOff:
    case Fact::kCallOn:
    case Fact::kJitted:
      if (scope.has_operation) {
        apart_ = true;
      } else {
        AddCall(scope, end);
      }
      break;
    case Fact::kJittedTraining:
      Insert(facts_.OwnName(scope.label), scope.begin, end);
      has_gradients_ = apart_ = true;
      break;
    case Fact::kEnvironment:
      environment_ = Stretch{scope.begin, end, open_.size()};
      if (acting_ && open_.size() == acting_->depth) acting_->end = end, acted_ = true;
      break;
    case Fact::kBackward:
    case Fact::kOptimizer:
      has_gradients_ = true;
      if (open_operations_ == 0) EndActing();
      if (learning_ && open_.size() == learning_->depth) learning_->end = end, learned_ = true;
      break;
    case Fact::kAsked:
      NoteAsked(scope, end);
      break;
    case Fact::kOperation:
      if (facts_.IsCollecting(scope.label)) collected_ = Stretch{scope.begin, end, open_.size()};
      break;
    case Fact::kFrameworkCall:
    case Fact::kFrameworkLoss:
    case Fact::kFrameworkStore:
    case Fact::kFrameworkTransfer:
    case Fact::kFrameworkDetach:
      input_.reset();
      ExtendLastPiece(scope.fact, scope, end);
      break;
    case Fact::kFrameworkInput:
      input_.reset();  // made anew: another value than the one before
      [[fallthrough]];
    case Fact::kFrameworkView:
      NoteInput(scope, end);
      ExtendLastPiece(scope.fact, scope, end);
      break;
    default:
      break;
  }
}

void ThreadNamer::NoteAsked(const OpenScope& scope, Place end) {
  const auto inside = [this](const auto& of) { return of.depth > open_.size(); };
  std::erase_if(pieces_, inside);
  std::erase_if(transfers_, inside);
  if (pieces_.empty()) crossed_ = false;
  if (!asked_ || asked_->depth != open_.size()) asked_ = Stretch{scope.begin, end, open_.size()};
}

void ThreadNamer::AddCall(const OpenScope& call, Place end) {
  if (pieces_.size() >= kMostPieces) Decide(Fact::kNone);
  const bool apart = std::exchange(apart_, false);
  // After another piece it is taken for a part of that one.
  const bool has_input = input_ && input_->depth == open_.size() &&
                         call.begin.time_ns - input_->end.time_ns <= kSoonNs &&
                         (pieces_.empty() || apart);
  Piece piece{
      has_input ? input_->begin : call.begin, end, end, end, open_.size(), call.fact, call.label};
  piece.apart = apart;
  pieces_.push_back(piece);
  input_.reset();
}

void ThreadNamer::NoteInput(const OpenScope& call, Place end) {
  if (!input_ || input_->depth != open_.size()) input_ = Stretch{call.begin, end, open_.size()};
  input_->end = end;
}

void ThreadNamer::ExtendLastPiece(Fact fact, const OpenScope& call, Place end) {
  if (pieces_.empty() || apart_ || open_.size() != pieces_.back().depth) return;
  if (fact == Fact::kFrameworkLoss && pieces_.back().fact == Fact::kCallOff && HasCallOn()) {
    Piece loss{call.begin, end, end, end, open_.size(), Fact::kCallOn, call.label};
    pieces_.push_back(loss);
    return;
  }
  const bool computes = fact == Fact::kFrameworkCall || fact == Fact::kFrameworkLoss;
  const Piece& before = pieces_.back();
  if (before.detached ? computes : before.handed_over && fact != Fact::kFrameworkTransfer) {
    Piece rest{call.begin, end, end, end, before.depth, before.fact, before.label};
    rest.stored = before.stored;
    rest.goes_on = true;
    rest.after_hand_over = before.handed_over;
    pieces_.push_back(rest);
  }
  Piece& piece = pieces_.back();
  piece.handed_over |= fact == Fact::kFrameworkTransfer;
  piece.stored |= fact == Fact::kFrameworkStore;
  piece.end = end;
  if (!piece.detached) piece.end_at_detach = end;
  piece.detached |= fact == Fact::kFrameworkDetach;
  if (!piece.stored) {
    piece.end_at_store = end;
  } else if (fact == Fact::kFrameworkTransfer) {
    transfers_.push_back({call.begin, end, open_.size()});
  }
}

// The program opens and closes stages right before the call that shows which one it is in.
void ThreadNamer::HoldStage(const ThreadEvent& event) {
  if (!held_) {
    held_ = HeldStages{{}, {next_, event.time_ns}, open_.size(), std::nullopt, false};
    const bool known = !pieces_.empty() && !crossed_ && pieces_.front().depth == open_.size();
    if (known) held_->policy = pieces_.front().input;
    const bool first = asked_ && (!known || asked_->begin.before < held_->policy->before);
    if (first && asked_->depth == open_.size()) held_->policy = asked_->begin;
  }
  held_->events.push_back(event);
  held_->opens_rollout = event.kind == SlotKind::kBegin && facts_.IsRollout(event.label);
}

// Moves what is held to where its stage began, if that is known and lies as deep.
void ThreadNamer::ReleaseStages() {
  const HeldStages held = *std::exchange(held_, std::nullopt);
  // |held.depth|: within the stage that ends there, or outside of all where none does.
  std::optional<Place> to;
  if (held.opens_rollout) {
    to = held.policy;
  } else if (environment_ && environment_->depth == held.depth) {
    to = environment_->end;
  }
  if (!to) return;
  for (size_t i = 0; i < held.events.size(); ++i) {
    edits_.push_back({held.first.before + i, {}, NamingEdit::Rank::kDrop});
    ThreadEvent moved = held.events[i];
    moved.time_ns = to->time_ns;
    edits_.push_back({to->before, moved, NamingEdit::Rank::kStage});
  }
}

// |next|: the fact that begins now; kNone where no more come.
void ThreadNamer::Decide(Fact next) {
  if (held_) ReleaseStages();
  if (next == Fact::kEnvironment && open_operations_ == 0) {
    if (asked_) NotePolicyAsked(asked_->begin, asked_->depth);
    if (!pieces_.empty() && !crossed_) {
      NotePolicyAsked(pieces_.front().input, pieces_.front().depth);
    }
  }
  asked_.reset();
  // Where gradients were never on, what they are computed of was one of these calls.
  const bool any_on = HasCallOn();
  const auto name_of = [&](const Piece& piece) {
    return NameOf(piece, next, any_on ? piece.fact == Fact::kCallOff : next == Fact::kSample);
  };
  bool after_on = false;
  for (size_t i = 0; i < pieces_.size();) {
    const Piece& first = pieces_[i];
    const LabelId name = name_of(first);
    const bool to_the_end = name == facts_.forward();
    // After the estimate a target may be gathered item by item until the loss takes both.
    const bool past_stores = to_the_end || (after_on && name == facts_.target());
    after_on |= first.fact == Fact::kCallOn;
    size_t last = i;
    while (last + 1 < pieces_.size() && (past_stores || !pieces_[last].stored)) {
      const Piece& piece = pieces_[last + 1];
      if (to_the_end && (pieces_[last].handed_over || pieces_[last].detached)) break;
      if (next == Fact::kNone && !piece.goes_on) break;
      if (piece.apart || piece.depth != first.depth || name_of(piece) != name) break;
      ++last;
    }
    // What is computed to be handed over, after what was handed over, is no part of a loss.
    if (!to_the_end || !first.after_hand_over || !first.handed_over) {
      const Piece& end = pieces_[last];
      Insert(name, first.input,
             to_the_end    ? end.end_at_detach
             : past_stores ? end.end
                           : end.end_at_store);
    }
    i = last + 1;
  }
  if (next == Fact::kEnvironment) {
    for (const Stretch& transfer : transfers_) {
      Insert(facts_.inference(), transfer.begin, transfer.end);
    }
  }
  pieces_.clear();
  transfers_.clear();
  apart_ = crossed_ = false;
}

bool ThreadNamer::HasCallOn() const {
  return std::any_of(pieces_.begin(), pieces_.end(),
                     [](const Piece& piece) { return piece.fact == Fact::kCallOn; });
}

LabelId ThreadNamer::NameOf(const Piece& piece, Fact next, bool is_target) const {
  if (next == Fact::kEnvironment) return facts_.inference();
  if (IsJitted(piece.fact)) return facts_.OwnName(piece.label);
  if (next == Fact::kNone && (!has_gradients_ || piece.fact == Fact::kCallOff)) {
    const bool unknown = elsewhere_ && piece.fact == Fact::kCallOn;
    return unknown ? LabelId{} : facts_.inference();
  }
  return is_target ? facts_.target() : facts_.forward();
}

void ThreadNamer::Insert(LabelId label, Place begin, Place end) {
  if (label == LabelId{}) return;
  edits_.push_back(
      {begin.before, {begin.time_ns, 0, label, SlotKind::kBegin}, NamingEdit::Rank::kBegin});
  edits_.push_back({end.before, {end.time_ns, 0, label, SlotKind::kEnd}, NamingEdit::Rank::kEnd});
}

void ThreadNamer::NotePolicyAsked(Place begin, size_t depth) {
  if (depth != open_.size()) return;
  if (acting_ && acting_->depth != depth) EndActing();
  if (!acting_) acting_ = Stretch{begin, begin, depth};
}

void ThreadNamer::NoteLearning() {
  if (!collected_ || collected_->depth != open_.size()) return;
  learning_ = Stretch{collected_->end, collected_->end, open_.size()};
  collected_.reset();
}

void ThreadNamer::EndActing() {
  if (acting_ && acted_) InsertStage(facts_.rollout(), *acting_);
  acting_.reset();
  acted_ = false;
}

void ThreadNamer::EndLearning() {
  if (learning_ && learned_) InsertStage(facts_.update(), *learning_);
  learning_.reset();
  learned_ = false;
}

// Its begin lies around that of what it begins with.
void ThreadNamer::InsertStage(LabelId label, const Stretch& stage) {
  Insert(label, stage.begin, stage.end);
  edits_[edits_.size() - 2].rank = NamingEdit::Rank::kStage;
}

void ThreadNamer::Resync(std::span<const LabelId> open) {
  Decide(Fact::kNone);
  EndInferredStages();
  held_.reset();
  collected_.reset();
  environment_.reset();
  input_.reset();
  open_.clear();
  open_facts_ = open_operations_ = 0;
  for (const LabelId label : open) {
    const Fact fact = facts_.Of(label);
    // Of a call that was open no more is known: it is no piece.
    open_.push_back({label, fact, {next_, now_ns_}, true});
    if (IsOperation(fact)) ++open_operations_;
    if (IsDecisive(fact)) ++open_facts_;
  }
}

std::vector<NamingEdit> ThreadNamer::Finish(bool any_gradients) {
  elsewhere_ = any_gradients && !has_gradients_;
  held_.reset();
  Decide(Fact::kNone);
  EndInferredStages();
  std::stable_sort(edits_.begin(), edits_.end(), [](const NamingEdit& a, const NamingEdit& b) {
    return std::pair(a.before, a.rank) < std::pair(b.before, b.rank);
  });
  return std::move(edits_);
}

}  // namespace gpubound
