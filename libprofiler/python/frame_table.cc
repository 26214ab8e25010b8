// SPDX-License-Identifier: Apache-2.0
//
// Gives out the numbers.
#include "libprofiler/python/frame_table.h"

namespace gpubound {

FunctionId FrameTable::InternFunction(std::string_view file, std::string_view name) {
  if (function_ids_.size() >= kMostFunctions) file = "", name = "(other functions)";
  std::string key;
  key.reserve(file.size() + 1 + name.size());
  key.append(file).append(1, '\0').append(name);
  const auto [found, is_new] = function_ids_.try_emplace(std::move(key), FunctionId{});
  if (!is_new) return found->second;
  const std::lock_guard<std::mutex> lock(mutex_);
  found->second = static_cast<FunctionId>(functions_.size() + 1);
  functions_.Add({found->second, std::string(file), std::string(name)});
  return found->second;
}

FrameId FrameTable::InternFrame(FrameId caller, FunctionId function, uint32_t line) {
  const auto known = frame_ids_.find({caller, function, line});
  if (known != frame_ids_.end()) return known->second;
  if (frame_ids_.size() >= kMostFrames) {
    ++overflowed_;
    return caller;
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto id = static_cast<FrameId>(frames_.size() + 1);
  frames_.Add({id, caller, function, line});
  frame_ids_.emplace(Key{caller, function, line}, id);
  return id;
}

void FrameTable::CopyRowsSince(FrameTablePositions* positions, FrameTableRows* out) {
  const std::lock_guard<std::mutex> lock(mutex_);
  functions_.CopySince(&positions->functions, &out->functions);
  frames_.CopySince(&positions->frames, &out->frames);
}

}  // namespace gpubound
