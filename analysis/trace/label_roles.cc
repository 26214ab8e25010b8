// SPDX-License-Identifier: Apache-2.0
//
// Decides what each label of a process means. No state beyond the object.
#include "analysis/trace/label_roles.h"

#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "analysis/trace/late_rank_label.h"
#include "analysis/trace/name_lists.h"
#include "analysis/trace/own_work.h"
#include "analysis/trace/row_names.h"
#include "proto/scope_domains.h"

namespace gpubound {
namespace {

// Dense numbers for names, in order of first use.
class NameTable {
 public:
  explicit NameTable(const std::string& first) { IndexOf(first); }
  uint32_t IndexOf(const std::string& name) {
    const auto [entry, added] = indices_.try_emplace(name, static_cast<uint32_t>(names_.size()));
    if (added) names_.push_back(name);
    return entry->second;
  }
  std::vector<std::string> TakeNames() { return std::move(names_); }

 private:
  std::unordered_map<std::string, uint32_t> indices_;
  std::vector<std::string> names_;
};

bool IsPromoted(const Label& label, const std::vector<std::string>& promoted) {
  if (IsOwnWork(label)) return false;  // what the profiler does is nothing that the program did
  return std::any_of(promoted.begin(), promoted.end(), [&](const std::string& choice) {
    return choice == "all" || choice == "nvtx:" + label.domain;
  });
}

// The recorder stores CUPTI's name of the overhead kind; spelling of case and separators is not
// relied on.
bool IsCommandBufferFull(std::string_view text) {
  std::string plain;
  for (const char c : text) {
    if (c == ' ' || c == '_' || c == '-') continue;
    plain.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
  }
  return plain.find("commandbufferfull") != std::string::npos;
}

IdleCause CauseOfName(const std::string& name) {
  if (CheckpointNames().Matches(name)) return IdleCause::kCheckpoint;
  if (CompileNames().Matches(name)) return IdleCause::kCompile;
  return SimulationNames().Matches(name) ? IdleCause::kSimulation : IdleCause::kUnknown;
}

// Of Python's functions those that wait for any of several files, sockets and times.
// Of a scope of layer wait: by Python's name for the function, or by the recorder's.
bool AwaitsAny(const Label& label) {
  const std::string& name = label.text;
  if (label.domain == kNativeWaitDomain) {
    return name == "poll" || name == "select" || name == "epoll_wait";
  }
  return name.ends_with("Selector.select") || name == "select.select" || name == "epoll.poll";
}

bool Sleeps(const Label& label) {
  return label.domain == kNativeWaitDomain ? label.text == "nanosleep" : label.text == "time.sleep";
}

PeerIndex PeerOf(const Label& label, const std::vector<Peer>& peers) {
  const auto index_of = [&peers](const std::vector<int64_t>& pids) {
    const auto found = std::find_if(peers.begin(), peers.end(),
                                    [&pids](const Peer& peer) { return peer.pids == pids; });
    return found == peers.end() ? kNotOne : static_cast<PeerIndex>(found - peers.begin());
  };
  std::vector<int64_t> pids = AwaitedPids(label);
  std::erase_if(pids, [&index_of](int64_t pid) { return index_of({pid}) == kNotOne; });
  return pids.empty() ? kNotOne : index_of(pids);
}

NamedBy WhoNamed(const Label& label) {
  if (label.domain == kStageDomain || label.domain == kTurnDomain) return NamedBy::kStage;
  if (label.domain != kRulesDomain) return NamedBy::kProgram;
  return label.text == "rollout" || label.text == "update" ? NamedBy::kStage : NamedBy::kRules;
}

// "warmup", "Warm-up", "warm up".
bool IsWarmUpName(std::string_view phase) {
  std::string plain;
  for (const char c : phase) {
    if (c == ' ' || c == '_' || c == '-') continue;
    plain.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
  }
  return plain.starts_with("warmup");
}

}  // namespace

std::vector<int64_t> AwaitedPids(const Label& label) {
  std::vector<int64_t> pids;
  if (label.kind != LabelKind::kLayer || label.layer != Layer::kWait ||
      (label.domain != kPeerDomain && label.domain != kLateRankDomain)) {
    return pids;
  }
  const char* const end = label.text.data() + label.text.size();
  for (const char* next = label.text.data(); next < end; ++next) {
    int64_t pid = 0;
    const auto [stop, error] = std::from_chars(next, end, pid);
    if (error != std::errc()) break;
    pids.push_back(pid);
    next = stop;
  }
  std::sort(pids.begin(), pids.end());
  pids.erase(std::unique(pids.begin(), pids.end()), pids.end());
  return pids;
}

bool IsSimulation(const Label& label) {
  if (label.kind == LabelKind::kLayer) return label.layer == Layer::kSimulator;
  return label.kind == LabelKind::kOperation && SimulationNames().Matches(label.text);
}

bool IsLibraryAnnotation(std::string_view domain, std::string_view text) {
  return LibraryDomains().Matches(domain) || LibraryRangeNames().Matches(text);
}

LabelRoles::LabelRoles(const ProcessTrace& process, const Input& input) {
  NameTable operations(kNoOperation);
  NameTable phases(kNoPhase);
  for (const std::string& name : input.operations) operations.IndexOf(name);
  for (const std::string& name : input.phases) phases.IndexOf(name);
  const bool uses_gpu = process.works.size() > 1;  // the first stands for none
  labels_ = process.labels.size();
  roles_.resize(labels_ + 1);
  for (size_t id = 0; id < process.labels.size(); ++id) {
    const Label& label = process.labels[id];
    LabelRole& role = roles_[id];
    switch (label.kind) {
      case LabelKind::kOperation:
        role.operation = operations.IndexOf(label.text);
        role.cause = CauseOfName(label.text);
        break;
      case LabelKind::kAnnotation:
        if (IsPromoted(label, *input.promoted) ||
            (input.annotations_serve && !IsLibraryAnnotation(label.domain, label.text))) {
          role.operation = operations.IndexOf(label.text);
        }
        role.cause = CauseOfName(label.text);
        break;
      case LabelKind::kLayer:
        role.layer = label.layer;
        if (uses_gpu && WaitsForGpu(label.text)) role.layer = Layer::kCudaSync;
        if (label.layer == Layer::kWait) role.peer = PeerOf(label, *input.peers);
        role.awaits_any = label.layer == Layer::kWait && AwaitsAny(label);
        role.sleeps = label.layer == Layer::kWait && Sleeps(label);
        role.is_assumed = label.domain == kAssumedDomain && label.text == kWaitsForThread;
        role.ends_thread = label.domain == kThreadEndDomain && label.text == kThreadEndText;
        break;
      case LabelKind::kPhase:
        role.phase = phases.IndexOf(label.text);
        break;
      case LabelKind::kApi:
        role.api_class = ClassifyApi(label.text);
        role.launches = LaunchesOf(label.text);
        role.layer = label.layer;
        role.call_is_scope = label.layer != Layer::kUnset;
        role.cause = CauseOfCall(label.text);
        role.capture = CaptureEdgeOf(label.text);
        break;
      case LabelKind::kOverhead:
        role.command_buffer_full = IsCommandBufferFull(label.text);
        role.compiles = IsCompileOverhead(label.text);
        break;
      case LabelKind::kNone:
      case LabelKind::kCounter:
        break;
    }
  }
  operations_ = operations.TakeNames();
  named_by_.resize(operations_.size());
  for (size_t id = 0; id < process.labels.size(); ++id) {
    if (roles_[id].operation == kNotOne) continue;
    NamedBy& named_by = named_by_[roles_[id].operation];
    named_by = std::max(named_by, WhoNamed(process.labels[id]));
  }
  phases_ = phases.TakeNames();
  for (const std::string& phase : phases_) warm_up_.push_back(IsWarmUpName(phase));
}

}  // namespace gpubound
