// SPDX-License-Identifier: Apache-2.0
//
// Goes from one begin or end of a wait to the next. One object a call.
#include "analysis/wait_circles.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "analysis/strong_components.h"

namespace gpubound {
namespace {

constexpr size_t kNone = std::numeric_limits<size_t>::max();

// The waits of a process that inherits nothing yet. Where sums were resumed in the midst of a wait,
// its begin is told under what was inherited until then.
std::vector<NamedWait> WithoutHeritage(const std::vector<NamedWait>& waits) {
  std::vector<NamedWait> plain;
  std::map<int64_t, size_t> begun;  // by pid, in |plain|
  for (const NamedWait& wait : waits) {
    const auto found = begun.find(wait.pid);
    if (found != begun.end() && plain[found->second].time.end_ns == wait.time.begin_ns) {
      plain[found->second].time.end_ns = wait.time.end_ns;
      begun.erase(found);
      continue;
    }
    if (wait.under_operation()) begun[wait.pid] = plain.size();
    plain.push_back(wait);
  }
  return plain;
}

class Circle {
 public:
  Circle(const std::vector<CircleMember>& members, const std::vector<NamedWait>& outside)
      : members_(members), heirs_(members.size()), inherited_(members.size()) {
    for (size_t m = 0; m < members.size(); ++m) {
      if (!members[m].any_operation) heirs_of_[members[m].pid].push_back(m);
    }
    for (const NamedWait& wait : outside) AddWait(wait, wait.waiter, kNone);
    for (size_t m = 0; m < members.size(); ++m) AddMember(m);
    std::sort(edges_.begin(), edges_.end());
  }

  std::vector<std::vector<NamedWait>> Run() {
    if (!any_operation_) return std::move(inherited_);  // nobody has anything to leave
    for (size_t i = 0; i < edges_.size();) {
      const int64_t now_ns = edges_[i].time_ns;
      for (; i < edges_.size() && edges_[i].time_ns == now_ns; ++i) Apply(edges_[i]);
      Settle(now_ns);
    }
    return std::move(inherited_);
  }

 private:
  struct Wait {
    int64_t pid;
    int64_t begin_ns;
    size_t waiter;  // in the run
    size_t heir;    // the member under whose inherited operation it is; kNone: |operation|
    std::string operation;
  };
  // A wait, or the span of a member, begins or ends.
  struct Edge {
    int64_t time_ns;
    bool ends;
    bool of_span;
    size_t index;
    bool operator<(const Edge& other) const {  // a span without length has ended
      return std::tie(time_ns, ends, of_span, index) <
             std::tie(other.time_ns, other.ends, other.of_span, other.index);
    }
  };
  // What a member inherits at the moment.
  struct Heir {
    bool lives = false;
    std::string operation = kNoOperation;
    int64_t since_ns = 0;
  };

  void AddWait(const NamedWait& wait, size_t waiter, size_t heir) {
    const bool leaves = heir == kNone ? wait.under_operation() : wait.operation != kSuspended;
    if (!leaves || wait.time.empty() || !heirs_of_.contains(wait.pid)) return;
    any_operation_ |= heir == kNone;
    edges_.push_back({wait.time.begin_ns, false, false, waits_.size()});
    edges_.push_back({wait.time.end_ns, true, false, waits_.size()});
    waits_.push_back({wait.pid, wait.time.begin_ns, waiter, heir, wait.operation});
  }

  void AddMember(size_t m) {
    const CircleMember& member = members_[m];
    if (member.any_operation) {
      for (const NamedWait& wait : *member.waits) AddWait(wait, member.process, kNone);
      return;
    }
    edges_.push_back({member.span.begin_ns, false, true, m});
    edges_.push_back({member.span.end_ns, true, true, m});
    for (const NamedWait& wait : WithoutHeritage(*member.waits)) {
      AddWait(wait, member.process, m);
    }
  }

  void Apply(const Edge& edge) {
    if (edge.of_span) {
      heirs_[edge.index].lives = !edge.ends;
    } else if (edge.ends) {
      open_[waits_[edge.index].pid].erase(edge.index);
    } else {
      open_[waits_[edge.index].pid].insert(edge.index);
    }
  }

  // By member; each is above those that it waits for, but for those in a circle with it.
  std::vector<size_t> Circles() const {
    std::vector<std::vector<size_t>> waits_for(members_.size());
    for (const auto& [pid, open] : open_) {
      for (const size_t wait : open) {
        if (waits_[wait].heir == kNone) continue;
        for (const size_t m : heirs_of_.at(pid)) {
          if (heirs_[m].lives) waits_for[waits_[wait].heir].push_back(m);
        }
      }
    }
    return StrongComponents(waits_for);
  }

  void Settle(int64_t now_ns) {
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
    for (const size_t w : open->second) {
      const Wait& wait = waits_[w];
      int64_t begin_ns = wait.begin_ns;
      const std::string* under = &wait.operation;
      if (outside == (wait.heir != kNone && circles_[wait.heir] == circles_[m])) continue;
      if (wait.heir != kNone) {
        if (!settled_[wait.heir]) continue;
        under = &heirs_[wait.heir].operation;
        begin_ns = std::max(begin_ns, heirs_[wait.heir].since_ns);
      }
      const bool later =
          begin_ns > last.first || (begin_ns == last.first && wait.waiter < last.second);
      if (operation != &none && !later) continue;
      last = {begin_ns, wait.waiter};
      operation = under;
    }
    return *operation;
  }

  void MoveTo(const std::string& operation, int64_t now_ns, size_t m) {
    Heir& heir = heirs_[m];
    if (operation == heir.operation) return;
    if (heir.operation != kNoOperation) {
      inherited_[m].push_back({members_[m].pid, {heir.since_ns, now_ns}, heir.operation});
    }
    heir.operation = operation;
    heir.since_ns = now_ns;
  }

  const std::vector<CircleMember>& members_;
  std::vector<Heir> heirs_;                          // by member
  std::vector<std::vector<NamedWait>> inherited_;    // likewise
  std::map<int64_t, std::vector<size_t>> heirs_of_;  // members that may inherit, by pid
  std::vector<Wait> waits_;
  std::vector<Edge> edges_;
  std::map<int64_t, std::set<size_t>> open_;  // waits by pid
  std::vector<size_t> circles_;               // at the moment
  std::vector<bool> settled_;                 // inherits something at the moment
  bool any_operation_ = false;
};

}  // namespace

std::vector<std::vector<NamedWait>> InheritInCircle(const std::vector<CircleMember>& members,
                                                    const std::vector<NamedWait>& outside) {
  return Circle(members, outside).Run();
}

}  // namespace gpubound
