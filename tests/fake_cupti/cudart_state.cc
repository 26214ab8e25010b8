// SPDX-License-Identifier: Apache-2.0
#include "tests/fake_cupti/cudart_state.h"

#include <algorithm>
#include <deque>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "tests/fake_cupti/driver_functions.h"
#include "tests/fake_cupti/profiler_code.h"
#include "tests/fake_cupti/truth_recorder.h"

namespace gpubound::sim {
namespace {

// Stream ids as observed with a real driver: 7 is the default stream, its own streams are 6 to 13,
// those that a program creates follow.
constexpr uint32_t kDefaultStreamId = 7;
constexpr uint32_t kFirstUserStreamId = 14;

struct Registry {
  std::mutex mutex;
  std::unordered_map<const void*, CUkern_st*> kernels;  // never erased: handles stay valid
  std::vector<CUstream_st*> legacy_streams;
  std::deque<ThreadState> threads;
  std::unordered_set<const void*> handles;
  uint32_t next_stream_id = kFirstUserStreamId;
};

Registry& TheRegistry() {
  static auto* const registry = new Registry();
  return *registry;
}

}  // namespace

ThreadState& CurrentThread() {
  // Kept until the process ends: exit handlers call CUDA after a thread's objects are destroyed.
  static thread_local ThreadState* state = nullptr;
  if (state == nullptr) {
    Registry& registry = TheRegistry();
    std::lock_guard<std::mutex> lock(registry.mutex);
    state = &registry.threads.emplace_back();
  }
  return *state;
}

ApiCall::ApiCall(uint32_t cbid, const char* name, const void* params, const Launch* launch,
                 const void* driver_params) {
  GpuRuntime& runtime = GpuRuntime::Get();
  ok_ = runtime.Enter() == GpuRuntime::State::kReady;
  if (!ok_) return;
  info_.cbid = cbid;
  info_.name = name;
  info_.params = params;
  info_.driver_params = driver_params == nullptr ? params : driver_params;
  if (const DriverFunction* function = DriverFunctionOf(cbid);
      function != nullptr && runtime.script().driver_api) {
    info_.domain = ApiDomain::kDriver;
    info_.cbid = function->cbid;
    info_.name = function->name;
    info_.params = info_.driver_params;
  }
  info_.is_launch = launch != nullptr;
  info_.symbol = launch == nullptr ? nullptr : launch->symbol;
  info_.context = ContextOf(static_cast<uint32_t>(CurrentThread().device));
  info_.correlation = runtime.NextCorrelation();
  info_.start_ns = RealtimeNs();
  if (ProfilerTap* tap = runtime.tap()) {
    const InjectedOverhead& overhead = runtime.script().overhead;
    const TimeNs recording_ns = OverheadNs(overhead);
    info_.entry_ns = recording_ns * overhead.entry_percent / 100;
    info_.entry_functions =
        static_cast<uint32_t>(overhead.functions * overhead.entry_percent / 100);
    if (tap->ApiEnter(&info_)) {
      overhead_ns_ = recording_ns;
      ExecuteProfilerCode(info_.entry_functions, overhead.functions - info_.entry_functions);
    }
    SpinFor(std::max<TimeNs>(0, overhead_ns_ - info_.entry_ns) + overhead.process_ns);
  }
  SpinFor(runtime.script().api_ns);
}

TimeNs ApiCall::OverheadNs(const InjectedOverhead& overhead) const {
  const bool cold = info_.start_ns - CurrentThread().last_call_end_ns >= InjectedOverhead::kColdNs;
  const bool as_launch = info_.is_launch && overhead.launch_ns > 0;
  return (as_launch ? overhead.launch_ns : overhead.api_ns) + (cold ? overhead.cold_ns : 0);
}

ApiCall::~ApiCall() {
  if (!ok_) return;
  info_.end_ns = RealtimeNs();
  CurrentThread().last_call_end_ns = info_.end_ns;
  GpuRuntime& runtime = GpuRuntime::Get();
  TruthRecorder::Get().AddApi(info_, SystemThreadId(), overhead_ns_);
  if (ProfilerTap* tap = runtime.tap()) tap->ApiExit(&info_);
}

cudaError_t ApiCall::Return(cudaError_t result) {
  info_.result = result;
  // Not ready is an answer, not an error to be remembered.
  if (result != cudaSuccess && result != cudaErrorNotReady) CurrentThread().last_error = result;
  return result;
}

CUstream_st* NewStream(uint32_t device, bool blocking, unsigned int flags, int priority) {
  Registry& registry = TheRegistry();
  auto* stream = NewHandle(CUstream_st());
  stream->index = GpuRuntime::Get().WithModel(
      [&](SimDevice& model) { return model.CreateStream(device, blocking); });
  stream->flags = flags;
  stream->priority = priority;
  std::lock_guard<std::mutex> lock(registry.mutex);
  const SimScript& script = GpuRuntime::Get().script();
  const uint32_t context = ContextOf(script, device, registry.next_stream_id % script.contexts);
  stream->place = {.device = device, .context = context, .stream = registry.next_stream_id++};
  return stream;
}

CUstream_st* ResolveStream(cudaStream_t stream) {
  ThreadState& thread = CurrentThread();
  const auto device = static_cast<uint32_t>(thread.device);
  if (stream == cudaStreamPerThread) {
    if (thread.per_thread_streams.empty()) thread.per_thread_streams.resize(DeviceCount());
    CUstream_st*& own = thread.per_thread_streams[device];
    if (own == nullptr) own = NewStream(device, true, cudaStreamDefault, 0);
    return own;
  }
  if (stream != nullptr && stream != cudaStreamLegacy) return stream;
  Registry& registry = TheRegistry();
  std::lock_guard<std::mutex> lock(registry.mutex);
  while (registry.legacy_streams.size() < DeviceCount()) {
    const auto index = static_cast<uint32_t>(registry.legacy_streams.size());
    auto* legacy = new CUstream_st();
    legacy->index = index;
    legacy->place = {.device = index, .context = ContextOf(index), .stream = kDefaultStreamId};
    registry.legacy_streams.push_back(legacy);
  }
  return registry.legacy_streams[device];
}

OpId SubmitTo(CUstream_st* stream, OpSpec spec, const CopyEnds& ends, const ApiCall& call) {
  GpuRuntime& runtime = GpuRuntime::Get();
  if (CUgraph_st* graph = stream->capture) {
    graph->nodes.push_back({.spec = std::move(spec), .after = stream->capture_tail});
    graph->ends.push_back(ends);
    const size_t position = graph->nodes.size() - 1;
    stream->capture_tail = {static_cast<uint32_t>(position)};
    if (ProfilerTap* tap = runtime.tap()) {
      tap->GraphNodeMade({.graph = graph,
                          .node = NodeId(graph->id, position),
                          .original = 0,
                          .kind = graph->nodes.back().spec.kind});
    }
    return 0;
  }
  spec.correlation = call.correlation();
  spec.tid = SystemThreadId();
  ProfilerTap* tap = runtime.tap();
  if (tap != nullptr && IsDeviceWork(spec.kind)) {
    spec.user = tap->Reserve(spec, stream->place, ends);
  }
  if (const TimeNs blocked = runtime.WaitForRoom(stream->index); blocked > 0 && tap != nullptr) {
    const TimeNs end = RealtimeNs();
    tap->QueueFull(end - blocked, end, call.correlation());
  }
  return runtime.WithModel([&](SimDevice& model) {
    if (spec.external_body) runtime.CountExternalBody();
    return model.Submit(stream->index, std::move(spec), std::max(RealtimeNs(), model.now()));
  });
}

void SynchronizeOp(OpId op, uint32_t type, CUstream_st* stream, uint64_t event,
                   const ApiCall& call) {
  GpuRuntime& runtime = GpuRuntime::Get();
  const TimeNs start = RealtimeNs();
  runtime.WaitForOp(op);
  if (ProfilerTap* tap = runtime.tap()) {
    tap->Synchronized(type, start, RealtimeNs(), call.correlation(), stream->place, event);
  }
}

void KeepHandle(const void* handle) {
  Registry& registry = TheRegistry();
  std::lock_guard<std::mutex> lock(registry.mutex);
  registry.handles.insert(handle);
}

void ForgetHandle(const void* handle) {
  Registry& registry = TheRegistry();
  std::lock_guard<std::mutex> lock(registry.mutex);
  registry.handles.erase(handle);
}

CUkern_st* FindKernel(const void* function) {
  Registry& registry = TheRegistry();
  std::lock_guard<std::mutex> lock(registry.mutex);
  const auto found = registry.kernels.find(function);
  return found == registry.kernels.end() ? nullptr : found->second;
}

void RegisterKernel(const void* function, CUkern_st kernel) {
  Registry& registry = TheRegistry();
  std::lock_guard<std::mutex> lock(registry.mutex);
  CUkern_st*& slot = registry.kernels[function];
  if (slot == nullptr) slot = new CUkern_st();
  *slot = std::move(kernel);
}

}  // namespace gpubound::sim
