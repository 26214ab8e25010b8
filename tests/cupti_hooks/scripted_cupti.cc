// SPDX-License-Identifier: Apache-2.0
//
// The functions behind scripted_cupti.h.
#include "tests/cupti_hooks/scripted_cupti.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace gpubound {
namespace {

ScriptedCupti* g_scripted = nullptr;

const char* FindName(const std::map<uint32_t, std::string>& names, uint32_t id) {
  const auto found = names.find(id);
  return found == names.end() ? nullptr : found->second.c_str();
}

}  // namespace

// The C functions of the table.
struct ScriptedCalls {
  static ScriptedCupti& It() { return *g_scripted; }

  static CUptiResult GetVersion(uint32_t* version) {
    *version = It().version_;
    return It().Answer("cuptiGetVersion");
  }
  static CUptiResult GetTimestamp(uint64_t* timestamp) {
    *timestamp = It().timestamp;
    return It().Answer("cuptiGetTimestamp");
  }
  static CUptiResult GetCallbackName(CUpti_CallbackDomain domain, uint32_t id, const char** name) {
    *name = FindName(domain == CUPTI_CB_DOMAIN_RUNTIME_API ? It().runtime_names : It().driver_names,
                     id);
    return *name == nullptr ? CUPTI_ERROR_INVALID_PARAMETER : CUPTI_SUCCESS;
  }
  static CUptiResult Subscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc event,
                               void*) {
    It().event_ = event;
    *subscriber = reinterpret_cast<CUpti_SubscriberHandle>(&It());
    return It().Answer("cuptiSubscribe");
  }
  static CUptiResult SubscribeV2(CUpti_SubscriberHandle*, CUpti_CallbackFunc, void*,
                                 CuptiSubscriberNames* names) {
    std::strncpy(names->holder, It().holder.c_str(), names->holder_bytes - 1);
    return It().Answer("cuptiSubscribe_v2");
  }
  static CUptiResult Unsubscribe(CUpti_SubscriberHandle) { return It().Answer("cuptiUnsubscribe"); }
  static CUptiResult SetThreadIdType(CUpti_ActivityThreadIdType type) {
    return It().Answer("cuptiSetThreadIdType", std::to_string(type));
  }
  static CUptiResult RegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                       CUpti_BuffersCallbackCompleteFunc complete) {
    It().request_ = request;
    It().complete_ = complete;
    return It().Answer("cuptiActivityRegisterCallbacks");
  }
  static CUptiResult Enable(CUpti_ActivityKind kind) {
    It().Answer("cuptiActivityEnable", std::to_string(kind));
    const auto answer = It().kind_answers.find(kind);
    return answer == It().kind_answers.end() ? CUPTI_SUCCESS : answer->second;
  }
  static CUptiResult Disable(CUpti_ActivityKind kind) {
    return It().Answer("cuptiActivityDisable", std::to_string(kind));
  }
  static CUptiResult FlushAll(uint32_t flags) {
    const CUptiResult result = It().Answer("cuptiActivityFlushAll", std::to_string(flags));
    if (It().on_flush) It().on_flush();
    if (!(flags == 0 ? It().hold_back : It().hold_back_forced)) It().Deliver();
    return result;
  }
  static CUptiResult GetNextRecord(uint8_t* buffer, size_t valid, CUpti_Activity** record) {
    if (It().fail_record_after != 0 && ++It().reads_ % It().fail_record_after == 0) {
      return CUPTI_ERROR_INVALID_KIND;
    }
    size_t offset = 0;
    if (*record != nullptr) {
      uint32_t kind = 0;
      std::memcpy(&kind, *record, sizeof(kind));
      offset = static_cast<size_t>(reinterpret_cast<uint8_t*>(*record) - buffer) +
               RecordSize(kind, It().version_);
    }
    if (offset >= valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
    *record = reinterpret_cast<CUpti_Activity*>(buffer + offset);
    return CUPTI_SUCCESS;
  }
  static CUptiResult GetNumDropped(CUcontext, uint32_t, size_t* dropped) {
    *dropped = It().dropped.exchange(0);
    return It().Answer("cuptiActivityGetNumDroppedRecords");
  }
  static CUptiResult SetAttribute(CUpti_ActivityAttribute attribute, size_t*, void*) {
    return It().Answer("cuptiActivitySetAttribute", std::to_string(attribute));
  }
  static CUptiResult EnableRuntimeApi(CUpti_CallbackId id, uint8_t enable) {
    return It().Answer("cuptiActivityEnableRuntimeApi",
                       std::to_string(id) + " " + std::to_string(enable));
  }
  // A handle is its id.
  static CUptiResult GetGraphId(CUgraph graph, uint32_t* id) {
    *id = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(graph));
    return It().Answer("cuptiGetGraphId");
  }
  static CUptiResult GetGraphExecId(CUgraphExec graph, uint32_t* id) {
    *id = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(graph));
    return It().Answer("cuptiGetGraphExecId");
  }
  static CUptiResult GetGraphNodeId(CUgraphNode node, uint64_t* id) {
    *id = reinterpret_cast<uintptr_t>(node);
    return It().Answer("cuptiGetGraphNodeId");
  }
  static CUptiResult EnableCallback(uint32_t enable, CUpti_SubscriberHandle,
                                    CUpti_CallbackDomain domain, CUpti_CallbackId id) {
    return It().Answer(
        "cuptiEnableCallback",
        std::to_string(enable) + " " + std::to_string(domain) + " " + std::to_string(id));
  }
};

ScriptedCupti::ScriptedCupti(uint32_t version) : version_(version) { g_scripted = this; }
ScriptedCupti::~ScriptedCupti() { g_scripted = nullptr; }

CuptiApi ScriptedCupti::api() const {
  CuptiApi api;
  api.cuptiGetVersion = &ScriptedCalls::GetVersion;
  api.cuptiGetTimestamp = &ScriptedCalls::GetTimestamp;
  api.cuptiGetCallbackName = &ScriptedCalls::GetCallbackName;
  api.cuptiSubscribe = &ScriptedCalls::Subscribe;
  api.cuptiSubscribe_v2 = &ScriptedCalls::SubscribeV2;
  api.cuptiUnsubscribe = &ScriptedCalls::Unsubscribe;
  api.cuptiSetThreadIdType = &ScriptedCalls::SetThreadIdType;
  api.cuptiActivityRegisterCallbacks = &ScriptedCalls::RegisterCallbacks;
  api.cuptiActivityEnable = &ScriptedCalls::Enable;
  api.cuptiActivityDisable = &ScriptedCalls::Disable;
  api.cuptiActivityFlushAll = &ScriptedCalls::FlushAll;
  api.cuptiActivityGetNextRecord = &ScriptedCalls::GetNextRecord;
  api.cuptiActivityGetNumDroppedRecords = &ScriptedCalls::GetNumDropped;
  api.cuptiActivitySetAttribute = &ScriptedCalls::SetAttribute;
  api.cuptiActivityEnableRuntimeApi = &ScriptedCalls::EnableRuntimeApi;
  api.cuptiEnableCallback = &ScriptedCalls::EnableCallback;
  api.cuptiGetGraphId = &ScriptedCalls::GetGraphId;
  api.cuptiGetGraphExecId = &ScriptedCalls::GetGraphExecId;
  api.cuptiGetGraphNodeId = &ScriptedCalls::GetGraphNodeId;
  api.version = version_;
  api.path = "libcupti-scripted.so";
  return api;
}

CUptiResult ScriptedCupti::Answer(const std::string& function, const std::string& arguments) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ++call_count_;
  calls_.push_back(arguments.empty() ? function : function + " " + arguments);
  const auto answer = answers.find(function);
  return answer == answers.end() ? CUPTI_SUCCESS : answer->second;
}

void ScriptedCupti::Emit(const RecordBytes& record) {
  const std::vector<uint8_t>& bytes = record.bytes();
  const std::lock_guard<std::mutex> lock(buffers_mutex_);
  if (buffers_.empty() || buffers_.back().used + bytes.size() > buffers_.back().size) {
    Buffer buffer;
    size_t max_records = 0;
    request_(&buffer.data, &buffer.size, &max_records);
    if (buffer.data == nullptr) {
      ++dropped;
      return;
    }
    buffers_.push_back(buffer);
  }
  Buffer& buffer = buffers_.back();
  std::memcpy(buffer.data + buffer.used, bytes.data(), bytes.size());
  buffer.used += bytes.size();
}

void ScriptedCupti::Deliver() {
  std::vector<Buffer> all;
  {
    const std::lock_guard<std::mutex> lock(buffers_mutex_);
    all.swap(buffers_);
  }
  for (const Buffer& buffer : all) {
    complete_(nullptr, 0, buffer.data, buffer.size, buffer.used);
  }
}

void ScriptedCupti::FailFatally() {
  event_(nullptr, CUPTI_CB_DOMAIN_STATE, CUPTI_CBID_STATE_FATAL_ERROR, nullptr);
}

std::vector<std::string> ScriptedCupti::calls() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return calls_;
}

int ScriptedCupti::CallsOf(const std::string& function) {
  const std::vector<std::string> all = calls();
  return static_cast<int>(std::count_if(all.begin(), all.end(), [&](const std::string& call) {
    return call.substr(0, call.find(' ')) == function;
  }));
}

}  // namespace gpubound
