// SPDX-License-Identifier: Apache-2.0
//
// What the text calls a process by: its pid, with several hosts, as of ranks in containers which all
// have one pid, its host too, and in a run of several ranks its rank. Pure.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_TEXT_PID_TEXT_H_
#define GPUBOUND_ANALYSIS_OUTPUT_TEXT_PID_TEXT_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "analysis/base/short_name.h"
#include "analysis/base/text_table.h"

namespace gpubound {

class PidText {
 public:
  // |processes|: of a run; each has |host|, |pid| and |rank|.
  template <typename Processes>
  PidText(const Processes& processes, bool unicode) : unicode_(unicode) {
    several_hosts_ = std::any_of(processes.begin(), processes.end(), [&](const auto& process) {
      return process.host != processes.front().host;
    });
    std::set<int64_t> ranks;
    for (const auto& process : processes) {
      if (!process.rank) continue;
      ranks_[{process.host, process.pid}] = *process.rank;
      ranks.insert(*process.rank);
    }
    if (ranks.size() < 2) ranks_.clear();
  }

  // "4711", "4711 on node1", or with ", rank 3" after it.
  std::string Of(int64_t pid, const std::string& host) const {
    const auto rank = ranks_.find({host, pid});
    return std::to_string(pid) + On(host) +
           (rank == ranks_.end() ? "" : ", rank " + std::to_string(rank->second));
  }

  // Nothing, or " on node1".
  std::string On(const std::string& host) const {
    if (!several_hosts_) return {};
    return " on " + ShortName(EscapeName(host), kLongestHost, unicode_);
  }

  // "4711 on GPU 0", or "4711 on node1, GPU 0".
  std::string With(int64_t pid, const std::string& host, const std::string& device) const {
    return std::to_string(pid) + On(host) + (several_hosts_ ? ", " : " on ") + device;
  }

 private:
  static constexpr int kLongestHost = 24;                     // beside the figures of a table
  std::map<std::pair<std::string, int64_t>, int64_t> ranks_;  // none: fewer than two
  bool several_hosts_ = false;
  bool unicode_ = false;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_TEXT_PID_TEXT_H_
