// SPDX-License-Identifier: Apache-2.0
//
// Reads what a user asks for. No state.
#include "analysis/replay/what_if.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>

#include "analysis/base/suggestion.h"
#include "analysis/timeline/cpu_state.h"
#include "analysis/trace/work_classes.h"

namespace gpubound {
namespace {

constexpr std::string_view kLayers[] = {"python", "simulator", "backend", "native", "cuda_api"};
constexpr std::string_view kLayerList = "python, simulator, backend, native, cuda_api";

bool IsLayer(std::string_view name) {
  for (size_t layer = 1; layer < kLayerCount; ++layer) {
    if (name == LayerName(static_cast<Layer>(layer))) return true;
  }
  return false;
}

Error Misread(std::string_view text, const std::string& found) {
  return {
      "reading", "'" + std::string(text) + "'", found,
      "PART=NAME:FACTOR, for instance operation=simulation:0.5",
      "PART is operation, operation-cpu, operation-gpu, layer (python, simulator, backend, native, "
      "cuda_api) or kernel; "
      "device:FACTOR stands for all device work. FACTOR multiplies the time, from 0 to 1000000."};
}

// A day becomes three thousand years, which still is a number of ns.
constexpr double kMostFactor = 1e6;

std::optional<double> FactorOf(std::string_view text) {
  double factor = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), factor);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return factor >= 0 && factor <= kMostFactor ? std::optional(factor) : std::nullopt;
}

}  // namespace

const char* PartName(ScaledPart part) {
  switch (part) {
    case ScaledPart::kOperation:
      return "operation";
    case ScaledPart::kOperationCpu:
      return "operation_cpu";
    case ScaledPart::kOperationGpu:
      return "operation_gpu";
    case ScaledPart::kLayer:
      return "layer";
    case ScaledPart::kKernel:
    case ScaledPart::kExactKernel:
      return "kernel";
    case ScaledPart::kDevice:
      break;
  }
  return "gpu";
}

bool IsScalableLayer(std::string_view name) {
  return std::find(std::begin(kLayers), std::end(kLayers), name) != std::end(kLayers);
}

Result<Scaling> ParseScaling(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return Misread(text, "no factor");
  const std::optional<double> factor = FactorOf(text.substr(colon + 1));
  if (!factor) return Misread(text, "a factor that is no number from 0 to 1000000");
  Scaling scaling;
  scaling.factor = *factor;
  const std::string_view what = text.substr(0, colon);
  if (what == "device") {
    scaling.part = ScaledPart::kDevice;
    return scaling;
  }
  const size_t equals = what.find('=');
  if (equals == std::string_view::npos) return Misread(text, "no name");
  const std::string_view part = what.substr(0, equals);
  scaling.name = std::string(what.substr(equals + 1));
  if (scaling.name.empty()) return Misread(text, "an empty name");
  if (part == "operation") {
    scaling.part = ScaledPart::kOperation;
  } else if (part == "operation-cpu") {
    scaling.part = ScaledPart::kOperationCpu;
  } else if (part == "operation-gpu") {
    scaling.part = ScaledPart::kOperationGpu;
  } else if (part == "kernel") {
    scaling.part = ScaledPart::kKernel;
  } else if (part == "layer") {
    scaling.part = ScaledPart::kLayer;
    if (IsScalableLayer(scaling.name)) return scaling;
    Error error = Misread(text, "a layer whose time is not the thread's own");
    if (!IsLayer(scaling.name)) error.found = "no such layer";
    error.expected = "one of " + std::string(kLayerList);
    return error;
  } else {
    return Misread(text, "part '" + std::string(part) + "'");
  }
  return scaling;
}

Result<OtherGpu> ParseGpu(std::string_view name) {
  OtherGpu gpu;
  gpu.kind = KindNamed(name);
  if (gpu.kind != nullptr) return gpu;
  const std::vector<std::string> known = KnownKinds();
  std::string all;
  for (const std::string& one : known) all += (all.empty() ? "" : ", ") + one;
  const std::string closest = ClosestName(name, known);
  return Error{"changing", "GPU '" + std::string(name) + "'", "no GPU of that name in the table",
               "one of " + all,
               closest.empty() ? "--scale device:FACTOR takes a factor of your own."
                               : "Did you mean '" + closest + "'?"};
}

}  // namespace gpubound
