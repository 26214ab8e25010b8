// SPDX-License-Identifier: Apache-2.0
//
// The CUPTI functions that gpubound calls, as a table that is filled by dlsym: nothing of NVIDIA is
// linked, and a libcupti that lacks the optional ones can still be used. Immutable once filled, so
// any thread may call through it.
#ifndef GPUBOUND_CUPTI_HOOKS_CUPTI_CUPTI_API_H_
#define GPUBOUND_CUPTI_HOOKS_CUPTI_CUPTI_API_H_

#include <cupti.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

namespace gpubound {

// Without one of these there is nothing to record with.
#define GPUBOUND_CUPTI_REQUIRED(X)  \
  X(cuptiGetVersion)                \
  X(cuptiGetTimestamp)              \
  X(cuptiGetCallbackName)           \
  X(cuptiSubscribe)                 \
  X(cuptiUnsubscribe)               \
  X(cuptiSetThreadIdType)           \
  X(cuptiActivityRegisterCallbacks) \
  X(cuptiActivityEnable)            \
  X(cuptiActivityFlushAll)          \
  X(cuptiActivityGetNextRecord)     \
  X(cuptiActivityGetNumDroppedRecords)

// Null where the library does not have them.
#define GPUBOUND_CUPTI_OPTIONAL(X) \
  X(cuptiActivityDisable)          \
  X(cuptiActivitySetAttribute)     \
  X(cuptiEnableCallback)           \
  X(cuptiGetGraphId)               \
  X(cuptiGetGraphNodeId)           \
  X(cuptiGetStreamIdEx)            \
  X(cuptiGetResultString)

// The parameters of cuptiSubscribe_v2, which the headers of CUDA 12 do not have. Its first member
// tells the library how much of it there is.
struct CuptiSubscriberNames {
  size_t size_bytes;
  const char* ours;
  char* holder;  // out: who holds CUPTI, when it is held
  size_t holder_bytes;
};
#if CUPTI_API_VERSION >= 130000
static_assert(offsetof(CuptiSubscriberNames, holder) ==
                  offsetof(CUpti_SubscriberParams, oldSubscriberName) &&
              offsetof(CuptiSubscriberNames, holder_bytes) ==
                  offsetof(CUpti_SubscriberParams, oldSubscriberSize));
#endif

// The same from 13.2 on.
struct CuptiSharedNames {
  CuptiSubscriberNames names;
  uint8_t allow_several;
  uint8_t padding[7];
};
static_assert(sizeof(CuptiSharedNames) == 40 && offsetof(CuptiSharedNames, allow_several) == 32);

// The interface in which every call names its subscriber (shared_cupti.h), as the headers of 13.5
// declare it. Where they have a structure that we never fill, there is a void pointer here.
struct CuptiSubscriberApi {
  CUptiResult (*cuptiActivityRegisterCallbacks_v2)(
      CUpti_SubscriberHandle, void (*request)(uint8_t**, size_t*, size_t*, void*),
      void (*complete)(uint8_t*, size_t, size_t, void*)) = nullptr;
  CUptiResult (*cuptiActivityEnable_v2)(CUpti_SubscriberHandle, CUpti_ActivityKind,
                                        void*) = nullptr;
  CUptiResult (*cuptiActivityDisable_v2)(CUpti_SubscriberHandle, CUpti_ActivityKind,
                                         void*) = nullptr;
  CUptiResult (*cuptiActivitySetAttribute_v2)(CUpti_SubscriberHandle, CUpti_ActivityAttribute,
                                              size_t*, void*) = nullptr;
  CUptiResult (*cuptiActivityGetAttribute_v2)(CUpti_SubscriberHandle, CUpti_ActivityAttribute,
                                              size_t*, void*) = nullptr;
  CUptiResult (*cuptiActivityGetNextRecord_v2)(CUpti_SubscriberHandle, uint8_t*, size_t,
                                               CUpti_Activity**) = nullptr;
  CUptiResult (*cuptiActivityGetNumDroppedRecords_v2)(CUpti_SubscriberHandle, CUcontext, uint32_t,
                                                      size_t*) = nullptr;
  CUptiResult (*cuptiGetTimestamp_v2)(CUpti_SubscriberHandle, uint64_t*) = nullptr;
  // 13.4, and nothing depends on it.
  CUptiResult (*cuptiActivityEnableRuntimeApi_v2)(CUpti_SubscriberHandle, CUpti_CallbackId,
                                                  uint8_t) = nullptr;

  bool IsComplete() const;
};

struct CuptiApi {
#define GPUBOUND_X(name) decltype(&::name) name = nullptr;
  GPUBOUND_CUPTI_REQUIRED(GPUBOUND_X)
  GPUBOUND_CUPTI_OPTIONAL(GPUBOUND_X)
#undef GPUBOUND_X
  // Optional and newer than the oldest headers that this compiles against.
  CUptiResult (*cuptiGetGraphExecId)(CUgraphExec, uint32_t*) = nullptr;               // 12.3
  CUptiResult (*cuptiActivityEnableRuntimeApi)(CUpti_CallbackId, uint8_t) = nullptr;  // 12.5
  CUptiResult (*cuptiSubscribe_v2)(CUpti_SubscriberHandle*, CUpti_CallbackFunc, void*,
                                   CuptiSubscriberNames*) = nullptr;  // 13.0

  // Of the driver, which has them since 12.3: null where it is older, or not loaded.
  CUresult (*cuFuncGetName)(const char**, CUfunction) = nullptr;
  CUresult (*cuKernelGetName)(const char**, CUkernel) = nullptr;

  CuptiSubscriberApi per_subscriber;
  // Not null in a table of SharedCupti: whether graphs are recorded whole because a tool that came
  // first chose so for all. Only while subscribed.
  bool (*graphs_are_whole)() = nullptr;

  uint32_t version = 0;           // as cuptiGetVersion says
  bool simulated_device = false;  // the stand-in of tests/fake_cupti
  std::string path;               // where it was found, for messages
};

// Versions of cuptiGetVersion at which something that we rely on begins. They compare in order:
// 18 = 11.8, 19 = 12.0, ..., 28 = 12.9 update 1, then 130000 = 13.0 and so on.
// CUPTI_ACTIVITY_KIND_GREEN_CONTEXT, which headers before 13.2 do not have.
inline constexpr auto kGreenContextKind = static_cast<CUpti_ActivityKind>(59);

inline constexpr uint32_t kCuptiOldest = 18;  // the record layouts we read
inline constexpr uint32_t kCuptiFirst12 = 19;
inline constexpr uint32_t kCuptiFirst13 = 130000;
inline constexpr uint32_t kCuptiOverheadHasCorrelation = 21;  // 12.3: CUpti_ActivityOverhead2
inline constexpr uint32_t kCuptiGraphsEndElsewhere = 21;      // 12.3: CUpti_ActivityGraphTrace2
inline constexpr uint32_t kCuptiGraphExecIds = 21;            // 12.3: cuptiGetGraphExecId
inline constexpr uint32_t kCuptiGreenContexts = 22;           // 12.4: CUpti_ActivityContext2
inline constexpr uint32_t kCuptiMayDeclineBuffer = 27;        // 12.9; crashed before
// A buffer for each thread takes more of them than a CUPTI that may not be declined can be
// promised.
inline constexpr uint32_t kCuptiPerThreadBuffersSafe = kCuptiMayDeclineBuffer;
inline constexpr uint32_t kCuptiPerThreadByDefault = 130000;     // 13.0
inline constexpr uint32_t kCuptiGivesDeviceNameAway = 130000;    // 13.0; before, records share it
inline constexpr uint32_t kCuptiGreenContextKind = 130200;       // 13.2: a kind of their own
inline constexpr uint32_t kCuptiPerSubscriberComplete = 130300;  // 13.3; a beta before
inline constexpr uint32_t kCuptiPerSubscriberFilters = 130400;   // 13.4: single functions

// Fills |api|, whose path is set, from a library opened by dlopen. False when a required function
// is missing or the version is too old; |*why| then says what. Calls nothing but cuptiGetVersion.
// That needs a driver since 13.5, as was seen without one: where it fails, the name tells the
// oldest version that it can be.
bool ResolveCuptiApi(void* library, CuptiApi* api, std::string* why);

// What an enumeration's place holds: a newer CUPTI has values that these headers' type has no room
// for.
inline uint32_t NumberAt(const void* structure, size_t offset) {
  uint32_t number = 0;
  std::memcpy(&number, static_cast<const uint8_t*>(structure) + offset, sizeof(number));
  return number;
}

// A parameter of |call|, by place. All that are asked for are handles or pointers.
inline void* ParameterOf(const CUpti_CallbackData& call, int place) {
  return static_cast<void* const*>(call.functionParams)[place];
}

// "CUPTI_ERROR_..." of the library, or the number.
std::string CuptiResultName(const CuptiApi& api, CUptiResult result);

}  // namespace gpubound

#endif  // GPUBOUND_CUPTI_HOOKS_CUPTI_CUPTI_API_H_
