// SPDX-License-Identifier: Apache-2.0
//
// Waves of blocks. No state.
#include "analysis/replay/kernel_lengths.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <string_view>

#include "analysis/replay/copy_kinds.h"
#include "analysis/timeline/sm_fill.h"
#include "analysis/trace/work_category.h"
#include "analysis/trace/work_classes.h"

namespace gpubound {
namespace {

double BlocksOf(const WorkInfo& work) {
  return double{static_cast<double>(work.grid[0])} * work.grid[1] * work.grid[2];
}

// What of a kernel a device runs at a time.
struct Waves {
  double blocks = 0;  // of one
  double count = 0;
};

// Absent where geometry or limits are not known.
std::optional<Waves> WavesOn(const WorkInfo& work, double blocks, const DeviceInfo& device) {
  const std::optional<uint32_t> resident = ResidentBlocksPerMultiprocessor(work, device);
  if (!resident || blocks <= 0 || device.multiprocessors == 0) return std::nullopt;
  const double multiprocessors = device.multiprocessors;
  const double each = std::min<double>(*resident, std::ceil(blocks / multiprocessors));
  Waves waves;
  waves.blocks = each * multiprocessors;
  waves.count = std::ceil(blocks / waves.blocks);
  return waves;
}

bool MultipliesMatrices(const Work& work, WorkClass work_class) {
  switch (CategoryOf(work.name, work_class, {})) {
    case WorkCategory::kGemm:
    case WorkCategory::kAttention:
    case WorkCategory::kConvolution:
      return true;
    default:
      return false;
  }
}

class Lengths {
 public:
  Lengths(const ProcessTrace& process, const WhatIf& changes)
      : from_(KindUsedBy(process)), changes_(changes) {
    for (const Stream& stream : process.streams) {
      if (device_.multiprocessors == 0) device_ = process.DeviceOf(stream.device).info;
    }
    if (device_.multiprocessors == 0 && from_ != nullptr) device_ = from_->limits;
  }

  double Of(const Work& work) const {
    if (work.info.kind == WorkKind::kNone) return 1;
    const WorkClass work_class = ClassOf(work);
    if (work_class == kComm) return 1;
    double factor = work_class == kCopy ? changes_.environments : MoreBlocks(work.info);
    if (changes_.gpu.kind != nullptr && from_ != nullptr) factor *= OnOtherGpu(work, work_class);
    return factor;
  }

 private:
  double MoreBlocks(const WorkInfo& work) const {
    const double blocks = BlocksOf(work);
    const std::optional<uint32_t> resident = ResidentBlocksPerMultiprocessor(work, device_);
    if (!resident || blocks <= 0 || device_.multiprocessors == 0) return changes_.environments;
    const double wave = double{static_cast<double>(*resident)} * device_.multiprocessors;
    return std::ceil(blocks * changes_.environments / wave) / std::ceil(blocks / wave);
  }

  // Of a resource of which the devices have |here| and |there| a second.
  double Waved(const WorkInfo& work, double here, double there) const {
    const double blocks = BlocksOf(work) * changes_.environments;
    const std::optional<Waves> now = WavesOn(work, blocks, device_);
    const std::optional<Waves> then = WavesOn(work, blocks, changes_.gpu.kind->limits);
    if (!now || !then) return here / there;
    return then->count / now->count * (then->blocks / now->blocks) * (here / there);
  }

  double OnOtherGpu(const Work& work, WorkClass work_class) const {
    const DeviceKind& to = *changes_.gpu.kind;
    if (work_class == kCopy) {
      const uint8_t kind = work.info.copy_kind;
      const bool by_link = work.info.kind == WorkKind::kMemcpy &&
                           (kind == kCopyHostToDevice || kind == kCopyDeviceToHost);
      return by_link ? 1 : from_->bytes / to.bytes;
    }
    const double by_memory = Waved(work.info, from_->bytes, to.bytes);
    const double by_arithmetic = MultipliesMatrices(work, work_class)
                                     ? Waved(work.info, from_->flops, to.flops)
                                     : Waved(work.info, from_->general_flops, to.general_flops);
    switch (changes_.gpu.bound) {
      case KernelBound::kShortest:
        return std::min(by_memory, by_arithmetic);
      case KernelBound::kLongest:
        return std::max(by_memory, by_arithmetic);
      case KernelBound::kMiddle:
        break;
    }
    return std::sqrt(by_memory * by_arithmetic);
  }

  const DeviceKind* const from_;
  const WhatIf& changes_;
  DeviceInfo device_;  // as it was recorded
};

}  // namespace

const DeviceKind* KindUsedBy(const ProcessTrace& process) {
  std::set<const DeviceKind*> kinds;
  for (const Stream& stream : process.streams) {
    const Device& device = process.DeviceOf(stream.device);
    if (!device.name.empty()) kinds.insert(KindOfDevice(device.name));
  }
  return kinds.size() == 1 ? *kinds.begin() : nullptr;
}

std::vector<double> KernelLengths(const ProcessTrace& process, const WhatIf& changes) {
  const Lengths lengths(process, changes);
  std::vector<double> factors;
  for (const Work& work : process.works) factors.push_back(lengths.Of(work));
  return factors;
}

}  // namespace gpubound
