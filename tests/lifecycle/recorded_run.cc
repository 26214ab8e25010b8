// SPDX-License-Identifier: Apache-2.0
//
// A victim's scope is three events: begin of operation "work", counter "index" with the scope's
// number, end. A thread's events must be these, in order, and nothing between them.
#include "tests/lifecycle/recorded_run.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <utility>

#include "tests/ledger_of.h"

namespace gpubound {
namespace {

double AsDouble(uint64_t bits) {
  double value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

bool IsOurs(const Label& label) {
  return (label.kind == LabelKind::kOperation && label.text == "work") ||
         (label.kind == LabelKind::kCounter && label.text == "index");
}

using ThreadKey = std::pair<int64_t, uint32_t>;  // pid, tid

std::string Name(const ThreadKey& key) {
  return "process " + std::to_string(key.first) + " thread " + std::to_string(key.second);
}

// Drops the accounts of processes that have no record, up to |allowed| of them.
template <typename Accounts, typename Records>
void ForgiveUnrecorded(uint64_t allowed, const Records& recorded, Accounts* accounts) {
  for (auto account = accounts->begin(); account != accounts->end();) {
    const int64_t pid = account->first.first;
    const auto record = recorded.lower_bound(ThreadKey{pid, 0});
    const bool has_record = record != recorded.end() && record->first.first == pid;
    if (has_record || allowed == 0) {
      ++account;
    } else {
      --allowed;
      account = accounts->erase(account);
    }
  }
}

// Completed and required counts of each thread, in the order in which it made its accounts.
struct Account {
  uint64_t completed = 0;
  uint64_t required = 0;
};

void Compare(const ThreadKey& key, const std::vector<Account>& accounts,
             const std::vector<RecordedScopes>& recorded, std::vector<std::string>* found) {
  if (accounts.size() != recorded.size()) {
    found->push_back(Name(key) + " kept " + std::to_string(accounts.size()) + " accounts, " +
                     std::to_string(recorded.size()) + " are recorded");
    return;
  }
  for (size_t i = 0; i < accounts.size(); ++i) {
    // A thread that goes on while its process ends may be cut off anywhere.
    const bool cut_off = accounts[i].completed > accounts[i].required;
    if (!recorded[i].disorder.empty() && !cut_off) {
      found->push_back(Name(key) + ": " + recorded[i].disorder);
    }
    if (recorded[i].complete < accounts[i].required ||
        recorded[i].complete > accounts[i].completed + 1) {
      found->push_back(Name(key) + " completed " + std::to_string(accounts[i].completed) +
                       " scopes, " + std::to_string(accounts[i].required) + " of them surely; " +
                       std::to_string(recorded[i].complete) + " are recorded");
    }
  }
}

}  // namespace

RecordedScopes ReadScopes(const ProcessTrace& process, const ThreadTrace& thread) {
  constexpr SlotKind kCycle[] = {SlotKind::kBegin, SlotKind::kCounter, SlotKind::kEnd};
  RecordedScopes scopes;
  size_t step = 0;
  for (const ThreadEvent& event : thread.events) {
    if (!IsOurs(process.LabelOf(event.label))) continue;
    const bool in_order = event.kind == kCycle[step] &&
                          (event.kind != SlotKind::kCounter ||
                           AsDouble(event.payload) == static_cast<double>(scopes.complete));
    if (!in_order) {
      scopes.disorder = "after " + std::to_string(scopes.complete) +
                        " scopes comes a slot of kind " +
                        std::to_string(static_cast<int>(event.kind)) + " with " +
                        std::to_string(AsDouble(event.payload));
      return scopes;
    }
    step = (step + 1) % std::size(kCycle);
    if (step == 0) ++scopes.complete;
  }
  return scopes;
}

std::vector<std::string> Disagreements(const Run& run, const ProgressFile& progress) {
  std::vector<std::string> found;
  std::copy_if(run.problems.begin(), run.problems.end(), std::back_inserter(found),
               [](const std::string& problem) {
                 return problem.find(" could not be recorded") == std::string::npos;
               });
  for (std::string& scopes : ScopeDisagreements(run, progress)) found.push_back(std::move(scopes));
  return found;
}

std::vector<std::string> ScopeDisagreements(const Run& run, const ProgressFile& progress) {
  std::vector<std::string> found;
  std::map<ThreadKey, std::vector<Account>> accounts;
  std::map<ThreadKey, std::vector<RecordedScopes>> recorded;
  for (uint32_t i = 0; i < progress.used; ++i) {
    const ProgressLine& line = progress.lines[i];
    if (line.completed == 0 || line.unrecorded != 0) continue;
    const uint64_t required = line.required == 0 ? line.completed : line.required;
    accounts[{line.pid, static_cast<uint32_t>(line.tid)}].push_back({line.completed, required});
  }
  for (const ProcessTrace& process : run.processes) {  // by pid and start
    for (const ThreadTrace& thread : process.threads) {
      RecordedScopes scopes = ReadScopes(process, thread);
      if (scopes.complete == 0 && scopes.disorder.empty()) continue;
      recorded[{process.identity.pid, thread.tid}].push_back(std::move(scopes));
    }
    for (const LedgerCounter counter :
         {LedgerCounter::scope_events_dropped, LedgerCounter::chunks_corrupt,
          LedgerCounter::chunk_events_lost, LedgerCounter::sink_write_errors,
          LedgerCounter::labels_overflowed}) {
      if (process.Counted(counter) == 0) continue;
      found.push_back("process " + std::to_string(process.identity.pid) + " counted " +
                      LedgerName(counter) + " = " + std::to_string(process.Counted(counter)));
    }
  }
  ForgiveUnrecorded(run.ledger[static_cast<size_t>(LedgerCounter::processes_unrecorded)], recorded,
                    &accounts);
  for (const auto& [key, of_thread] : accounts) Compare(key, of_thread, recorded[key], &found);
  for (const auto& [key, scopes] : recorded) {
    if (accounts.count(key) == 0) found.push_back(Name(key) + " is recorded but kept no account");
  }
  return found;
}

std::vector<std::string> EndsOf(const Run& run) {
  std::vector<std::string> ends;
  for (const ProcessTrace& process : run.processes) ends.push_back(process.end_how);
  std::sort(ends.begin(), ends.end());
  return ends;
}

std::vector<std::string> FilesEndingWith(const std::filesystem::path& directory,
                                         const std::string& suffix) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    const std::string name = entry.path().filename();
    if (name.size() >= suffix.size() &&
        name.compare(name.size() - suffix.size(), suffix.size(), suffix) == 0) {
      names.push_back(name);
    }
  }
  return names;
}

}  // namespace gpubound
