// SPDX-License-Identifier: Apache-2.0
//
// Joins waits with holders over all processes of a host. No state.
#include "analysis/reader/wait_channels.h"

#include <charconv>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/trace/label_roles.h"

namespace gpubound {
namespace {

constexpr std::string_view kProcessPrefix = "process:[";

std::vector<std::string> Words(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

// What |text| begins with as a number; 0, which is no pid, where it does not.
int64_t NumberAtBegin(std::string_view text) {
  int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// What the processes of one host say about their channels.
struct ChannelHost {
  std::set<int64_t> pids;                            // of the run
  std::map<std::string, std::set<int64_t>> holders;  // by end
  std::map<std::string, std::string> other_end;      // of sockets

  void Learn(const Label& label) {
    const std::vector<std::string> words = Words(label.text);
    if (words.size() != 2) return;
    if (label.domain == kChannelHolderDomain) {
      holders[words[1]].insert(NumberAtBegin(words[0]));
    } else if (label.domain == kChannelEndsDomain) {
      other_end[words[0]] = words[1];
      other_end[words[1]] = words[0];
    }
  }

  // Whom somebody who waits for |word| waits for.
  std::set<int64_t> Awaited(const std::string& word) const {
    if (word.starts_with(kProcessPrefix)) {
      return {NumberAtBegin(std::string_view(word).substr(kProcessPrefix.size()))};
    }
    const auto other = other_end.find(word);
    const bool is_socket = word.starts_with("socket:");
    if (is_socket && other == other_end.end()) return {};
    const auto found = holders.find(is_socket ? other->second : word);
    return found == holders.end() ? std::set<int64_t>() : found->second;
  }
};

// The pids in |label|'s text, with a blank between each two; empty where it names nobody else.
std::string AwaitedBy(int64_t own_pid, const Label& label, const ChannelHost& host) {
  std::set<int64_t> awaited;
  for (const std::string& word : Words(label.text)) awaited.merge(host.Awaited(word));
  std::string text;
  for (const int64_t pid : awaited) {
    if (pid == own_pid || !host.pids.contains(pid)) continue;
    text += (text.empty() ? "" : " ") + std::to_string(pid);
  }
  return text;
}

}  // namespace

void NameAwaitedProcesses(Run* run) {
  std::map<std::string, ChannelHost> hosts;
  for (const ProcessTrace& process : run->processes) {
    ChannelHost& host = hosts[process.identity.host];
    host.pids.insert(process.identity.pid);
    for (const Label& label : process.labels) {
      if (label.kind == LabelKind::kLayer) host.Learn(label);
    }
  }
  for (ProcessTrace& process : run->processes) {
    const ChannelHost& host = hosts[process.identity.host];
    for (Label& label : process.labels) {
      if (label.kind != LabelKind::kLayer || label.domain != kChannelDomain) continue;
      const std::string awaited = AwaitedBy(process.identity.pid, label, host);
      if (awaited.empty()) continue;
      label.domain = kPeerDomain;
      label.text = awaited;
    }
  }
}

}  // namespace gpubound
