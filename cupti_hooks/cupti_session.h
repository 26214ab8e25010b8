// SPDX-License-Identifier: Apache-2.0
//
// The order in which CUPTI wants to be set up and left, over the function table only. Called by the
// thread that starts the source and, at the end, by its worker; never both at once.
#ifndef GPUBOUND_CUPTI_HOOKS_CUPTI_SESSION_H_
#define GPUBOUND_CUPTI_HOOKS_CUPTI_SESSION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "cupti_hooks/cupti_api.h"

namespace gpubound {

// What CUPTI calls. None may throw.
struct CuptiCallbacks {
  CUpti_BuffersCallbackRequestFunc request;
  CUpti_BuffersCallbackCompleteFunc complete;
  CUpti_CallbackFunc event;  // told of fatal errors
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
  uint32_t quiet_functions = 0;  // API functions that CUPTI was told not to record
  std::string problem;
};

// Subscribes, sets attributes, registers the buffer callbacks and enables the kinds, in that order.
// Unless it is recording afterwards, nothing of ours is left in CUPTI.
CuptiSetupResult SetUpCupti(const CuptiApi& api, const CuptiCallbacks& callbacks);

// Ends what SetUpCupti began, so that another tool may have CUPTI: first the kinds, then, after the
// last flush, the subscription. cuptiFinalize is never called: it races with calls in flight.
void DisableKinds(const CuptiApi& api);
void Unsubscribe(const CuptiApi& api, CUpti_SubscriberHandle subscriber);

}  // namespace gpubound

#endif  // GPUBOUND_CUPTI_HOOKS_CUPTI_SESSION_H_
