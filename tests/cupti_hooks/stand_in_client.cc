// SPDX-License-Identifier: Apache-2.0
//
// A CUDA program with gpubound's CUPTI source inside, for stand_in_test: starts the source as the
// driver's injection would (before the first CUDA call, but for workloads before-LEVEL), works,
// stops, and prints what the source said as one JSON object. stand_in_client WORKLOAD [LIBCUPTI]
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cupti_hooks/cupti/cupti_source.h"
#include "libprofiler/clock.h"
#include "tests/cupti_hooks/recording_host.h"
#include "tests/ledger_of.h"
#include "tests/sim/include/gpubound_sim.h"

namespace gpubound {
namespace {

using Json = nlohmann::json;

constexpr int64_t kPlentyNs = 10'000'000'000;

char g_kernel;
char g_other_kernel;

int64_t NowNs() { return static_cast<int64_t>(ReadMonotonicNs()); }

void Launch(cudaStream_t stream = nullptr) {
  cudaLaunchKernel(&g_kernel, dim3(4, 2), dim3(128), nullptr, 256, stream);
}

void Basic() {
  std::vector<char> host(4096);
  void* device = nullptr;
  cudaMalloc(&device, host.size());
  cudaMemcpy(device, host.data(), host.size(), cudaMemcpyHostToDevice);
  cudaMemsetAsync(device, 0, 100, nullptr);
  Launch();
  for (int i = 0; i < 10; ++i) cudaGetLastError();
  cudaDeviceSynchronize();
  cudaMemcpy(host.data(), device, host.size(), cudaMemcpyDeviceToHost);
}

void Many() {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      cudaStream_t stream;
      cudaStreamCreate(&stream);
      for (int i = 0; i < 500; ++i) Launch(stream);
      cudaStreamSynchronize(stream);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Ten of a stream, which can be the driver's (script key "driver_api"), and ten of the runtime's.
void Query() {
  Launch();
  for (int i = 0; i < 10; ++i) cudaStreamQuery(nullptr);
  for (int i = 0; i < 10; ++i) cudaGetLastError();
}

// Leaves a kernel behind that is still running when the source is stopped.
void LeftRunning() { Launch(); }

void Nothing() {}

// Makes a graph of two kernels and a memory set in operation "capture".
cudaGraphExec_t CaptureGraph(RecordingHost* host, cudaStream_t stream) {
  host->open_operation = host->InternLabel(LabelKind::kOperation, "", "capture");
  static void* memory = nullptr;
  cudaMalloc(&memory, 4096);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  Launch(stream);
  Launch(stream);
  cudaMemsetAsync(memory, 0, 4096, stream);
  cudaGraph_t graph = nullptr;
  cudaStreamEndCapture(stream, &graph);
  cudaGraphExec_t executable = nullptr;
  cudaGraphInstantiate(&executable, graph, 0);
  host->open_operation = LabelId{};
  return executable;
}

// The same of nodes that the program adds itself; one of them is set to another kernel afterwards.
cudaGraphExec_t BuildGraph(RecordingHost* host) {
  host->open_operation = host->InternLabel(LabelKind::kOperation, "", "capture");
  cudaGraph_t graph = nullptr;
  cudaGraphCreate(&graph, 0);
  cudaKernelNodeParams parameters = {};
  parameters.func = &g_kernel;
  parameters.gridDim = dim3(4, 2);
  parameters.blockDim = dim3(128);
  cudaGraphNode_t first = nullptr;
  cudaGraphAddKernelNode(&first, graph, nullptr, 0, &parameters);
  cudaGraphNodeParams of_any_type = {};
  of_any_type.type = cudaGraphNodeTypeKernel;
  of_any_type.kernel.func = &g_kernel;
  of_any_type.kernel.gridDim = parameters.gridDim;
  of_any_type.kernel.blockDim = parameters.blockDim;
  cudaGraphNode_t second = nullptr;
  cudaGraphAddNode(&second, graph, &first, nullptr, 1, &of_any_type);
  cudaGraphExec_t executable = nullptr;
  cudaGraphInstantiate(&executable, graph, 0);
  parameters.func = &g_other_kernel;
  parameters.gridDim = dim3(16);
  cudaGraphExecKernelNodeSetParams(executable, second, &parameters);
  host->open_operation = LabelId{};
  return executable;
}

void LaunchGraph(cudaGraphExec_t executable, cudaStream_t stream, int times) {
  for (int i = 0; i < times; ++i) cudaGraphLaunch(executable, stream);
  cudaStreamSynchronize(stream);
}

gpubound_sim_listening Listening() {
  gpubound_sim_listening now = {};
  void* cupti = dlopen("libcupti.so.13", RTLD_LAZY | RTLD_NOLOAD);
  if (cupti == nullptr) return now;
  reinterpret_cast<gpubound_sim_listening_fn>(dlsym(cupti, "gpubound_sim_listening_now"))(&now);
  return now;
}

Json ForkChild(CuptiSource* source) {
  const pid_t child = fork();
  if (child == 0) {
    cudaGetLastError();  // may still be called back for
    source->AbandonInForkChild();
    source->Stop(NowNs() + kPlentyNs, gpubound::AfterStop::kProgramEnds);
    _exit(42);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

Json Describe(const RecordingHost& host) {
  Json result;
  result["pid_tid"] = static_cast<uint32_t>(syscall(SYS_gettid));
  for (const ApiRecord& api : host.sink.apis) {
    result["api"].push_back({{"name", host.LabelOf(api.label).text},
                             {"tid", api.tid},
                             {"correlation", api.correlation},
                             {"start", api.start_ns},
                             {"end", api.end_ns}});
  }
  for (const DeviceRecord& work : host.sink.devices) {
    const RecordingHost::Work& what = host.WorkOf(work);
    result["work"].push_back({{"name", what.name},
                              {"kind", what.info.kind},
                              {"grid", what.info.grid},
                              {"dynamic_shared", what.info.dynamic_shared_bytes},
                              {"bytes", work.bytes},
                              {"correlation", work.correlation},
                              {"stream", host.StreamOf(work).stream},
                              {"graph", work.graph},
                              {"node", work.graph_node},
                              {"start", work.start_ns},
                              {"end", work.end_ns}});
  }
  for (const auto& [counter, value] : host.counts) {
    result["ledger"][LedgerName(counter)] = value;
  }
  for (const auto& unknown : host.unknowns) {
    result["unknown"].push_back({unknown.from_ns, unknown.to_ns, unknown.reason});
  }
  for (const auto& [index, device] : host.devices) {
    result["devices"].push_back({{"name", device.name},
                                 {"simulated", device.info.simulated},
                                 {"multiprocessors", device.info.multiprocessors}});
  }
  for (const ContextInfo& context : host.contexts) {
    result["contexts"].push_back({{"device", context.device},
                                  {"multiprocessors", context.multiprocessors},
                                  {"green", context.is_green}});
  }
  for (const auto& [info, name] : host.graph_nodes) {
    const bool known = info.operation != LabelId{};
    result["graph_nodes"].push_back(
        {{"node", info.node},
         {"graph", info.graph},
         {"name", name},
         {"operation", known ? host.LabelOf(info.operation).text : ""}});
  }
  result["notes"] = host.notes;
  result["facts"] = host.facts;
  result["syncs"] = host.sink.syncs.size();
  result["delivered_until"] = host.delivered_until;
  return result;
}

// CUPTI's own answer: 1 it is, 2 nobody has decided. -1: it has none.
int OpenToSeveral() {
  void* library = dlopen("libcupti.so.13", RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return -1;
  using Get = CUptiResult (*)(CUpti_SubscriberHandle, int, size_t*, void*);
  const auto get = reinterpret_cast<Get>(dlsym(library, "cuptiActivityGetAttribute_v2"));
  uint8_t state = 0;
  size_t size = sizeof(state);
  constexpr int kMultipleSubscriberState = 12;
  return get(nullptr, kMultipleSubscriberState, &size, &state) == CUPTI_SUCCESS ? state : -1;
}

GraphLevel LevelOf(const std::string& workload) {
  GraphLevel level = GraphLevel::kNode;
  ParseGraphLevel(workload.substr(workload.find('-') + 1), &level);
  return level;
}

int Main(const std::string& workload, const std::string& library) {
  auto* register_kernel = reinterpret_cast<gpubound_sim_register_kernel_fn>(
      dlsym(RTLD_DEFAULT, "gpubound_sim_register_kernel"));
  register_kernel(&g_kernel, "scripted", nullptr, nullptr, 0, 40, 512);
  register_kernel(&g_other_kernel, "other", nullptr, nullptr, 0, 40, 0);
  // As CUDA itself has by the time that it loads a profiler; a stand-in for it, where there is one.
  if (const char* driver = std::getenv("GPUBOUND_STAND_IN_DRIVER")) dlopen(driver, RTLD_LAZY);

  static auto* const host = new RecordingHost;  // CUPTI's threads may outlive this function
  CuptiOptions options;
  options.library_path = library;
  options.levels.graphs = LevelOf(workload);
  if (const char* quiet = std::getenv("GPUBOUND_QUIET_APIS")) options.quiet = QuietApis(quiet);
  options.levels.count_queries = std::getenv("GPUBOUND_COUNT_QUERIES") != nullptr;
  options.share = workload == "basic-shared";
  static auto* const source = new CuptiSource(options);
  const bool captures_before = workload.starts_with("before-");
  const bool builds = workload.starts_with("added-");
  const bool uses_graphs = captures_before || builds || workload.starts_with("graph-");
  cudaStream_t stream = nullptr;
  cudaGraphExec_t graph = nullptr;
  if (captures_before) {
    cudaStreamCreate(&stream);
    graph = CaptureGraph(host, stream);
  }
  const bool started = source->Start(host);
  if (uses_graphs && graph == nullptr) {
    cudaStreamCreate(&stream);
    graph = builds ? BuildGraph(host) : CaptureGraph(host, stream);
  }
  if (uses_graphs) LaunchGraph(graph, stream, 3);
  Json extra;
  if (workload.starts_with("basic") || workload.starts_with("fork")) Basic();
  if (workload == "many") Many();
  if (workload == "queries") Query();
  if (workload == "left_running") LeftRunning();
  if (workload == "nothing") Nothing();
  if (workload.starts_with("fork")) extra = ForkChild(source);
  int64_t clock_ns = 0;
  const bool has_clock = source->ReadClock(&clock_ns);
  const int open_to_several = OpenToSeveral();
  source->Stop(NowNs() + kPlentyNs,
               workload == "basic-goes-on" ? AfterStop::kProgramGoesOn : AfterStop::kProgramEnds);

  Json result = Describe(*host);
  result["listening"] = Listening().callbacks;
  result["subscribers"] = Listening().subscribers;
  result["started"] = started;
  result["ended"] = source->HasEnded();
  result["cupti"] = CuptiInUse();
  result["has_clock"] = has_clock;
  result["child"] = extra;
  result["open_to_several"] = open_to_several;
  std::puts(result.dump().c_str());
  std::fflush(stdout);
  return 0;
}

}  // namespace
}  // namespace gpubound

int main(int argc, char** argv) {
  return argc < 2 ? 2 : gpubound::Main(argv[1], argc > 2 ? argv[2] : "");
}
