// SPDX-License-Identifier: Apache-2.0
#include "tests/fake_cupti/protocol_workloads.h"

#include <cuda_runtime_api.h>
#include <cupti.h>
#include <dlfcn.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "tests/sim/include/gpubound_sim.h"

namespace gpubound::sim {
namespace {

using Json = nlohmann::json;

uint32_t Tid() { return static_cast<uint32_t>(syscall(SYS_gettid)); }

char scripted_kernel;
char updated_kernel;
char adding_kernel;

void AddBody(const gpubound_sim_launch* launch) {
  int* values = *static_cast<int**>(launch->args[0]);
  const int amount = *static_cast<int*>(launch->args[1]);
  for (uint32_t i = 0; i < launch->grid[0] * launch->block[0]; ++i) values[i] += amount;
}

cudaError_t Launch(cudaStream_t stream = nullptr) {
  return cudaLaunchKernel(&scripted_kernel, dim3(4), dim3(64), nullptr, 0, stream);
}

Json Basic() {
  std::vector<char> host(1000, 'x');
  void* device = nullptr;
  cudaMalloc(&device, host.size());
  cudaMemcpy(device, host.data(), host.size(), cudaMemcpyHostToDevice);
  cudaMemsetAsync(device, 1, 100, nullptr);
  const cudaError_t launched = Launch();
  cudaDeviceSynchronize();
  cudaMemcpy(host.data(), device, host.size(), cudaMemcpyDeviceToHost);
  return {{"launched", launched}, {"first", host[0]}, {"last", host[999]}};
}

Json Bodies() {
  int* values = nullptr;
  cudaMalloc(reinterpret_cast<void**>(&values), 256 * sizeof(int));
  cudaMemset(values, 0, 256 * sizeof(int));
  int amount = 3;
  void* args[] = {&values, &amount};
  cudaLaunchKernel(&adding_kernel, dim3(4), dim3(64), args, 0, nullptr);
  amount = 100;  // the launch took its copy
  cudaLaunchKernel(&adding_kernel, dim3(4), dim3(64), args, 0, nullptr);
  std::vector<int> host(256);
  cudaMemcpy(host.data(), values, 256 * sizeof(int), cudaMemcpyDeviceToHost);
  return {{"first", host[0]}, {"last", host[255]}};
}

Json TwoStreams() {
  cudaStream_t streams[2];
  for (auto& stream : streams) cudaStreamCreate(&stream);
  for (auto& stream : streams) Launch(stream);
  for (auto& stream : streams) cudaStreamSynchronize(stream);
  uint32_t id = 0;
  cuptiGetStreamIdEx(nullptr, streams[0], 0, &id);
  return {{"first_stream_id", id}};
}

Json Many() {
  for (int i = 0; i < 500; ++i) Launch();
  cudaDeviceSynchronize();
  return {};
}

Json Threads() {
  Json tids = Json::array();
  for (int i = 0; i < 2; ++i) {  // one after the other: at the same time both may ask for a buffer
    std::thread([&] {
      Launch();
      tids.push_back(Tid());
    }).join();
  }
  cudaDeviceSynchronize();
  return {{"tids", tids}};
}

Json Graph() {
  cudaStream_t stream = nullptr;
  cudaStream_t side = nullptr;
  cudaEvent_t fork = nullptr;
  cudaEvent_t join = nullptr;
  cudaStreamCreate(&stream);
  cudaStreamCreate(&side);
  cudaEventCreate(&fork);
  cudaEventCreate(&join);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  Launch(stream);
  cudaEventRecord(fork, stream);
  cudaStreamWaitEvent(side, fork, 0);
  Launch(side);
  Launch(stream);
  cudaEventRecord(join, side);
  cudaStreamWaitEvent(stream, join, 0);
  Launch(stream);
  cudaGraph_t graph = nullptr;
  cudaStreamEndCapture(stream, &graph);
  size_t nodes = 0;
  cudaGraphGetNodes(graph, nullptr, &nodes);
  cudaGraphExec_t executable = nullptr;
  cudaGraphInstantiate(&executable, graph, 0);
  for (int i = 0; i < 2; ++i) cudaGraphLaunch(executable, stream);
  cudaStreamSynchronize(stream);
  return {{"nodes", nodes}};
}

// Of so many kernels called |kernel|, one behind the other.
cudaGraph_t CaptureChain(cudaStream_t stream, const void* kernel, int length) {
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  for (int i = 0; i < length; ++i) {
    cudaLaunchKernel(kernel, dim3(1), dim3(1), nullptr, 0, stream);
  }
  cudaGraph_t graph = nullptr;
  cudaStreamEndCapture(stream, &graph);
  return graph;
}

// A graph of one node, launched before and after it is updated with another, then with one that has
// a node too many.
Json GraphUpdate() {
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  cudaGraphExec_t executable = nullptr;
  cudaGraphInstantiate(&executable, CaptureChain(stream, &scripted_kernel, 1), 0);
  cudaGraphLaunch(executable, stream);
  cudaGraphExecUpdateResultInfo info = {};
  const auto update = [&](int length) {
    cudaGraph_t graph = CaptureChain(stream, &updated_kernel, length);
    const cudaError_t error = cudaGraphExecUpdate(executable, graph, &info);
    cudaGraphDestroy(graph);
    return error;
  };
  const cudaError_t same = update(1);
  cudaGraphLaunch(executable, stream);
  const cudaError_t longer = update(2);
  cudaStreamSynchronize(stream);
  return {{"same", same}, {"longer", longer}, {"longer_result", info.result}};
}

Json Events() {
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  cudaEvent_t start = nullptr;
  cudaEvent_t end = nullptr;
  cudaEventCreate(&start);
  cudaEventCreate(&end);
  cudaEventRecord(start, stream);
  Launch(stream);
  cudaEventRecord(end, stream);
  const cudaError_t early = cudaEventQuery(end);
  cudaEventSynchronize(end);
  float milliseconds = 0;
  const cudaError_t elapsed = cudaEventElapsedTime(&milliseconds, start, end);
  return {{"early", early}, {"elapsed", elapsed}, {"milliseconds", milliseconds}};
}

Json Unfinished() {
  Launch();
  return {};
}

Json Peers() {
  void* first = nullptr;
  void* second = nullptr;
  cudaMalloc(&first, 64);
  cudaSetDevice(1);
  cudaMalloc(&second, 64);
  cudaMemcpyPeerAsync(second, 1, first, 0, 64, nullptr);
  Launch();
  cudaDeviceSynchronize();
  return {};
}

Json HostFunction() {
  static int calls = 0;
  Launch();
  cudaLaunchHostFunc(
      nullptr, [](void* counter) { ++*static_cast<int*>(counter); }, &calls);
  cudaDeviceSynchronize();
  return {{"calls", calls}};
}

Json Errors() {
  int device = 0;
  const cudaError_t bad_device = cudaSetDevice(77);
  const cudaError_t last = cudaGetLastError();
  const cudaError_t cleared = cudaGetLastError();
  static char unknown;
  return {{"bad_device", bad_device},
          {"last", last},
          {"cleared", cleared},
          {"unknown_kernel", cudaLaunchKernel(&unknown, dim3(1), dim3(1), nullptr, 0, nullptr)},
          {"empty_grid", cudaLaunchKernel(&scripted_kernel, dim3(0), dim3(1), nullptr, 0, nullptr)},
          {"get_device", cudaGetDevice(&device)},
          {"name", cudaGetErrorName(bad_device)}};
}

// What a fork child gets from CUDA and, if it asks, from FlushAll within half a second.
Json Fork() {
  Launch();
  cudaDeviceSynchronize();
  const pid_t child = fork();
  if (child == 0) _exit(Launch() == cudaErrorInitializationError ? 3 : 0);
  int status = 0;
  waitpid(child, &status, 0);
  const pid_t flusher = fork();
  if (flusher == 0) {
    cuptiActivityFlushAll(0);
    _exit(0);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  int flusher_status = 0;
  const bool hangs = waitpid(flusher, &flusher_status, WNOHANG) == 0;
  if (hangs) {
    kill(flusher, SIGKILL);
    waitpid(flusher, &flusher_status, 0);
  }
  return {{"child_exit", WEXITSTATUS(status)}, {"flush_hangs", hangs}};
}

Json External() {
  cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, 41);
  cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, 42);
  Launch();
  uint64_t popped = 0;
  cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &popped);
  cudaDeviceSynchronize();
  return {{"popped", popped}};
}

const std::map<std::string, std::function<Json()>> kWorkloads = {
    {"none", [] { return Json(); }},
    {"basic", Basic},
    {"bodies", Bodies},
    {"two_streams", TwoStreams},
    {"many", Many},
    {"threads", Threads},
    {"graph", Graph},
    {"graph_update", GraphUpdate},
    {"events", Events},
    {"unfinished", Unfinished},
    {"peers", Peers},
    {"host_function", HostFunction},
    {"errors", Errors},
    {"fork", Fork},
    {"external", External},
    {"finalize", [] { return Json(static_cast<int>(cuptiFinalize())); }},
};

}  // namespace

void RegisterWorkloadKernels() {
  auto* register_kernel = reinterpret_cast<gpubound_sim_register_kernel_fn>(
      dlsym(RTLD_DEFAULT, "gpubound_sim_register_kernel"));
  register_kernel(&scripted_kernel, "scripted", nullptr, nullptr, 0, 24, 0);
  register_kernel(&updated_kernel, "updated", nullptr, nullptr, 0, 24, 0);
  const size_t sizes[] = {sizeof(int*), sizeof(int)};
  register_kernel(&adding_kernel, "adding", AddBody, sizes, 2, 16, 128);
}

nlohmann::json RunWorkload(const std::string& name) { return kWorkloads.at(name)(); }

}  // namespace gpubound::sim
