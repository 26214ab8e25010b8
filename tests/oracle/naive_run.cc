// SPDX-License-Identifier: Apache-2.0
//
// Nothing here is clever on purpose. No state beyond one call.
#include "tests/oracle/naive_run.h"

#include <algorithm>
#include <memory>
#include <set>
#include <sstream>

#include "analysis/trace/row_names.h"

namespace gpubound::oracle {
namespace {

const std::string kNone = "(no operation)";

std::vector<std::string> Words(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

class Oracle {
 public:
  explicit Oracle(const gpubound::Run& run) : run_(run), waits_(run.processes.size()) {
    for (size_t p = 0; p < run.processes.size(); ++p) {
      others_.push_back({AwaitedBy(p), SimulatingFor(p), {}});
      alone_.push_back(BreakDownNaively(run.processes[p], others_[p]));
      const NaiveThreads threads(run.processes[p], others_[p].awaited);
      bare_.push_back(!threads.any_operation());
      for (const auto& [t, did] : alone_[p].did) {
        waits_[p][t] = threads.StateOf(threads.reporting(), t).awaited;
      }
    }
  }

  std::vector<NaiveProcess> Run() {
    std::set<int64_t> instants;
    for (const NaiveBreakdown& process : alone_) {
      for (const auto& [t, did] : process.did) instants.insert(t);
    }
    since_.resize(alone_.size());
    for (const int64_t t : instants) Instant(t);
    std::vector<NaiveProcess> results(alone_.size());
    for (size_t p = 0; p < results.size(); ++p) {
      results[p].breakdown = BreakDownNaively(run_.processes[p], others_[p]);
      results[p].inherits = !others_[p].awaited_under.empty();
    }
    for (size_t p = 0; p < results.size(); ++p) {
      results[p].awaited_at = waits_[p];
      AddWaits(p, &results);
    }
    return results;
  }

 private:
  bool SameHost(size_t a, size_t b) const {
    return run_.processes[a].identity.host == run_.processes[b].identity.host;
  }
  int64_t PidOf(size_t p) const { return run_.processes[p].identity.pid; }

  // Those that |word|, a channel, has at its other end.
  std::set<int64_t> AtOtherEnd(size_t waiter, const std::string& word) const {
    std::set<std::string> ends = {word};
    if (word.rfind("socket:", 0) == 0) ends.clear();
    std::set<int64_t> pids;
    for (const char* domain : {"channel ends", "channel holder"}) {
      for (size_t p = 0; p < run_.processes.size(); ++p) {
        for (const Label& label : run_.processes[p].labels) {
          if (!SameHost(p, waiter) || label.domain != domain) continue;
          const std::vector<std::string> words = Words(label.text);
          if (label.domain == "channel holder") {
            if (ends.count(words[1]) != 0) pids.insert(std::stoll(words[0]));
          } else if (words[0] == word || words[1] == word) {
            ends.insert(words[0] == word ? words[1] : words[0]);
          }
        }
      }
    }
    return pids;
  }

  // Other processes of the run, by the wait label that names them.
  NaiveThreads::Awaited AwaitedBy(size_t p) const {
    NaiveThreads::Awaited awaited;
    const std::vector<Label>& labels = run_.processes[p].labels;
    for (uint32_t id = 0; id < labels.size(); ++id) {
      if (labels[id].layer != Layer::kWait) continue;
      std::set<int64_t> named;
      for (const std::string& word : Words(labels[id].text)) {
        if (labels[id].domain == "process") {
          named.insert(std::stoll(word));
        } else if (word.rfind("process:[", 0) == 0) {
          named.insert(std::stoll(word.substr(word.find('[') + 1)));
        } else if (labels[id].domain == "channel") {
          named.merge(AtOtherEnd(p, word));
        }
      }
      for (size_t other = 0; other < run_.processes.size(); ++other) {
        const int64_t pid = PidOf(other);
        if (SameHost(p, other) && pid != PidOf(p) && named.count(pid) != 0) {
          awaited[id].insert(pid);
        }
      }
    }
    return awaited;
  }

  std::set<int64_t> SimulatingFor(size_t p) const {
    std::set<int64_t> simulating;
    for (size_t other = 0; other < run_.processes.size(); ++other) {
      const ProcessTrace& process = run_.processes[other];
      for (const ThreadTrace& thread : process.threads) {
        for (const ThreadEvent& event : thread.events) {
          if (event.kind != SlotKind::kBegin && event.kind != SlotKind::kRangeStart) continue;
          const Label& label = process.labels[Raw(event.label)];
          const bool simulates =
              label.text == (label.kind == LabelKind::kLayer ? "simulator" : "simulation");
          if (SameHost(p, other) && simulates) simulating.insert(PidOf(other));
        }
      }
    }
    return simulating;
  }

  bool WaitsFor(size_t waiter, size_t p, int64_t t) const {
    const auto found = waits_[waiter].find(t);
    return found != waits_[waiter].end() && SameHost(waiter, p) && PidOf(waiter) != PidOf(p) &&
           alone_[p].did.count(t) != 0 && found->second.count(PidOf(p)) != 0;
  }

  // Whether others have from |p| what it inherits itself.
  bool Bequeaths(size_t p, int64_t t) const {
    const auto alone = alone_[p].did.find(t);
    return bare_[p] && alone != alone_[p].did.end() && alone->second.first == kNone;
  }

  // Whether |p| waits for |other|, or for one that does, through processes that could only inherit.
  bool Hangs(size_t p, size_t other, int64_t t) const {
    std::vector<size_t> reached = {p};
    for (size_t next = 0; next < reached.size(); ++next) {
      for (size_t q = 0; q < bare_.size(); ++q) {
        if (!Bequeaths(reached[next], t) || !WaitsFor(reached[next], q, t)) continue;
        if (q == other) return true;
        if (std::find(reached.begin(), reached.end(), q) == reached.end()) reached.push_back(q);
      }
    }
    return false;
  }

  // The operation under which |p| is at |t|: its own, else the one that it inherits.
  std::string OperationAt(size_t p, int64_t t) const {
    const std::string& own = alone_[p].did.at(t).first;
    if (own != kNone || !bare_[p]) return own;
    const auto inherited = others_[p].awaited_under.find(t);
    return inherited == others_[p].awaited_under.end() ? kNone : inherited->second;
  }

  // Since when |p| has been waiting for the same ones under the same operation.
  int64_t WaitingSince(size_t p, int64_t t) const {
    const auto before = waits_[p].find(t - 1);
    const bool goes_on = before != waits_[p].end() && before->second == waits_[p].at(t) &&
                         OperationAt(p, t - 1) == OperationAt(p, t);
    return goes_on ? since_[p] : t;
  }

  // The operation of the wait for |p| that began last, of those by |waiters|.
  std::string Newest(size_t p, const std::vector<size_t>& waiters, int64_t t) const {
    std::string under = kNone;
    int64_t latest = INT64_MIN;
    for (const size_t waiter : waiters) {
      if (!WaitsFor(waiter, p, t)) continue;
      const std::string operation = OperationAt(waiter, t);
      const int64_t since = WaitingSince(waiter, t);
      if (operation == kNone || since <= latest) continue;
      latest = since;
      under = operation;
    }
    return under;
  }

  // What |p| inherits at |t|, and with it those that it is in a circle with.
  void Settle(size_t p, int64_t t, std::set<size_t>* settled) {
    if (!bare_[p] || alone_[p].did.count(t) == 0 || settled->count(p) != 0) return;
    std::vector<size_t> circle;
    std::vector<size_t> outside;
    for (size_t q = 0; q < bare_.size(); ++q) {
      const bool with = q == p || (bare_[q] && Hangs(p, q, t) && Hangs(q, p, t));
      (with ? circle : outside).push_back(q);
    }
    settled->insert(circle.begin(), circle.end());
    for (const size_t member : circle) {
      for (const size_t waiter : outside) {
        if (WaitsFor(waiter, member, t)) Settle(waiter, t, settled);
      }
    }
    Inherit(circle, outside, t);
    while (Inherit(circle, circle, t)) continue;
  }

  // Of |circle| those that nobody has left anything to yet, all at once. Whether anyone has now.
  bool Inherit(const std::vector<size_t>& circle, const std::vector<size_t>& waiters, int64_t t) {
    std::map<size_t, std::string> fresh;
    for (const size_t p : circle) {
      const std::string under = Newest(p, waiters, t);
      if (under != kNone && others_[p].awaited_under.count(t) == 0) fresh[p] = under;
    }
    for (const auto& [p, under] : fresh) others_[p].awaited_under[t] = under;
    return !fresh.empty();
  }

  void Instant(int64_t t) {
    std::set<size_t> settled;
    for (size_t p = 0; p < bare_.size(); ++p) Settle(p, t, &settled);
    std::vector<int64_t> since(bare_.size());
    for (size_t p = 0; p < bare_.size(); ++p) {
      if (waits_[p].count(t) != 0) since[p] = WaitingSince(p, t);
    }
    since_ = since;
  }

  bool IsRoot(size_t p) const {
    for (size_t other = 0; other < run_.processes.size(); ++other) {
      const bool earlier =
          run_.processes[other].span_begin_ns < run_.processes[p].span_begin_ns ||
          (run_.processes[other].span_begin_ns == run_.processes[p].span_begin_ns && other < p);
      if (SameHost(p, other) && PidOf(other) == PidOf(p) && earlier) return false;
    }
    return run_.processes[p].identity.host == run_.info->host && PidOf(p) == run_.info->root_pid;
  }

  void AddWaits(size_t p, std::vector<NaiveProcess>* results) const {
    NaiveProcess& result = (*results)[p];
    for (const auto& [t, pids] : waits_[p]) {
      if (pids.empty()) continue;
      const std::string& operation = result.breakdown.did.at(t).first;
      std::string text;
      for (const int64_t pid : pids) text += (text.empty() ? "" : " ") + std::to_string(pid);
      ++result.waits[text + "|" + operation];
      if (result.inherits || (operation == kNone && !IsRoot(p))) continue;
      for (const int64_t pid : pids) {
        const std::string key = std::to_string(pid) + "|" + operation;
        ++result.awaited[key];
        for (size_t other = 0; other < results->size(); ++other) {
          if (!WaitsFor(p, other, t) || PidOf(other) != pid) continue;
          const auto& [its_operation, layer] = (*results)[other].breakdown.did.at(t);
          ++result.meanwhile[key + "|" + its_operation + "|" + layer];
        }
      }
    }
  }

  const gpubound::Run& run_;
  std::vector<Surroundings> others_;
  std::vector<NaiveBreakdown> alone_;                        // without what is inherited
  std::vector<bool> bare_;                                   // opens no operation
  std::vector<std::map<int64_t, std::set<int64_t>>> waits_;  // for whom, by instant of the span
  std::vector<int64_t> since_;                               // WaitingSince() an instant before
};

}  // namespace

std::vector<NaiveProcess> BreakDownNaively(const gpubound::Run& run) { return Oracle(run).Run(); }

}  // namespace gpubound::oracle
