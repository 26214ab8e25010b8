// SPDX-License-Identifier: Apache-2.0
//
// Factors by number. No state beyond the object.
#include "analysis/replay/replay_scales.h"

#include <algorithm>

#include "analysis/replay/kernel_lengths.h"
#include "analysis/trace/work_classes.h"
#include "proto/sync_calls.h"

namespace gpubound {

ReplayScales::ReplayScales(const ProcessTrace& process, const std::vector<std::string>& operations,
                           const WhatIf& changes)
    : by_operation_(operations.size(), 1.0),
      of_launched_(operations.size(), 1.0),
      by_work_(process.works.size(), 1.0),
      captures_(operations.size()),
      fuses_(operations.size()),
      merges_any_(!changes.graph_capture.empty() || !changes.fuse.empty()) {
  by_layer_.fill(1.0);
  const auto scale_operation = [&](const Scaling& scaling, std::vector<double>* factors) {
    for (size_t i = 0; i < operations.size(); ++i) {
      if (operations[i] == scaling.name) (*factors)[i] *= scaling.factor;
    }
  };
  const auto scale_some_work = [this](double factor) {
    least_of_work_ *= std::min(1.0, factor);
    most_of_work_ *= std::max(1.0, factor);
  };
  for (const Scaling& scaling : changes.scalings) {
    const bool both = scaling.part == ScaledPart::kOperation;
    switch (scaling.part) {
      case ScaledPart::kOperation:
      case ScaledPart::kOperationCpu:
      case ScaledPart::kOperationGpu:
        if (both || scaling.part == ScaledPart::kOperationCpu) {
          scale_operation(scaling, &by_operation_);
          scales_cpu_ = true;
        }
        if (both || scaling.part == ScaledPart::kOperationGpu) {
          scale_operation(scaling, &of_launched_);
          scale_some_work(scaling.factor);
        }
        break;
      case ScaledPart::kLayer:
        for (size_t layer = 0; layer < kLayers; ++layer) {
          if (LayerName(static_cast<Layer>(layer)) == scaling.name) {
            by_layer_[layer] *= scaling.factor;
          }
        }
        scales_cpu_ = true;
        break;
      case ScaledPart::kKernel:
      case ScaledPart::kExactKernel:
        scale_some_work(scaling.factor);
        for (size_t i = 0; i < by_work_.size(); ++i) {
          const std::string& name = process.works[i].name;
          const bool is_it = scaling.part == ScaledPart::kExactKernel
                                 ? name == scaling.name
                                 : name.find(scaling.name) != std::string::npos;
          if (is_it) by_work_[i] *= scaling.factor;
        }
        break;
      case ScaledPart::kDevice:
        for (double& factor : by_work_) factor *= scaling.factor;
        device_ *= scaling.factor;
        least_of_work_ *= scaling.factor;
        most_of_work_ *= scaling.factor;
        break;
    }
  }
  const auto is_in = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  for (size_t i = 0; i < operations.size(); ++i) {
    captures_[i] = is_in(changes.graph_capture, operations[i]);
    fuses_[i] = is_in(changes.fuse, operations[i]);
  }
  if (!changes.changes_kernels()) return;
  const std::vector<double> lengths = KernelLengths(process, changes);
  for (size_t i = 0; i < by_work_.size(); ++i) by_work_[i] *= lengths[i];
  if (lengths.empty()) return;
  const auto [least, most] = std::minmax_element(lengths.begin(), lengths.end());
  least_of_work_ *= std::min(1.0, *least);
  most_of_work_ *= std::max(1.0, *most);
}

bool LaunchesKernel(std::string_view api) {
  return api.find("LaunchKernel") != std::string_view::npos;
}

bool IsCapturable(std::string_view api) {
  if (ClassifyApi(api) == ApiClass::kSync) return false;
  api = StripApiVersion(api);
  const bool moves =
      api.find("Memcpy") != std::string_view::npos || api.find("Memset") != std::string_view::npos;
  return LaunchesKernel(api) || (moves && api.find("Async") != std::string_view::npos);
}

bool EndsCapture(std::string_view api) {
  if (ClassifyApi(api) == ApiClass::kSync) return true;
  const auto has = [api](std::string_view part) {
    return api.find(part) != std::string_view::npos;
  };
  const bool allocates = has("Malloc") || has("Alloc") || has("Free");
  const bool asks = has("StreamQuery") || has("EventQuery");
  return asks || (allocates && !has("Async"));
}

}  // namespace gpubound
