// SPDX-License-Identifier: Apache-2.0
//
// What each name of a process means for its breakdown: which labels are operations, which switch
// the layer, which API functions wait, what an idle device is to be blamed on. Decided once per
// process, so that the sweep over events looks up arrays. Plain values, no thread rule.
#ifndef GPUBOUND_ANALYSIS_TRACE_LABEL_ROLES_H_
#define GPUBOUND_ANALYSIS_TRACE_LABEL_ROLES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/trace/call_causes.h"
#include "analysis/trace/idle_cause.h"
#include "analysis/trace/run.h"
#include "proto/sync_calls.h"

namespace gpubound {

// Dense numbers of operation names and phase names within one process; 0 is the row without one.
using OperationIndex = uint32_t;
using PhaseIndex = uint32_t;
inline constexpr OperationIndex kNoOperationIndex = 0;
inline constexpr PhaseIndex kNoPhaseIndex = 0;
inline constexpr uint32_t kNotOne = 0xffffffff;

// Another process of the run that this one can wait for, or several of which it waits for any. A
// recorded wait is a scope of layer wait whose label's domain is kPeerDomain and whose text is the
// pid of the awaited process, or their pids with a blank between each two.
inline constexpr char kPeerDomain[] = "process";
struct Peer {
  std::vector<int64_t> pids;  // ascending
  bool simulates = false;     // one of them simulates
};
using PeerIndex = uint32_t;  // into a vector of peers; kNotOne: none

struct LabelRole {
  OperationIndex operation = kNotOne;  // kNotOne: the label is no operation
  PhaseIndex phase = kNotOne;
  Layer layer = Layer::kUnset;  // kUnset: the label does not switch the layer
  PeerIndex peer = kNotOne;     // of a wait: for whom
  ApiClass api_class = ApiClass::kCall;
  Launches launches = Launches::kMany;  // of an API call
  CaptureEdge capture = CaptureEdge::kNone;
  IdleCause cause = IdleCause::kUnknown;  // of an API call, or that a scope's name tells
  // Calls of this function are scopes of their thread too, and it is those that set the layer, so
  // that what the call encloses and what encloses it is decided by their order (imported traces).
  bool call_is_scope = false;
  bool command_buffer_full = false;  // an overhead during which the launch queue is full
  bool compiles = false;             // an overhead that is compilation or lazy loading
  bool ends_thread = false;          // a scope that stands for what follows a thread's end
  bool is_assumed = false;           // a scope that an importer found, which nothing entered
  bool awaits_any = false;           // a wait for any of several things, as of an event loop
  bool sleeps = false;               // a wait for nothing but time
};

// By whom an operation got its name. Of several scopes of one name the last of these counts: a
// scope of the program's lies around what rules name in it.
enum class NamedBy : uint8_t {
  kNobody,   // another process has it
  kStage,    // a rule or hook, for whatever a loop collects or learns in: `rollout`, `update`
  kRules,    // a rule or hook
  kProgram,  // the program
};

class LabelRoles {
 public:
  struct Input {
    const std::vector<std::string>* promoted = nullptr;  // as in BreakdownOptions::operations
    // No thread opens an operation, so foreign ranges serve as such where no library made them.
    bool annotations_serve = false;
    const std::vector<Peer>* peers = nullptr;
    // Names that come first, in this order: those that have numbers already, then those that the
    // process may inherit.
    std::vector<std::string> operations;
    std::vector<std::string> phases;
  };
  LabelRoles(const ProcessTrace& process, const Input& input);

  const LabelRole& Of(LabelId label) const { return roles_[std::min<size_t>(Raw(label), labels_)]; }
  size_t labels() const { return labels_; }
  const std::vector<std::string>& operations() const { return operations_; }
  const std::vector<std::string>& phases() const { return phases_; }
  NamedBy OperationNamedBy(OperationIndex operation) const { return named_by_[operation]; }
  bool IsWarmUp(PhaseIndex phase) const { return warm_up_[phase]; }

 private:
  size_t labels_ = 0;
  std::vector<LabelRole> roles_;  // by label id, and behind them that of ids without a label
  std::vector<std::string> operations_;
  std::vector<NamedBy> named_by_;  // by operation
  std::vector<std::string> phases_;
  std::vector<bool> warm_up_;  // by phase
};

// The pids that the label of a recorded wait names, ascending, each once; none for other labels.
std::vector<int64_t> AwaitedPids(const Label& label);

// True for a label whose scopes are simulation: the layer simulator, or a name that says so.
bool IsSimulation(const Label& label);

// True for ranges that a library opens about itself: NCCL, XLA/TSL, cuBLAS, CUB, compiled regions.
bool IsLibraryAnnotation(std::string_view domain, std::string_view text);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_TRACE_LABEL_ROLES_H_
