// SPDX-License-Identifier: Apache-2.0
//
// CUDA API calls, through the CUDA runtime that the caller names, or whichever the dynamic loader
// finds: no CUDA is needed to build this. Each block issues short batches and waits for the device
// outside the measured time, so that the launch queue never fills. Calls behind other work are
// Python's (annotate/python/gpubound/_calibration_cuda.py, which finds CUDA as this does).
#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <vector>

#include "tools/calibrate/programs/workload.h"

namespace gpubound::calibration {
namespace {

using Stream = void*;
using Event = void*;
struct Dim3 {  // layout of CUDA's dim3
  unsigned x, y, z;
};

// The functions of libcudart that are used; handles are pointers and error codes ints.
struct Runtime {
  int (*cudaMalloc)(void**, size_t);
  int (*cudaMallocHost)(void**, size_t);
  int (*cudaStreamCreate)(Stream*);
  int (*cudaStreamSynchronize)(Stream);
  int (*cudaStreamWaitEvent)(Stream, Event, unsigned);
  int (*cudaEventCreate)(Event*);
  int (*cudaEventRecord)(Event, Stream);
  int (*cudaMemcpyAsync)(void*, const void*, size_t, int, Stream);
  int (*cudaMemsetAsync)(void*, int, size_t, Stream);
  int (*cudaLaunchKernel)(const void*, Dim3, Dim3, void**, size_t, Stream);
};

// From CUDA 12.8 on: kernels out of PTX without the start-up code that nvcc generates.
using LoadLibrary = int (*)(void** library, const void* code, void* jit_options, void** jit_values,
                            unsigned jit_count, void* options, void** values, unsigned count);
using GetKernel = int (*)(void** kernel, void* library, const char* name);
// Of the simulated device.
using RegisterKernel = int (*)(const void* function, const char* name, void* body,
                               const size_t* argument_sizes, uint32_t arguments, uint32_t registers,
                               uint32_t shared_bytes);

constexpr char kKernelName[] = "gpubound_calibration";
constexpr char kKernelPtx[] =
    ".version 6.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry gpubound_calibration() { ret; }\n";
constexpr size_t kBytes = 4096;
constexpr uint64_t kBatch = 32;
constexpr int kHostToDevice = 1;

template <typename Function>
bool Resolve(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  return *function != nullptr;
}

class Cuda {
 public:
  // Loads and initialises CUDA at the first call. Null, and |why|, where that cannot be.
  static Cuda* Get(const std::string& runtime, std::string* why) {
    static auto* const cuda = new Cuda(runtime);
    if (cuda->problem_.empty()) return cuda;
    *why = cuda->problem_;
    return nullptr;
  }

  const Runtime& runtime() const { return runtime_; }
  const void* kernel() const { return kernel_; }
  const std::string& no_kernel() const { return no_kernel_; }
  Stream stream() const { return stream_; }
  Event event() const { return event_; }
  void* device_memory() const { return device_memory_; }
  void* host_memory() const { return host_memory_; }

 private:
  explicit Cuda(const std::string& runtime) {
    void* library = Load(runtime);
    if (library == nullptr) return;
    if (!ResolveAll(library)) return;
    int result = runtime_.cudaMalloc(&device_memory_, kBytes);
    if (result == 0) result = runtime_.cudaMallocHost(&host_memory_, kBytes);
    if (result == 0) result = runtime_.cudaStreamCreate(&stream_);
    if (result == 0) result = runtime_.cudaEventCreate(&event_);
    if (result != 0) problem_ = "CUDA does not work here: its error " + std::to_string(result);
    if (result == 0) FindKernel(library);
  }

  void* Load(const std::string& runtime) {
    std::vector<std::string> names;
    if (!runtime.empty()) names.push_back(runtime);
    names.insert(names.end(), {"libcudart.so.13", "libcudart.so.12", "libcudart.so"});
    const char* home = std::getenv("CUDA_HOME");  // NOLINT(concurrency-mt-unsafe): one thread
    const std::string toolkit = home == nullptr ? "/usr/local/cuda" : home;
    names.push_back(toolkit + "/lib64/libcudart.so");
    for (const std::string& name : names) {
      if (void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    }
    problem_ = "no CUDA runtime (libcudart.so) was found; add its folder to LD_LIBRARY_PATH";
    return nullptr;
  }

  bool ResolveAll(void* library) {
    const auto resolve = [&](const char* name, auto* function) {
      if (!Resolve(library, name, function)) {
        problem_ = std::string("the CUDA runtime found lacks ") + name;
      }
    };
    resolve("cudaMalloc", &runtime_.cudaMalloc);
    resolve("cudaMallocHost", &runtime_.cudaMallocHost);
    resolve("cudaStreamCreate", &runtime_.cudaStreamCreate);
    resolve("cudaStreamSynchronize", &runtime_.cudaStreamSynchronize);
    resolve("cudaStreamWaitEvent", &runtime_.cudaStreamWaitEvent);
    resolve("cudaEventCreate", &runtime_.cudaEventCreate);
    resolve("cudaEventRecord", &runtime_.cudaEventRecord);
    resolve("cudaMemcpyAsync", &runtime_.cudaMemcpyAsync);
    resolve("cudaMemsetAsync", &runtime_.cudaMemsetAsync);
    resolve("cudaLaunchKernel", &runtime_.cudaLaunchKernel);
    return problem_.empty();
  }

  void FindKernel(void* library) {
    RegisterKernel simulate = nullptr;
    LoadLibrary load = nullptr;
    GetKernel get = nullptr;
    if (Resolve(library, "gpubound_sim_register_kernel", &simulate)) {
      kernel_ = kKernelName;
      simulate(kernel_, kKernelName, nullptr, nullptr, 0, 16, 0);
      return;
    }
    void* loaded = nullptr;
    void* kernel = nullptr;
    if (!Resolve(library, "cudaLibraryLoadData", &load) ||
        !Resolve(library, "cudaLibraryGetKernel", &get)) {
      no_kernel_ = "the CUDA runtime found is older than 12.8 and cannot load a kernel by itself";
    } else if (load(&loaded, kKernelPtx, nullptr, nullptr, 0, nullptr, nullptr, 0) != 0 ||
               get(&kernel, loaded, kKernelName) != 0) {
      no_kernel_ = "this device does not take PTX for compute capability 7.0";
    } else {
      kernel_ = kernel;  // cudaLaunchKernel takes such a handle for a function
    }
  }

  Runtime runtime_ = {};
  std::string problem_;
  std::string no_kernel_;
  const void* kernel_ = nullptr;
  Stream stream_ = nullptr;
  Event event_ = nullptr;
  void* device_memory_ = nullptr;
  void* host_memory_ = nullptr;
};

// Only the calls themselves are timed, not the wait for what they made the device do.
template <typename Call>
double InBatches(const Cuda& cuda, uint64_t count, Call call) {
  double took = 0;
  while (count > 0) {
    const uint64_t batch = std::min(count, kBatch);
    const auto wait = [&] { cuda.runtime().cudaStreamSynchronize(cuda.stream()); };
    const auto issue = [&] {
      for (uint64_t i = 0; i < batch; ++i) call();
    };
    took += UndisturbedNs(issue, wait);
    count -= batch;
  }
  return took;
}

}  // namespace

Block FindCudaWork(const std::string& name, const std::string& path, std::string* why) {
  if (!name.starts_with("cuda")) return nullptr;
  const Cuda* found = Cuda::Get(path, why);
  if (found == nullptr) return nullptr;
  const Cuda& cuda = *found;
  const Runtime& runtime = cuda.runtime();
  if (name == "cudaLaunchKernel" && cuda.kernel() == nullptr) {
    *why = cuda.no_kernel();
    return nullptr;
  }
  const auto calls = [&cuda](auto call) -> Block {
    return [&cuda, call](uint64_t count) { return InBatches(cuda, count, call); };
  };
  const std::map<std::string, Block> work = {
      {"cudaLaunchKernel", calls([&] {
         runtime.cudaLaunchKernel(cuda.kernel(), {1, 1, 1}, {1, 1, 1}, nullptr, 0, cuda.stream());
       })},
      {"cudaMemcpyAsync", calls([&] {
         runtime.cudaMemcpyAsync(cuda.device_memory(), cuda.host_memory(), kBytes, kHostToDevice,
                                 cuda.stream());
       })},
      {"cudaMemsetAsync",
       calls([&] { runtime.cudaMemsetAsync(cuda.device_memory(), 0, kBytes, cuda.stream()); })},
      {"cudaEventRecord", calls([&] { runtime.cudaEventRecord(cuda.event(), cuda.stream()); })},
      {"cudaStreamWaitEvent",
       calls([&] { runtime.cudaStreamWaitEvent(cuda.stream(), cuda.event(), 0); })},
      {"cudaStreamSynchronize", calls([&] { runtime.cudaStreamSynchronize(cuda.stream()); })}};
  const auto chosen = work.find(name);
  return chosen == work.end() ? nullptr : chosen->second;
}

}  // namespace gpubound::calibration
