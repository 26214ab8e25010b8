// SPDX-License-Identifier: Apache-2.0
//
// The names of CUDA API functions, and which of them are not worth a record: queries that programs
// make thousands of times a second, that start no work, wait for nothing and never take long. CUPTI
// is asked not to record those, where it can (12.5 and later); elsewhere their records are skipped,
// so that traces mean the same with every version.
//
// Built once when a source starts; afterwards the source's worker only.
#ifndef GPUBOUND_CUPTI_HOOKS_CUPTI_API_FUNCTIONS_H_
#define GPUBOUND_CUPTI_HOOKS_CUPTI_API_FUNCTIONS_H_

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cupti_hooks/cupti/cupti_api.h"
#include "cupti_hooks/cupti/graph_calls.h"
#include "libprofiler/device_source.h"

namespace gpubound {

// Which functions are not recorded: a list of ours, changed by the user's.
class QuietApis {
 public:
  // |changes|: names without version suffix, separated by commas; "-NAME" records one of ours after
  // all. Spaces are ignored.
  explicit QuietApis(std::string_view changes = {});

  bool Contains(std::string_view name) const;

 private:
  std::set<std::string, std::less<>> added_;
  std::set<std::string, std::less<>> removed_;
};

// What a function waits for, or marks so that it can be waited for.
enum class Awaited : uint8_t {
  kNone,
  kStream,         // parameters: stream
  kContext,        // all that runs in it
  kEvent,          // parameters: event
  kEventByStream,  // the stream waits, not the caller; parameters: stream, event
  kEventRecorded,  // parameters: event, stream
};

class ApiFunctions {
 public:
  // Keeps nothing of |quiet|; the others outlive this and its copies.
  ApiFunctions(const CuptiApi& api, DeviceHost* host, const QuietApis& quiet);

  // Callback ids of quiet functions. |domain| is CUPTI_CB_DOMAIN_RUNTIME_API or _DRIVER_API.
  std::vector<CUpti_CallbackId> QuietIds(CUpti_CallbackDomain domain) const;
  bool IsQuiet(CUpti_CallbackDomain domain, CUpti_CallbackId id) const;
  // Whether the program's calls of a quiet function are worth counting.
  bool IsCounted(CUpti_CallbackDomain domain, CUpti_CallbackId id) const;

  // Callback ids of the functions that launch one kernel.
  std::vector<CUpti_CallbackId> LaunchIds(CUpti_CallbackDomain domain) const;
  bool IsKernelLaunch(CUpti_CallbackDomain domain, CUpti_CallbackId id) const;
  // Likewise of those that launch a graph.
  std::vector<CUpti_CallbackId> GraphLaunchIds(CUpti_CallbackDomain domain) const;
  bool IsGraphLaunch(CUpti_CallbackDomain domain, CUpti_CallbackId id) const;

  // Likewise of those that make or change a kernel node of a graph; null: the function is none.
  std::vector<CUpti_CallbackId> NodeIds(CUpti_CallbackDomain domain) const;
  const NodeFunction* NodeFunctionOf(CUpti_CallbackDomain domain, CUpti_CallbackId id) const;

  // Callback ids of the functions that are not quiet.
  std::vector<CUpti_CallbackId> LoudIds(CUpti_CallbackDomain domain) const;
  Awaited AwaitedBy(CUpti_CallbackDomain domain, CUpti_CallbackId id) const;
  // Whether no stream means the thread's own, not the context's.
  bool IsPerThread(CUpti_CallbackDomain domain, CUpti_CallbackId id) const;

  LabelId LabelOf(CUpti_CallbackDomain domain, CUpti_CallbackId id);
  // Without its version; empty where CUPTI has none.
  std::string_view NameOf(CUpti_CallbackDomain domain, CUpti_CallbackId id) const;

 private:
  struct Function {
    LabelId label{};
    bool is_quiet = false;
    bool is_counted = false;
    bool is_launch = false;
    bool is_graph_launch = false;
    bool is_loud = false;
    bool is_per_thread = false;
    bool is_node_change = false;
    Awaited awaited = Awaited::kNone;
    const NodeFunction* node = nullptr;
  };

  std::vector<Function>& Functions(CUpti_CallbackDomain domain) {
    return domain == CUPTI_CB_DOMAIN_RUNTIME_API ? runtime_ : driver_;
  }
  const std::vector<Function>& Functions(CUpti_CallbackDomain domain) const {
    return domain == CUPTI_CB_DOMAIN_RUNTIME_API ? runtime_ : driver_;
  }
  std::vector<CUpti_CallbackId> IdsOf(CUpti_CallbackDomain domain, bool Function::*kind) const;
  std::string_view FullNameOf(CUpti_CallbackDomain domain, CUpti_CallbackId id) const;
  LabelId Intern(CUpti_CallbackDomain domain, CUpti_CallbackId id);

  const CuptiApi& api_;
  DeviceHost* const host_;
  std::vector<Function> runtime_;
  std::vector<Function> driver_;
};

}  // namespace gpubound

#endif  // GPUBOUND_CUPTI_HOOKS_CUPTI_API_FUNCTIONS_H_
