// SPDX-License-Identifier: Apache-2.0
//
// Finds the help, then goes along it and the reporting thread's own changes at once. One object,
// one caller.
#include "analysis/timeline/refinement.h"

#include <algorithm>
#include <bit>

#include "analysis/timeline/merge_runs.h"

namespace gpubound {
namespace {

constexpr int kDepthLayerShift = 5;
constexpr int kDepthAdoptsShift = 4;
static_assert(kIdleCauses <= size_t{1} << kDepthAdoptsShift);

// Stretches that are looked at one by one before they are searched.
constexpr size_t kNear = 8;

// Nothing lies deeper.
constexpr auto kNoLayer = static_cast<Layer>(static_cast<uint8_t>(Layer::kCudaApi) + 1);

// The least layer to which a reporting thread in |own| is refined.
constexpr Layer LeastHelp(Layer own) {
  if (own == Layer::kPython) return kNoLayer;
  return std::max(Layer::kWait, static_cast<Layer>(static_cast<uint8_t>(own) + 1));
}

// On a queue or a lock, say, that another thread of the process may fill or hold.
constexpr bool WaitsForNobodyKnown(const Doing& own) {
  return own.cause() == IdleCause::kWaiting && !own.HasPeer();
}

}  // namespace

void Refinement::Open(std::span<const ThreadChange> own, bool starting) {
  own_ = own;
  starting_ = starting;
  least_ = kNoLayer;
  waits_ = false;
  for (const ThreadChange& change : own) {
    least_ = std::min(least_, LeastHelp(change.doing.layer()));
    waits_ |= WaitsForNobodyKnown(change.doing);
  }
  help_.clear();
  run_ends_.clear();
}

// The last one that begins by |time_ns|, from |from| on.
const ThreadChange* Refinement::StretchAt(int64_t time_ns, const ThreadChange* from) const {
  const ThreadChange* const end = own_.data() + own_.size();
  // Threads that change about as often as the reporting one find it here.
  for (size_t near = 0; near < kNear; ++near, ++from) {
    if (from + 1 == end || from[1].time_ns > time_ns) return from;
  }
  ptrdiff_t step = 1;
  while (end - from > step && from[step].time_ns <= time_ns) {
    from += step;
    step *= 2;
  }
  const ThreadChange* const behind = std::upper_bound(
      from, from + std::min(step, end - from), time_ns,
      [](int64_t time, const ThreadChange& change) { return time < change.time_ns; });
  return behind - 1;
}

void Refinement::Add(bool adopts, const Doing& at_begin, std::span<const ThreadChange> changes) {
  Doing doing = at_begin;
  int64_t from_ns = own_.front().time_ns;
  const ThreadChange* stretch = own_.data();
  const ThreadChange* const last_stretch = stretch + own_.size() - 1;
  Depth given = 0;
  const auto give = [&](int64_t time_ns, Depth depth) {
    if (depth != given) help_.push_back({time_ns, given, depth});
    given = depth;
  };
  const ThreadChange* next = changes.data();
  const ThreadChange* const end = next + changes.size();
  const auto explains = [this](const Doing& other) {
    return waits_ && other.cause() == IdleCause::kSimulation;
  };
  for (;;) {
    if (doing.layer() < least_ && !explains(doing)) {
      give(from_ns, 0);
      // Most of what threads do is no help to anybody.
      while (next != end && next->doing.layer() < least_ && !explains(next->doing)) ++next;
    } else {
      const int64_t until_ns = next != end ? next->time_ns : kOpenEnded;
      const OperationIndex operation =
          doing.operation() == kNotOne ? kNoOperationIndex : doing.operation();
      const auto depth = static_cast<Depth>(static_cast<size_t>(doing.layer()) << kDepthLayerShift |
                                            (adopts ? size_t{1} << kDepthAdoptsShift : 0) |
                                            static_cast<size_t>(doing.cause()));
      const auto aside =
          static_cast<Depth>(explains(doing) ? IdleCause::kSimulation : IdleCause::kUnknown);
      stretch = StretchAt(from_ns, stretch);
      for (;; ++stretch) {
        const Doing& of = stretch->doing;
        const bool helps =
            (adopts || operation == of.operation()) && doing.layer() >= LeastHelp(of.layer());
        const Depth given_there = helps ? depth : WaitsForNobodyKnown(of) ? aside : Depth{0};
        give(std::max(from_ns, stretch->time_ns), given_there);
        if (stretch == last_stretch || stretch[1].time_ns >= until_ns) break;
      }
    }
    if (next == end) break;
    doing = next->doing;
    from_ns = next->time_ns;
    ++next;
  }
  const size_t last_end = run_ends_.empty() ? 0 : run_ends_.back();
  if (help_.size() != last_end) run_ends_.push_back(help_.size());
}

void Refinement::OrderHelp() {
  const int64_t begin_ns = own_.front().time_ns;
  order_.resize(help_.size());
  for (size_t place = 0; place < help_.size(); ++place) {
    order_[place] = static_cast<uint64_t>(help_[place].time_ns - begin_ns) << kPlaceBits | place;
  }
  MergeRuns(&order_, &run_ends_, &merge_scratch_);
  helpers_.fill(0);
  present_.fill(0);
  helping_ = 0;
}

void Refinement::Apply(const Help& help) {
  if (help.before != 0) {
    --helping_;
    if (--helpers_[help.before] == 0) {
      present_[help.before / 64] &= ~(uint64_t{1} << help.before % 64);
    }
  }
  if (help.now != 0) {
    ++helping_;
    ++helpers_[help.now];
    present_[help.now / 64] |= uint64_t{1} << help.now % 64;
  }
}

// Some thread helps.
Doing Refinement::RefinedSlowPath(const Doing& own) const {
  size_t word = present_.size() - 1;
  while (present_[word] == 0) --word;
  const size_t deepest = word * 64 + 63 - static_cast<size_t>(std::countl_zero(present_[word]));
  const auto layer = static_cast<Layer>(deepest >> kDepthLayerShift);
  if (layer == Layer::kUnset) return own.WithCause(IdleCause::kSimulation);
  if (SaysAll(own.cause())) return own.With(layer, own.cause());
  const auto cause = static_cast<IdleCause>(deepest & ((size_t{1} << kDepthAdoptsShift) - 1));
  return own.With(layer, starting_ && !SaysAll(cause) ? IdleCause::kStartUp : cause);
}

Doing Refinement::Resolve(PlainList<ThreadChange>* changes) {
  changes->clear();
  OrderHelp();
  const uint64_t* help = order_.data();
  const uint64_t* const help_end = help + order_.size();
  const auto help_ns = [&] {
    return help != help_end ? help_[*help & kPlaceMask].time_ns : kOpenEnded;
  };
  const ThreadChange* own = own_.data();
  const ThreadChange* const own_end = own + own_.size();
  const int64_t begin_ns = own->time_ns;
  for (; help_ns() == begin_ns; ++help) Apply(help_[*help & kPlaceMask]);
  Doing by_own = own++->doing;
  const Doing at_begin = Refined(by_own);
  Doing last = at_begin;
  const auto turn_to = [&](int64_t time_ns, const Doing& doing) {
    if (doing != last) changes->push_back({time_ns, doing});
    last = doing;
  };
  for (;;) {
    const int64_t next_help_ns = help_ns();
    // While nobody helps, the reporting thread says all.
    if (helping_ == 0) {
      for (; own != own_end && own->time_ns < next_help_ns; ++own) {
        by_own = own->doing;
        turn_to(own->time_ns, by_own);
      }
    }
    const int64_t now_ns = own != own_end ? std::min(own->time_ns, next_help_ns) : next_help_ns;
    if (now_ns == kOpenEnded) return at_begin;
    if (own != own_end && own->time_ns == now_ns) by_own = own++->doing;
    for (; help_ns() == now_ns; ++help) Apply(help_[*help & kPlaceMask]);
    turn_to(now_ns, Refined(by_own));
  }
}

}  // namespace gpubound
