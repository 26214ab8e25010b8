// SPDX-License-Identifier: Apache-2.0
//
// Prefixes and suffixes. No state.
#include "analysis/import/import_torch_names.h"

#include <algorithm>
#include <iterator>

namespace gpubound {
namespace {

constexpr std::string_view kOwnRanges[] = {
    "Optimizer.step#",
    "Optimizer.zero_grad#",
    "enumerate(DataLoader)#",
    "FSDP::",
    "FullyShardedDataParallel.",
    "DistributedDataParallel.",
    "FSDP.",
    "DataParallel.",
    "PyTorch Profiler",
};

constexpr std::string_view kModule = "nn.Module: ";
constexpr std::string_view kBackwardNode = "autograd::engine::evaluate_function: ";

// What emit_nvtx() appends to a name, each with a value.
constexpr std::string_view kIds[] = {
    ", seq = ", ", op_id = ", ", sizes = ", ", input_op_ids = ", ", stashed seq = ",
};

}  // namespace

bool IsTorchsOwnRange(std::string_view name) {
  return std::any_of(std::begin(kOwnRanges), std::end(kOwnRanges),
                     [name](std::string_view prefix) { return name.starts_with(prefix); });
}

std::optional<std::string_view> OperationOfTorchRange(std::string_view name) {
  if (name.starts_with("Optimizer.")) return "optimizer";
  if (name.starts_with("enumerate(DataLoader)#")) return "data loading";
  return std::nullopt;
}

std::string_view ModuleOf(std::string_view name) {
  if (!name.starts_with(kModule)) return {};
  name.remove_prefix(kModule.size());
  const size_t mark = name.rfind('_');
  const bool numbered = mark != std::string_view::npos && mark > 0 && mark + 1 < name.size() &&
                        name.find_first_not_of("0123456789", mark + 1) == std::string_view::npos;
  return numbered ? name.substr(0, mark) : name;
}

bool IsBackwardNode(std::string_view name) { return name.starts_with(kBackwardNode); }

bool IsNativeFunction(std::string_view name) {
  return name.starts_with("<built-in ") || name.starts_with("<method ");
}

std::string_view WithoutCallIds(std::string_view name) {
  size_t end = name.size();
  for (const std::string_view id : kIds) end = std::min(end, name.find(id));
  return name.substr(0, end);
}

std::string WithoutNumbers(std::string_view name) {
  std::string folded;
  bool in_number = false;
  for (const char c : name) {
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit) folded += c;
    if (is_digit && !in_number) folded += '#';
    in_number = is_digit;
  }
  return folded;
}

}  // namespace gpubound
