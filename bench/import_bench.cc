// SPDX-License-Identifier: Apache-2.0
//
// How fast a PyTorch profile is read, in bytes of JSON per second of CPU: cut into events, parsed,
// mapped and numbered, beside what the same text costs nlohmann-json's event parser, which neither
// keeps decimals exact nor knows what it reads. One run, one thread each.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "analysis/import/foreign_trace.h"
#include "analysis/import/import_chrome.h"

namespace gpubound {
namespace {

constexpr int kSteps = 20'000;

class TextSource : public ByteSource {
 public:
  explicit TextSource(std::string_view text) : text_(text) {}
  Result<size_t> Read(char* to, size_t capacity) override {
    const size_t count = std::min(capacity, text_.size());
    text_.copy(to, count);
    text_.remove_prefix(count);
    return count;
  }

 private:
  std::string_view text_;
};

// An operator, the call in it and the kernel that it launches, as Kineto writes them.
std::string Profile() {
  std::string text = R"({"schemaVersion": 1, "traceEvents": [)";
  for (int i = 0; i < kSteps; ++i) {
    const std::string time = std::to_string(1419247332972 + i * 40) + ".313";
    const std::string id = std::to_string(8198 + i);
    if (i != 0) text += ",";
    text +=
        "\n  {\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::linear\", \"pid\": "
        "19392, "
        "\"tid\": 19392,\n    \"ts\": " +
        time +
        ", \"dur\": 22.510,\n    \"args\": {\n      "
        "\"External id\": " +
        id +
        ", \"Record function id\": 0, \"Concrete Inputs\": [\"\", \"0\", "
        "\"9223372036854775807\"], \"Input type\": [\"long int\", \"Scalar\"], \"Input Dims\": "
        "[[1, 512], [], []], \"Ev Idx\": " +
        id + "\n    }\n  },";
    text +=
        "\n  {\n    \"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", "
        "\"pid\": "
        "19392, \"tid\": 19392,\n    \"ts\": " +
        time +
        ", \"dur\": 5.970,\n    \"args\": {\n      "
        "\"External id\": " +
        id + ", \"cbid\": 211, \"correlation\": " + id + "\n    }\n  },";
    text +=
        "\n  {\n    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"void at::native::"
        "vectorized_elementwise_kernel<4, at::native::bfloat16_copy_kernel>(int)\", \"pid\": 0, "
        "\"tid\": 7,\n    \"ts\": " +
        time +
        ", \"dur\": 3.136,\n    \"args\": {\n      \"queued\": 0, "
        "\"device\": 0, \"context\": 1, \"stream\": 7, \"correlation\": " +
        id +
        ", \"registers per "
        "thread\": 16, \"shared memory\": 0, \"grid\": [512, 1, 1], \"block\": [128, 1, 1]\n    "
        "}\n  }";
  }
  return text + "\n]}\n";
}

const std::string& Text() {
  static const std::string text = Profile();
  return text;
}

void BM_ReadChromeTrace(benchmark::State& state) {
  for (auto _ : state) {
    ForeignTrace trace("/tmp");
    TextSource source(Text());
    const Status read = ReadChromeTrace(&source, "profile", &trace);
    if (!read.ok() || trace.cpu.size() != 2 * kSteps) std::abort();
    benchmark::DoNotOptimize(trace.last_ns);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(Text().size()));
}
BENCHMARK(BM_ReadChromeTrace)->Unit(benchmark::kMillisecond);

void BM_NlohmannAccept(benchmark::State& state) {
  for (auto _ : state) {
    if (!nlohmann::json::accept(Text())) std::abort();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(Text().size()));
}
BENCHMARK(BM_NlohmannAccept)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace gpubound

BENCHMARK_MAIN();
