// SPDX-License-Identifier: Apache-2.0
//
// Lookups of work_cache.h. The source's worker only.
#include "cupti_hooks/cupti/work_cache.h"

#include <cstddef>

#include "proto/given_names.h"

namespace gpubound {
namespace {

// A program whose geometry never repeats must not grow the cache for ever; the rows themselves are
// the collector's to bound.
constexpr size_t kMaxKernels = 1 << 16;
constexpr size_t kMostStreams = 1 << 16;

size_t Mix(size_t hash, uint64_t value) {
  return (hash ^ value) * 0x9e3779b97f4a7c15u + (hash >> 29);
}

}  // namespace

std::string_view CopyName(uint8_t copy_kind) {
  return copy_kind < std::size(kCopyNames) ? kCopyNames[copy_kind] : kCopyNames[0];
}

size_t WorkCache::KernelKeyHash::operator()(const KernelKey& key) const {
  size_t hash = reinterpret_cast<size_t>(key.name);
  for (int i = 0; i < 3; ++i) {
    hash = Mix(hash, (uint64_t{key.info.grid[i]} << 32) | key.info.block[i]);
  }
  hash = Mix(hash, (uint64_t{key.info.registers_per_thread} << 32) | key.info.static_shared_bytes);
  return Mix(hash, key.info.dynamic_shared_bytes);
}

size_t WorkCache::StreamKeyHash::operator()(const StreamKey& key) const {
  return Mix(Mix(key.device, key.context), key.stream);
}

WorkId WorkCache::KernelOf(const WorkInfo& info, const char* name) {
  const std::string_view text = name == nullptr ? kUnnamedKernel : name;
  const KernelKey key = {name, info};
  const auto known = kernels_.find(key);
  if (known != kernels_.end() && known->second.name == text) return known->second.id;
  const WorkId id = host_->InternWork(info, text);
  if (kernels_.size() >= kMaxKernels) kernels_.clear();
  kernels_.insert_or_assign(key, Kernel{std::string(text), id});
  return id;
}

WorkId WorkCache::CopyOf(uint8_t copy_kind) {
  WorkInfo info;
  info.kind = WorkKind::kMemcpy;
  info.copy_kind = copy_kind;
  if (copy_kind >= std::size(copies_)) return host_->InternWork(info, CopyName(copy_kind));
  WorkId& id = copies_[copy_kind];
  if (id == WorkId{}) id = host_->InternWork(info, CopyName(copy_kind));
  return id;
}

// There are copies of one kind between devices, and the host knows what it was given before. The
// importer knows such records of an exported run by their names.
WorkId WorkCache::OtherEndOf(uint8_t copy_kind) {
  WorkInfo info;
  info.kind = WorkKind::kMemcpy;
  info.copy_kind = copy_kind | kCopyOtherEnd;
  return host_->InternWork(info, std::string(CopyName(copy_kind)) + std::string(kOtherEnd));
}

WorkId WorkCache::Memset() {
  WorkInfo info;
  info.kind = WorkKind::kMemset;
  if (memset_ == WorkId{}) memset_ = host_->InternWork(info, "Memset");
  return memset_;
}

WorkId WorkCache::Graph() {
  WorkInfo info;
  info.kind = WorkKind::kGraph;
  if (graph_ == WorkId{}) graph_ = host_->InternWork(info, "CUDA graph");
  return graph_;
}

DeviceId WorkCache::DeviceOf(uint32_t index) {
  const auto known = devices_.find(index);
  if (known != devices_.end()) return known->second;
  DeviceInfo info;
  info.index = index;
  info.simulated = simulated_;
  return devices_[index] = host_->DefineDevice(info, "");
}

void WorkCache::DescribeDevice(DeviceInfo info, std::string_view name) {
  info.simulated = simulated_;
  devices_[info.index] = host_->DefineDevice(info, name);
}

StreamId WorkCache::StreamOf(uint32_t device, uint32_t context, uint32_t stream) {
  const StreamKey key = {device, context, stream};
  const auto known = streams_.find(key);
  if (known != streams_.end()) return known->second;
  if (streams_.size() >= kMostStreams) streams_.clear();  // the host still knows them
  return streams_[key] = host_->InternStream(DeviceOf(device), context, stream);
}

}  // namespace gpubound
