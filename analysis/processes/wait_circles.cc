// SPDX-License-Identifier: Apache-2.0
//
// Goes from one begin or end of a wait to the next. One object a call.
#include "analysis/processes/wait_circles.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "analysis/base/strong_components.h"
#include "analysis/processes/wait_merge.h"
#include "analysis/trace/row_names.h"

namespace gpubound {
namespace {

constexpr size_t kNone = std::numeric_limits<size_t>::max();

// The waits of a process that inherits nothing yet. Where sums were resumed in the midst of a wait,
// its begin is told under what was inherited until then.
std::vector<TimeUnder> WithoutHeritage(const WaitList& list) {
  std::vector<TimeUnder> plain;
  bool begun = false;  // the last one
  for (const TimeUnder& wait : list.waits->times) {
    if (begun && plain.back().time.end_ns == wait.time.begin_ns) {
      plain.back().time.end_ns = wait.time.end_ns;
      begun = false;
      continue;
    }
    begun = IsLeft(list.OperationOf(wait));
    plain.push_back(wait);
  }
  return plain;
}

class Circle {
 public:
  explicit Circle(const std::vector<CircleMember>& members)
      : members_(members), heirs_(members.size()), bequests_(members.size()) {
    for (size_t m = 0; m < members.size(); ++m) {
      if (!members[m].any_operation) heirs_of_[members[m].pid].push_back(m);
    }
    std::set<const GroupWaits*> known;
    for (size_t m = 0; m < members.size(); ++m) {
      if (members[m].any_operation) continue;
      for (const WaitList& list : members[m].outside) {
        if (known.insert(list.waits).second) AddList(list, kNone);
      }
    }
    for (size_t m = 0; m < members.size(); ++m) AddMember(m);
    std::sort(spans_.begin(), spans_.end());
  }

  std::vector<Heritage> Run() {
    if (any_operation_) Settle();  // else nobody has anything to leave
    std::vector<Heritage> inherited;
    for (Bequest& bequest : bequests_) inherited.push_back(bequest.Take());
    return inherited;
  }

 private:
  // Waits of one process for the same others.
  struct List {
    WaitList waits;
    size_t heir;  // the member under whose inherited operation they are; kNone: their own
    std::vector<int64_t> pids;        // of heirs among those others
    const TimeUnder* open = nullptr;  // at the moment
  };
  // The span of a member begins or ends.
  struct SpanEdge {
    int64_t time_ns;
    bool ends;
    size_t member;
    bool operator<(const SpanEdge& other) const {  // a span without length has ended
      return std::tie(time_ns, ends, member) < std::tie(other.time_ns, other.ends, other.member);
    }
  };
  // What a member inherits at the moment.
  struct Heir {
    bool lives = false;
    std::string operation = kNoOperation;
    int64_t since_ns = 0;
  };

  void AddList(const WaitList& waits, size_t heir) {
    List list{waits, heir, {}};
    for (const int64_t pid : waits.waits->pids) {
      if (heirs_of_.contains(pid)) list.pids.push_back(pid);
    }
    if (list.pids.empty()) return;
    const auto leaves = [&waits](const TimeUnder& wait) { return IsLeft(waits.OperationOf(wait)); };
    const std::vector<TimeUnder>* times = &waits.waits->times;
    const bool any_left = std::any_of(times->begin(), times->end(), leaves);
    any_operation_ |= any_left && heir == kNone;
    if (any_left && heir != kNone) times = &resumed_.emplace_back(WithoutHeritage(waits));
    merge_.Add(*times);
    lists_.push_back(std::move(list));
  }

  void AddMember(size_t m) {
    const CircleMember& member = members_[m];
    const size_t heir = member.any_operation ? kNone : m;
    for (const GroupWaits& group : member.waits->groups) {
      AddList({member.process, &member.waits->operations, &group}, heir);
    }
    if (member.any_operation) return;
    spans_.push_back({member.span.begin_ns, false, m});
    spans_.push_back({member.span.end_ns, true, m});
  }

  // From one begin or end to the next.
  void Settle() {
    for (size_t span = 0; span < spans_.size() || !merge_.done();) {
      int64_t now_ns = merge_.done() ? INT64_MAX : merge_.next_ns();
      if (span < spans_.size()) now_ns = std::min(now_ns, spans_[span].time_ns);
      for (; span < spans_.size() && spans_[span].time_ns == now_ns; ++span) {
        heirs_[spans_[span].member].lives = !spans_[span].ends;
      }
      while (!merge_.done() && merge_.next_ns() == now_ns) Apply(merge_.Next());
      SettleAt(now_ns);
    }
  }

  void Apply(const WaitMerge::Edge& edge) {
    List& list = lists_[edge.list];
    const std::string& operation = list.waits.OperationOf(*edge.wait);
    if (list.heir == kNone && !IsLeft(operation)) return;
    list.open = edge.wait;
    for (const int64_t pid : list.pids) {
      if (edge.ends) {
        open_[pid].erase(edge.list);
      } else {
        open_[pid].insert(edge.list);
      }
    }
  }

  // By member; each is above those that it waits for, but for those in a circle with it.
  std::vector<size_t> Circles() const {
    std::vector<std::vector<size_t>> waits_for(members_.size());
    for (const auto& [pid, open] : open_) {
      for (const size_t list : open) {
        if (lists_[list].heir == kNone) continue;
        for (const size_t m : heirs_of_.at(pid)) {
          if (heirs_[m].lives) waits_for[lists_[list].heir].push_back(m);
        }
      }
    }
    return StrongComponents(waits_for);
  }

  void SettleAt(int64_t now_ns) {
    circles_ = Circles();
    settled_.assign(members_.size(), false);
    std::vector<size_t> order;
    for (size_t m = 0; m < members_.size(); ++m) {
      if (!members_[m].any_operation) order.push_back(m);
    }
    const auto above = [this](size_t a, size_t b) { return circles_[a] > circles_[b]; };
    std::sort(order.begin(), order.end(), above);
    for (size_t i = 0; i < order.size();) {
      std::vector<size_t> circle;
      for (const size_t of = circles_[order[i]]; i < order.size() && circles_[order[i]] == of;
           ++i) {
        circle.push_back(order[i]);
      }
      SettleCircle(std::move(circle), now_ns);
    }
  }

  // First those have something for whom somebody outside of the circle waits; the others from them,
  // and so on.
  void SettleCircle(std::vector<size_t> left, int64_t now_ns) {
    for (bool outside = true;; outside = false) {
      std::vector<std::pair<size_t, std::string>> fresh;
      for (const size_t m : left) {
        const std::string& operation = Inherited(m, outside);
        if (operation != kNoOperation) fresh.emplace_back(m, operation);
      }
      for (const auto& [m, operation] : fresh) {
        MoveTo(operation, now_ns, m);
        settled_[m] = true;
      }
      std::erase_if(left, [this](size_t m) { return settled_[m]; });
      if (left.empty() || (fresh.empty() && !outside)) break;
    }
    for (const size_t m : left) MoveTo(kNoOperation, now_ns, m);
  }

  // Of the waits for |m| from |outside| of its circle, or from within, the one begun last; of those
  // begun at once that of the first process.
  const std::string& Inherited(size_t m, bool outside) const {
    static const std::string none = kNoOperation;
    const std::string* operation = &none;
    const auto open = open_.find(members_[m].pid);
    if (!heirs_[m].lives || open == open_.end()) return none;
    std::pair<int64_t, size_t> last{INT64_MIN, 0};  // begin, process
    for (const size_t l : open->second) {
      const List& list = lists_[l];
      int64_t begin_ns = list.open->time.begin_ns;
      const std::string* under = &list.waits.OperationOf(*list.open);
      if (outside == (list.heir != kNone && circles_[list.heir] == circles_[m])) continue;
      if (list.heir != kNone) {
        if (!settled_[list.heir]) continue;
        under = &heirs_[list.heir].operation;
        begin_ns = std::max(begin_ns, heirs_[list.heir].since_ns);
      }
      const bool later =
          begin_ns > last.first || (begin_ns == last.first && list.waits.waiter < last.second);
      if (operation != &none && !later) continue;
      last = {begin_ns, list.waits.waiter};
      operation = under;
    }
    return *operation;
  }

  void MoveTo(const std::string& operation, int64_t now_ns, size_t m) {
    Heir& heir = heirs_[m];
    if (operation == heir.operation) return;
    if (heir.operation != kNoOperation) {
      bequests_[m].Add({heir.since_ns, now_ns}, heir.operation);
    }
    heir.operation = operation;
    heir.since_ns = now_ns;
  }

  const std::vector<CircleMember>& members_;
  std::vector<Heir> heirs_;                          // by member
  std::vector<Bequest> bequests_;                    // likewise
  std::map<int64_t, std::vector<size_t>> heirs_of_;  // members that may inherit, by pid
  std::vector<SpanEdge> spans_;
  std::vector<List> lists_;
  std::deque<std::vector<TimeUnder>> resumed_;  // of lists, where they are not as they were told
  WaitMerge merge_;                             // of |lists_|
  std::map<int64_t, std::set<size_t>> open_;    // lists in which a wait is open, by pid
  std::vector<size_t> circles_;                 // at the moment
  std::vector<bool> settled_;                   // inherits something at the moment
  bool any_operation_ = false;
};

}  // namespace

std::vector<Heritage> InheritInCircle(const std::vector<CircleMember>& members) {
  return Circle(members).Run();
}

}  // namespace gpubound
