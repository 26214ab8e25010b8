// SPDX-License-Identifier: Apache-2.0
//
// Nothing here is clever on purpose. No state beyond one call.
#include "tests/oracle/naive_roles.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "tests/oracle/naive_run.h"

namespace gpubound::oracle {
namespace {

const std::string kNone = "(no operation)";
// In the order in which data flows.
const std::vector<std::string> kRoles = {"environment", "rollout", "reward", "data", "train"};
// In the order in which they count.
const std::vector<std::string> kBubbles = {
    "starved", "blocked", "tail", "weight sync", "environment or reward", "start-up", "other"};

template <typename T>
size_t PlaceIn(const std::vector<T>& all, const T& one) {
  return static_cast<size_t>(std::find(all.begin(), all.end(), one) - all.begin());
}
bool IsRole(const std::string& word) { return PlaceIn(kRoles, word) < kRoles.size(); }

class Oracle {
 public:
  Oracle(const gpubound::Run& run, const Interval& window)
      : run_(run), window_(window), processes_(BreakDownNaively(run)) {}

  std::map<std::string, int64_t> Go() {
    FindRoles();
    FindRollouts();
    for (int64_t t = window_.begin_ns; t < window_.end_ns; ++t) Instant(t);
    std::set<std::string> roles;
    for (const auto& [key, ns] : of_process_) roles.insert(key.second);
    if (roles.size() < 2) return {};
    int64_t perfect = 0;
    for (const auto& [key, ns] : active_) perfect = std::max(perfect, ns);
    for (const auto& [device, ns] : busy_) perfect = std::max(perfect, ns);
    figures_["perfect"] = perfect;
    for (const auto& [key, ns] : of_process_) {
      figures_[std::to_string(key.first) + " " + key.second] = ns;
    }
    for (const auto& [key, ns] : active_) {
      figures_[std::to_string(key.first) + " " + key.second + " active"] = ns;
    }
    AddTails();
    std::erase_if(figures_, [](const auto& figure) { return figure.second == 0; });
    return figures_;
  }

 private:
  size_t Count() const { return processes_.size(); }
  bool IsThere(size_t p, int64_t t) const {
    return run_.processes[p].span_begin_ns <= t && t < run_.processes[p].span_end_ns;
  }
  const std::string& OperationAt(size_t p, int64_t t) const {
    return processes_[p].breakdown.did.at(t).first;
  }
  bool Waits(size_t p, int64_t t) const {
    return processes_[p].breakdown.did.at(t).second == "wait";
  }
  bool StartsUp(size_t p, int64_t t) const {
    return processes_[p].breakdown.cause.at(t) == "start-up";
  }
  bool Syncs(size_t p, int64_t t) const {
    return !StartsUp(p, t) && OperationAt(p, t) == "weight_sync";
  }
  bool MakesSamples(size_t p, int64_t t) const {
    if (StartsUp(p, t) || Syncs(p, t)) return false;
    return OperationAt(p, t) == "reward" || processes_[p].breakdown.cause.at(t) == "simulation";
  }

  // --- Which role ---

  void FindRoles() {
    for (size_t p = 0; p < Count(); ++p) {
      const ProcessTrace& process = run_.processes[p];
      std::map<int64_t, std::string> said;  // since when
      if (IsRole(process.role)) said[process.span_begin_ns] = process.role;
      // Records of one instant in the order of threads.
      for (const ThreadTrace& thread : process.threads) {
        for (const ThreadEvent& event : thread.events) {
          if (event.kind != SlotKind::kCounter) continue;
          const std::string& name = process.labels[Raw(event.label)].text;
          const bool inside =
              event.time_ns >= process.span_begin_ns && event.time_ns <= process.span_end_ns;
          if (!inside || name.rfind("role:", 0) != 0 || !IsRole(name.substr(5))) continue;
          said[event.time_ns] = name.substr(5);
        }
      }
      for (int64_t t = process.span_begin_ns; t < process.span_end_ns; ++t) {
        if (said.empty()) {
          roles_[{p, t}] = Inferred(p, processes_[p].breakdown.phase.at(t));
        } else {
          const auto after = said.upper_bound(t);
          roles_[{p, t}] = after == said.begin() ? after->second : std::prev(after)->second;
        }
      }
    }
  }

  std::string MostOf(size_t p, const std::set<std::string>& phases) const {
    int64_t rollout = 0;
    int64_t train = 0;
    int64_t all = 0;
    for (const auto& [t, did] : processes_[p].breakdown.did) {
      if (did.first == kNone || phases.count(processes_[p].breakdown.phase.at(t)) == 0) continue;
      if (did.first == "weight_sync") continue;  // both take part in it
      ++all;
      rollout += did.first == "simulation" || did.first == "inference";
      train += did.first == "update" || did.first == "backpropagation";
    }
    if (all == 0) return "?";
    return 2 * rollout > all ? "rollout" : 2 * train > all ? "train" : "";
  }

  std::string Inferred(size_t p, const std::string& phase) const {
    if (processes_[p].inherits) return "";
    const std::string own = MostOf(p, {phase});
    if (own != "?") return own;
    std::set<std::string> others;
    for (const auto& [t, its] : processes_[p].breakdown.phase) others.insert(MostOf(p, {its}));
    others.erase("?");
    return others.size() == 1 ? *others.begin() : "";
  }

  std::string RoleAt(size_t p, int64_t t) const {
    const auto found = roles_.find({p, t});
    return found == roles_.end() ? "" : found->second;
  }

  // --- Who holds up whom ---

  std::set<size_t> Named(size_t p, int64_t t) const {
    std::set<size_t> named;
    const auto pids = processes_[p].awaited_at.find(t);
    if (!Waits(p, t) || pids == processes_[p].awaited_at.end()) return named;
    for (size_t q = 0; q < Count(); ++q) {
      const ProcessIdentity& its = run_.processes[q].identity;
      const bool other = q != p && its.host == run_.processes[p].identity.host;
      if (other && pids->second.count(its.pid) != 0) named.insert(q);
    }
    return named;
  }
  bool KnowsWhom(size_t p, int64_t t) const {
    const auto pids = processes_[p].awaited_at.find(t);
    return pids != processes_[p].awaited_at.end() && !pids->second.empty();
  }

  std::set<size_t> ClientsOf(size_t p) const {
    std::set<size_t> clients;
    for (size_t q = 0; q < Count(); ++q) {
      for (int64_t t = window_.begin_ns; t < window_.end_ns; ++t) {
        if (IsThere(q, t) && Named(q, t).count(p) != 0) clients.insert(q);
      }
    }
    return clients;
  }

  std::set<size_t> Awaited(size_t p, int64_t t) {
    if (!Waits(p, t)) return {};
    std::set<size_t> awaited;
    if (KnowsWhom(p, t)) {
      awaited = Named(p, t);
    } else if (OperationAt(p, t) == kNone) {
      if (clients_.count(p) == 0) clients_[p] = ClientsOf(p);
      awaited = clients_[p];
    }
    std::erase_if(awaited, [&](size_t q) { return !IsThere(q, t); });
    return awaited;
  }

  std::set<size_t> HoldingUp(size_t p, int64_t t) {
    const std::set<size_t> first = Awaited(p, t);
    std::set<size_t> reached = first;
    for (size_t before = 0; before != reached.size();) {
      before = reached.size();
      for (const size_t q : std::set<size_t>(reached)) {
        reached.merge(Awaited(q, t));
      }
      reached.erase(p);
    }
    std::set<size_t> last;
    for (const size_t q : reached) {
      if (Awaited(q, t).empty()) last.insert(q);
    }
    return last.empty() ? first : last;
  }

  std::string BubbleOf(size_t p, int64_t t) {
    if (StartsUp(p, t)) return "start-up";
    if (Syncs(p, t)) return "weight sync";
    const std::set<size_t> last = HoldingUp(p, t);
    if (last.empty()) return MakesSamples(p, t) ? "environment or reward" : "other";
    std::set<std::string> found;
    const std::string role = RoleAt(p, t);
    for (const size_t q : last) {
      const std::string its = RoleAt(q, t);
      if (Syncs(q, t)) return "weight sync";
      if (its == role) {
        found.insert(role == "rollout" ? "tail" : "other");
      } else if (its == "environment" || its == "reward") {
        found.insert("environment or reward");
      } else if (its.empty()) {
        found.insert(MakesSamples(q, t) ? "environment or reward" : "other");
      } else if (PlaceIn(kRoles, its) < PlaceIn(kRoles, role)) {
        found.insert(its == "rollout" && InTail(t) ? "tail" : "starved");
      } else {
        found.insert("blocked");
      }
    }
    for (const char* bubble : {"tail", "starved", "blocked", "environment or reward"}) {
      if (found.count(bubble) != 0) return bubble;
    }
    return "other";
  }

  // --- Rollouts ---

  bool MayRoll(size_t p, int64_t t) const {
    if (!IsThere(p, t) || RoleAt(p, t) != "rollout" || StartsUp(p, t) || Syncs(p, t)) return false;
    if (!Waits(p, t)) return true;
    std::set<size_t> named = Named(p, t);
    std::erase_if(named, [&](size_t q) { return !IsThere(q, t); });
    if (named.empty()) return OperationAt(p, t) != kNone;
    return std::all_of(named.begin(), named.end(), [&](size_t q) {
      const std::string role = RoleAt(q, t);
      if (role.empty()) return MakesSamples(q, t);
      return role == "environment" || role == "reward";
    });
  }

  bool OpensOperations(size_t p) const {
    for (int64_t t = window_.begin_ns; t < window_.end_ns; ++t) {
      if (!IsThere(p, t) || RoleAt(p, t) != "rollout" || Syncs(p, t)) continue;
      if (OperationAt(p, t) != kNone) return true;
    }
    return false;
  }

  void FindRollouts() {
    std::map<size_t, Interval> parts;  // by process
    std::set<size_t> rolling;          // an instant before
    std::set<size_t> speaking;         // those that open operations
    for (size_t p = 0; p < Count(); ++p) {
      if (OpensOperations(p)) speaking.insert(p);
    }
    int64_t begin = INT64_MIN;
    for (int64_t t = window_.begin_ns; t < window_.end_ns; ++t) {
      bool any = false;
      for (size_t p = 0; p < Count(); ++p) {
        const bool begins = MayRoll(p, t) && (speaking.count(p) == 0 || OperationAt(p, t) != kNone);
        if (!begins && (rolling.count(p) == 0 || !MayRoll(p, t))) {
          rolling.erase(p);
          continue;
        }
        rolling.insert(p);
        any = true;
        if (parts.count(p) == 0) parts[p] = {t, t + 1};
        parts[p].end_ns = t + 1;
      }
      if (any && begin == INT64_MIN) begin = t;
      if (any || begin == INT64_MIN) continue;
      if (parts.size() > 1 && begin > window_.begin_ns) AddRollout({begin, t}, parts);
      parts.clear();
      begin = INT64_MIN;
    }
  }

  void AddRollout(const Interval& time, const std::map<size_t, Interval>& parts) {
    std::vector<int64_t> ends;
    for (const auto& [p, part] : parts) {
      ends.push_back(part.end_ns);
      lengths_.push_back(part.length());
    }
    std::sort(ends.begin(), ends.end());
    const size_t most = std::max<size_t>(1, ends.size() * 9 / 10);
    tails_.push_back({ends[most - 1], time.end_ns});
    figures_["rollouts"] += 1;
    figures_["rollout time"] += time.length();
    figures_["tail time"] += tails_.back().length();
  }

  bool InTail(int64_t t) const {
    return std::any_of(tails_.begin(), tails_.end(),
                       [t](const Interval& tail) { return tail.begin_ns <= t && t < tail.end_ns; });
  }

  void AddTails() {
    if (lengths_.empty()) return;
    std::sort(lengths_.begin(), lengths_.end());
    const auto at = [this](size_t percent) {
      size_t place = 0;  // the first with so many at or before it
      while ((place + 1) * 100 < lengths_.size() * percent) ++place;
      return lengths_[place];
    };
    figures_["parts"] = static_cast<int64_t>(lengths_.size());
    figures_["median"] = at(50);
    figures_["p95"] = at(95);
    figures_["max"] = lengths_.back();
  }

  // --- An instant ---

  bool WorksOn(size_t p, uint32_t device, int64_t t) const {
    const ProcessTrace& process = run_.processes[p];
    return std::any_of(process.device_work.begin(), process.device_work.end(),
                       [&](const DeviceWork& work) {
                         return Raw(process.streams[Raw(work.stream)].device) == device &&
                                work.start_ns <= t && t < work.end_ns;
                       });
  }
  bool Uses(size_t p, uint32_t device) const {
    const ProcessTrace& process = run_.processes[p];
    return std::any_of(process.device_work.begin(), process.device_work.end(),
                       [&](const DeviceWork& work) {
                         return Raw(process.streams[Raw(work.stream)].device) == device;
                       });
  }
  bool IsUnknown(int64_t t) const {
    return std::any_of(run_.processes.begin(), run_.processes.end(), [&](const auto& process) {
      if (t < process.span_begin_ns || t >= process.span_end_ns) return false;
      return std::any_of(process.unknown.begin(), process.unknown.end(), [t](const auto& unknown) {
        return unknown.start_ns <= t && t < unknown.end_ns;
      });
    });
  }
  bool IsActive(size_t p, int64_t t) const {
    if (WorksOn(p, 1, t) || WorksOn(p, 2, t)) return true;
    return !Waits(p, t) && !StartsUp(p, t);
  }

  void Instant(int64_t t) {
    std::set<size_t> active;
    for (size_t p = 0; p < Count(); ++p) {
      const std::string role = RoleAt(p, t);
      if (!IsThere(p, t) || role.empty()) continue;
      ++of_process_[{p, role}];
      active_[{p, role}] += IsActive(p, t);
      if (IsActive(p, t)) active.insert(PlaceIn(kRoles, role));
    }
    std::string together = "active";
    for (const size_t role : active) {
      together += " " + kRoles[role];
      ++figures_["role " + kRoles[role] + " active"];
    }
    ++figures_[together];
    for (uint32_t device = 1; device <= 2; ++device) Device(device, t);
  }

  // Both devices are known to all processes of a host, by a name that is the same on all hosts.
  void Device(uint32_t device, int64_t t) {
    bool busy = false;
    for (size_t p = 0; p < Count(); ++p) busy = busy || WorksOn(p, device, t);
    busy_[device] += busy;
    std::map<std::string, std::pair<bool, size_t>> why;  // by role: whether it waits, and bubble
    for (size_t p = 0; p < Count(); ++p) {
      const std::string role = RoleAt(p, t);
      if (!IsThere(p, t) || role.empty() || !Uses(p, device)) continue;
      const std::pair its{Waits(p, t) || StartsUp(p, t), PlaceIn(kBubbles, BubbleOf(p, t))};
      why[role] = why.count(role) == 0 ? its : std::min(why[role], its);
    }
    for (const auto& [role, bubble] : why) {
      const std::string state = busy ? "busy" : IsUnknown(t) ? "unknown" : kBubbles[bubble.second];
      ++figures_[role + " " + state];
      if (role != "rollout" || !InTail(t)) continue;
      ++figures_["held in tails"];
      figures_["busy in tails"] += busy;
    }
  }

  const gpubound::Run& run_;
  const Interval window_;
  const std::vector<NaiveProcess> processes_;
  std::map<std::pair<size_t, int64_t>, std::string> roles_;       // by process and instant
  std::map<size_t, std::set<size_t>> clients_;                    // once they were asked for
  std::map<std::pair<size_t, std::string>, int64_t> of_process_;  // by process and role
  std::map<std::pair<size_t, std::string>, int64_t> active_;      // likewise
  std::map<uint32_t, int64_t> busy_;                              // by device
  std::vector<Interval> tails_;
  std::vector<int64_t> lengths_;
  std::map<std::string, int64_t> figures_;
};

}  // namespace

std::map<std::string, int64_t> RolesNaively(const gpubound::Run& run, const Interval& window) {
  return Oracle(run, window).Go();
}

}  // namespace gpubound::oracle
