// SPDX-License-Identifier: Apache-2.0
//
// Interns names. One object, one thread.
#include "analysis/import/import_names.h"

#include <limits>

#include "analysis/base/whole_number.h"
#include "proto/given_names.h"

namespace gpubound {
namespace {

// Room that is kept for "(other names)" of every kind and layer.
constexpr size_t kReservedLabels = 64;

template <typename Table>
const std::string& NameIn(const Table& table, const std::string& key) {
  static const std::string none;
  const auto found = table.find(key);
  return found == table.end() ? none : found->second;
}

}  // namespace

ForeignNames::ForeignNames() : labels_(1), streams_(1), works_(1), ops_(1), devices_(1) {}

uint32_t ForeignNames::Process(std::string_view key) {
  if (const auto found = process_index_.find(key); found != process_index_.end()) {
    return found->second;
  }
  const auto index = static_cast<uint32_t>(processes_.size());
  process_index_.emplace(key, index);
  process_keys_.emplace_back(key);
  ForeignProcess process;
  process.pid = ParseInt(key).value_or(-1 - int64_t{index});
  if (!pids_.insert(process.pid).second) {
    process.pid = -1 - int64_t{index};
    while (!pids_.insert(process.pid).second) --process.pid;
  }
  processes_.push_back(process);
  return index;
}

uint32_t ForeignNames::UniqueTid(uint32_t process, int64_t id) {
  // Threads of pid 0 may turn out to be another process's: they stay clear of its ids.
  uint32_t tid = std::numeric_limits<uint32_t>::max();
  const bool usable = id > 0 && id < std::numeric_limits<uint32_t>::max();
  if (usable && processes_[process].pid != 0) tid = static_cast<uint32_t>(id);
  while (!tids_.emplace(process, tid).second) --tid;
  return tid;
}

std::string ForeignNames::ThreadKey(std::string_view process_key, std::string_view key) {
  std::string joined(process_key);
  joined += '\0';
  joined += key;
  return joined;
}

uint32_t ForeignNames::Thread(uint32_t process, std::string_view key) {
  lookup_.assign(process_keys_[process]);
  lookup_ += '\0';
  lookup_ += key;
  if (const auto found = thread_index_.find(lookup_); found != thread_index_.end()) {
    return found->second;
  }
  const auto index = static_cast<uint32_t>(threads_.size());
  thread_index_.emplace(lookup_, index);
  thread_keys_.push_back(lookup_);
  ForeignThread thread;
  thread.process = process;
  thread.id = ParseInt(key).value_or(-1 - int64_t{index});
  thread.tid = UniqueTid(process, thread.id);
  threads_.push_back(thread);
  return index;
}

LabelId ForeignNames::Label(LabelKind kind, Layer layer, std::string_view domain,
                            std::string_view text) {
  ByText<LabelId>& index = label_index_[{kind, layer, std::string(domain)}];
  if (const auto found = index.find(text); found != index.end()) return found->second;
  if (labels_.size() >= kMaxLabels - kReservedLabels && text != kOtherNames) {
    ++names_lost_;
    return Label(kind, layer, "", kOtherNames);
  }
  const auto id = static_cast<LabelId>(labels_.size());
  labels_.push_back({kind, layer, std::string(domain), std::string(text)});
  index.emplace(text, id);
  return id;
}

Device& ForeignNames::DeviceAt(uint32_t ordinal) {
  const auto [entry, added] =
      device_index_.try_emplace(ordinal, static_cast<DeviceId>(devices_.size()));
  if (added) {
    devices_.emplace_back();
    devices_.back().info.index = ordinal;
    devices_.back().name = "device " + std::to_string(ordinal);
  }
  return devices_[Raw(entry->second)];
}

StreamId ForeignNames::Stream(uint32_t device, uint32_t context, uint32_t stream) {
  const auto [entry, added] = stream_index_.try_emplace(std::tuple(device, context, stream),
                                                        static_cast<StreamId>(streams_.size()));
  if (added) {
    DeviceAt(device);
    streams_.push_back({device_index_.at(device), context, stream});
  }
  return entry->second;
}

WorkId ForeignNames::Work(const WorkInfo& info, std::string_view name) {
  auto by_name = work_index_.find(name);
  if (by_name == work_index_.end()) {
    by_name = work_index_.emplace(name, std::map<WorkKey, WorkId>()).first;
  }
  const WorkKey key(info.kind, info.copy_kind, info.grid[0], info.grid[1], info.grid[2],
                    info.block[0], info.block[1], info.block[2], info.registers_per_thread,
                    info.static_shared_bytes, info.dynamic_shared_bytes);
  const auto [entry, added] = by_name->second.try_emplace(key, static_cast<WorkId>(works_.size()));
  if (added) works_.push_back({info, std::string(name)});
  return entry->second;
}

uint32_t ForeignNames::Op(std::string_view name, const OpInputs& inputs) {
  constexpr size_t kLongestText = 512;  // of lists of hundreds of tensors
  lookup_.assign(name);
  for (const std::string_view text : {inputs.dims, inputs.types}) {
    lookup_ += '\0';
    lookup_ += text.substr(0, kLongestText);
  }
  if (NeedsValues(name)) lookup_ += inputs.values;
  if (const auto found = op_index_.find(lookup_); found != op_index_.end()) return found->second;
  const bool is_bare = inputs.dims.empty() && inputs.types.empty();
  if (ops_.size() >= (is_bare ? 2 : 1) * kMostOps) {
    inputs_lost_ = true;
    return is_bare ? 0 : Op(name, {});
  }
  const auto id = static_cast<uint32_t>(ops_.size());
  op_index_.emplace(lookup_, id);
  ops_.push_back(MakeOp(name, inputs));
  return id;
}

WorkId ForeignNames::WorkOfOp(WorkId work, uint32_t op, bool begins) {
  const auto [entry, added] =
      work_of_op_.try_emplace(std::tuple(work, op, begins), static_cast<WorkId>(works_.size()));
  if (added) {
    gpubound::Work of_op = works_[Raw(work)];
    of_op.op = op;
    of_op.begins_op = begins;
    works_.push_back(std::move(of_op));
  }
  return entry->second;
}

void ForeignNames::NameProcess(std::string_view key, std::string name) {
  process_names_[std::string(key)] = std::move(name);
}

void ForeignNames::NameThread(std::string_view process_key, std::string_view key,
                              std::string name) {
  thread_names_[ThreadKey(process_key, key)] = std::move(name);
}

const std::string& ForeignNames::NameOfProcess(uint32_t process) const {
  const std::string& key = process_keys_[process];
  const std::string& name = NameIn(process_names_, key);
  const bool is_number = key == std::to_string(processes_[process].pid);
  return name.empty() && !is_number ? key : name;
}

const std::string& ForeignNames::NameOfThread(uint32_t thread) const {
  return NameIn(thread_names_, thread_keys_[thread]);
}

}  // namespace gpubound
