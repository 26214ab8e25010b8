// SPDX-License-Identifier: Apache-2.0
//
// The order in which CUPTI wants to be set up and left, over the function table only. Called by the
// thread that starts the source and, at the end, by its worker; never both at once.
#ifndef GPUBOUND_CUPTI_HOOKS_CUPTI_CUPTI_SESSION_H_
#define GPUBOUND_CUPTI_HOOKS_CUPTI_CUPTI_SESSION_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cupti_hooks/cupti/api_functions.h"
#include "cupti_hooks/cupti/cupti_api.h"

namespace gpubound {

// What CUPTI calls. None may throw.
struct CuptiCallbacks {
  CUpti_BuffersCallbackRequestFunc request;
  CUpti_BuffersCallbackCompleteFunc complete;
  CUpti_CallbackFunc event;  // told of fatal errors
};

// How CUDA graphs are recorded. CUPTI records a graph's nodes or the graph, never both, and a graph
// that was instantiated under one level is lost to the other: so the level is chosen once.
enum class GraphLevel {
  kNode,   // every node: exact; costs a record for each node of each launch
  kGraph,  // each launch as a whole: cheapest
  kAuto,   // as kGraph, and callbacks tell what the nodes are and where they were captured
};

// "node", "graph" or "auto". Pure.
bool ParseGraphLevel(std::string_view text, GraphLevel* level);

struct RecordingLevels {
  GraphLevel graphs = GraphLevel::kNode;
  // By a callback for each call of a quiet function, where records do not tell of them.
  bool count_queries = false;
};

enum class CuptiSetup {
  kRecording,    // everything that SPEC needs is recorded
  kIncomplete,   // recording, but some kind of device work is not: `problem` says which
  kHeldByOther,  // another tool has CUPTI: `problem` says who
  kUnusable,     // `problem` says why
};

struct CuptiSetupResult {
  CuptiSetup outcome = CuptiSetup::kUnusable;
  CUpti_SubscriberHandle subscriber = nullptr;
  uint64_t api_errors = 0;  // of calls that recording can do without
  bool system_thread_ids = false;
  uint32_t quiet_functions = 0;           // API functions that CUPTI was told not to record
  bool leaves_queries_uncounted = false;  // of quiet ones, some or all
  bool has_runtime_queries = false;       // those of the runtime have records, which are counted
  GraphLevel graphs = GraphLevel::kNode;  // kNode also where CUPTI cannot do what was asked for
  std::string graph_problem;              // why it cannot
  std::string problem;
  bool wrong_library = false;  // with kUnusable: a libcupti of another release may know this GPU
};

// Subscribes, sets attributes, registers the buffer callbacks and enables the kinds, in that order,
// then the callbacks that tell what records do not. These stay as they are while the program runs:
// a callback that is switched while some thread is in its function breaks that thread's records, or
// the program (docs/results/gpu.md). Unless it is recording afterwards, nothing of ours is left in
// CUPTI. |functions| are those of |api|.
CuptiSetupResult SetUpCupti(const CuptiApi& api, const CuptiCallbacks& callbacks,
                            const ApiFunctions& functions, const RecordingLevels& levels);

// Ends what SetUpCupti began, so that another tool may have CUPTI as if we had never been: first
// the kinds, then, after the last flush, settings and subscription. cuptiFinalize is never called:
// it races with calls in flight.
void DisableKinds(const CuptiApi& api);
void Unsubscribe(const CuptiApi& api, CUpti_SubscriberHandle subscriber);

}  // namespace gpubound

#endif  // GPUBOUND_CUPTI_HOOKS_CUPTI_CUPTI_SESSION_H_
