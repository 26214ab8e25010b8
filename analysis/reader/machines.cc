// SPDX-License-Identifier: Apache-2.0
//
// Compares boot ids by host name, and ranks with the size of their job. No state.
#include "analysis/reader/machines.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "analysis/base/text_table.h"

namespace gpubound {
namespace {

constexpr size_t kOfBootId = 8;    // characters in a name
constexpr size_t kMostRanges = 8;  // of ranks in a note

// "0, 4 to 7", the first of the numbers below |size| that |present| lacks.
std::string MissingOf(const std::set<int64_t>& present, int64_t size) {
  std::string text;
  size_t ranges = 0;
  int64_t next = 0;
  const auto add = [&](int64_t end) {
    if (end <= next || ++ranges > kMostRanges) return;
    text += (text.empty() ? "" : ", ") + std::to_string(next);
    if (end - next > 1) text += (end - next == 2 ? ", " : " to ") + std::to_string(end - 1);
  };
  for (const int64_t rank : present) {
    add(rank);
    next = rank + 1;
  }
  add(size);
  return text + (ranges > kMostRanges ? " and others" : "");
}

}  // namespace

std::string MachineNames::Of(const std::string& host, const std::string& boot_id) {
  if (boot_id.empty() || keeps_.try_emplace(host, boot_id).first->second == boot_id) return host;
  return host + "#" + boot_id.substr(0, kOfBootId);
}

std::string NoteOnSharedName(const std::string& host, size_t machines) {
  return FormatCount(machines) + " machines are called " + host + ". All but one of them are " +
         host + "# and the begin of their boot id here.";
}

void SeparateMachines(std::set<ProcessIdentity>* running, Run* run) {
  MachineNames names;
  if (run->info) names.Of(run->info->host, run->info->boot_id);
  std::map<std::string, std::set<std::string>> renamed;
  for (ProcessTrace& process : run->processes) {
    std::string& host = process.identity.host;
    const std::string name = names.Of(host, process.boot_id);
    if (name == host) continue;
    renamed[host].insert(name);
    const bool runs = running->erase(process.identity) != 0;
    host = name;
    if (runs) running->insert(process.identity);
  }
  if (renamed.empty()) return;
  std::stable_sort(
      run->processes.begin(), run->processes.end(),
      [](const ProcessTrace& a, const ProcessTrace& b) { return a.identity < b.identity; });
  for (const auto& [host, given] : renamed) {
    run->problems.push_back(NoteOnSharedName(host, given.size() + 1));
  }
}

void NoteMissingRanks(Run* run) {
  using Job = std::pair<std::string, int64_t>;  // variable, size
  std::map<Job, std::set<int64_t>> jobs;
  for (const ProcessTrace& process : run->processes) {
    if (!process.job) continue;
    jobs[{process.job->variable, process.job->world_size}].insert(process.job->rank);
  }
  for (const auto& [job, ranks] : jobs) {
    const auto& [variable, size] = job;
    const uint64_t missing = static_cast<uint64_t>(size) - ranks.size();
    if (missing == 0) continue;
    run->Count(LedgerCounter::ranks_missing) += missing;
    run->problems.push_back("Of the " + FormatCount(static_cast<uint64_t>(size)) +
                            " ranks of the job (" + variable + ") " + FormatCount(missing) +
                            (missing == 1 ? " is" : " are") +
                            " not here: " + MissingOf(ranks, size) +
                            ". Record all nodes into one run directory, or copy theirs into it; "
                            "until then this is a part of the job.");
  }
}

}  // namespace gpubound
