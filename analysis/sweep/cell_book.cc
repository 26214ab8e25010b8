// SPDX-License-Identifier: Apache-2.0
//
// The book. One object, one caller.
#include "analysis/sweep/cell_book.h"

#include <algorithm>
#include <bit>

namespace gpubound {
namespace {

// A process has one book that tells devices apart, and one more for each lane, in which a thread
// that lives for a moment fills two rows: of 100,000 of those a kilobyte is 100 MB.
constexpr size_t FirstSlots(CellBook::Devices devices) {
  return devices == CellBook::Devices::kEach ? 256 : 16;
}

// Rows fill at most this part of the slots, so that nearly every one lies at home.
constexpr size_t kSlotsPerRow = 4;

}  // namespace

CellBook::CellBook(int64_t begin_ns, const CpuState& state, Devices devices)
    : devices_(devices), at_{.now_ns = begin_ns} {
  MakeSlots(FirstSlots(devices_));
  EnterState(state);
}

void CellBook::EnterState(const CpuState& state) {
  const Doing doing = DoingOf(state);
  key_ = KeyOf(state.phase, doing, IsWaiting(doing));
  current_ = Find(state);
}

void CellBook::Visit(StateArchive& archive, const CpuState& state) {
  std::vector<RowName> names = names_;
  std::vector<Account> rows = rows_;
  FilledTime filled = at_.filled;
  archive.All(names, rows, by_device_, at_.now_ns, at_.sum_ns, at_.graph_ns, filled, part_,
              touched_);
  at_.filled = static_cast<uint64_t>(filled);
  if (!archive.reads()) return;
  if (names.size() != rows.size()) return archive.Fail();
  for (const std::vector<DeviceAccount>& device : by_device_) {
    if (device.size() != rows.size()) return archive.Fail();
  }
  // Rows get their numbers in the order in which they are found.
  std::vector<std::vector<DeviceAccount>> by_device = std::move(by_device_);
  by_device_.clear();
  names_.clear();
  rows_.clear();
  MakeSlots(FirstSlots(devices_));
  for (const RowName& name : names) {
    key_ = name.Key();
    Find(name);
  }
  if (rows_.size() != rows.size()) return archive.Fail();
  rows_ = std::move(rows);
  by_device_ = std::move(by_device);
  books_more_ = part_ != 0 || !by_device_.empty();
  part_of_.assign(rows_.size(), 0);
  for (const Touched& touched : touched_) {
    if (touched.row >= rows_.size()) return archive.Fail();
    part_of_[touched.row] = part_;
  }
  EnterState(state);
}

void CellBook::AddAll(const CellBook& other, int sign) {
  for (size_t i = 0; i < other.rows_.size(); ++i) {
    const Account& from = other.rows_[i];
    key_ = other.names_[i].Key();
    Account& to = rows_[Find(other.names_[i])];
    for (GpuMix mix = 0; mix < kGpuMixes; ++mix) to.by_mix[mix] += sign * from.by_mix[mix];
    to.sum_ns += sign * from.sum_ns;
    to.graph_ns += sign * from.graph_ns;
    to.filled += sign < 0 ? -from.filled : from.filled;  // modulo 2^128
  }
}

void CellBook::Close(const CellBook& other) {
  AddAll(other, -1);
  slots_ = {};
}

void CellBook::Reopen(const CellBook& other) {
  MakeSlots(std::max(FirstSlots(devices_), std::bit_ceil(names_.size() * kSlotsPerRow)));
  Index();
  AddAll(other, 1);
  key_ = other.key_;
  current_ = Find(other.names_[other.current_]);
  at_ = other.at_;
}

void CellBook::OpenWindow(const GpuWindow& gpu) {
  at_.segment = gpu.all.data();
  if (devices_ == Devices::kTogether) return;
  while (by_device_.size() < gpu.each.size()) MeetDevice();
  device_segments_.clear();
  for (const std::vector<DeviceSegment>& each : gpu.each) device_segments_.push_back(each.data());
}

void CellBook::Touch() {
  part_of_.resize(rows_.size());
  part_of_[current_] = part_;
  touched_.push_back({current_, rows_[current_].by_mix});
}

// What is missing in the filled time that 64 bits give of a long stretch.
void CellBook::AddLongStretch(Place at, int64_t now_ns, Account* account) {
  FilledTime whole = 0;
  while (at.now_ns < now_ns) {
    const int64_t until_ns = std::min(at.segment[1].begin_ns, now_ns);
    whole += FilledTime{at.segment->fill} * static_cast<uint64_t>(until_ns - at.now_ns);
    at.now_ns = until_ns;
    if (at.segment[1].begin_ns <= now_ns) ++at.segment;
  }
  account->filled += whole - static_cast<uint64_t>(whole);
}

void CellBook::BookDevices(int64_t begin_ns, int64_t now_ns) {
  for (size_t device = 0; device < by_device_.size(); ++device) {
    DeviceAccount& account = by_device_[device][current_];
    const DeviceSegment*& segment = device_segments_[device];
    int64_t since_ns = begin_ns;
    for (; segment[1].begin_ns <= now_ns; ++segment) {
      account[static_cast<size_t>(segment->state)] += segment[1].begin_ns - since_ns;
      since_ns = segment[1].begin_ns;
    }
    account[static_cast<size_t>(segment->state)] += now_ns - since_ns;
  }
}

// While a process has used one device, what that one did is what the process's GPU side did; before
// its first work a device was unknown whenever recording was off, whatever others did.
CellBook::DeviceAccount CellBook::OfDevice(const Account& account, bool first) {
  DeviceAccount times{};
  for (GpuMix mix = 0; mix < kGpuMixes; ++mix) {
    const bool busy = first && IsBusy(StateOf(mix));
    const DeviceState state = busy                          ? DeviceState::kBusy
                              : (mix & kUnrecordedBit) != 0 ? DeviceState::kUnknown
                                                            : DeviceState::kIdle;
    times[static_cast<size_t>(state)] += account.by_mix[mix];
  }
  return times;
}

void CellBook::MeetDevice() {
  const bool first = by_device_.empty();
  books_more_ = true;
  std::vector<DeviceAccount>& accounts = by_device_.emplace_back();
  for (const Account& row : rows_) accounts.push_back(OfDevice(row, first));
}

std::vector<CellBook::Row> CellBook::Rows() const {
  std::vector<Row> rows(rows_.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    Row& row = rows[i];
    row.state = names_[i].state;
    row.waiting = names_[i].waiting;
    for (GpuMix mix = 0; mix < kGpuMixes; ++mix) {
      row.time.by_state[StateOf(mix)] += rows_[i].by_mix[mix];
    }
    row.time.sum_ns = rows_[i].sum_ns;
    row.time.graph_ns = rows_[i].graph_ns;
    row.time.filled = rows_[i].filled;
    for (size_t device = 0; device < std::max<size_t>(by_device_.size(), 1); ++device) {
      const DeviceAccount times =
          by_device_.empty() ? OfDevice(rows_[i], true) : by_device_[device][i];
      row.busy_ns.push_back(times[static_cast<size_t>(DeviceState::kBusy)]);
      row.unknown_ns.push_back(times[static_cast<size_t>(DeviceState::kUnknown)]);
    }
  }
  return rows;
}

size_t CellBook::Find(const CpuState& state) {
  RowName name{state, IsWaiting(DoingOf(state))};
  name.state.peer = kNotOne;
  return Find(name);
}

// |name| is that of |key_|.
size_t CellBook::Find(const RowName& name) {
  size_t slot = HomeOf(key_);
  for (; slots_[slot].key != kNoKey; slot = (slot + 1) & slot_mask_) {
    if (slots_[slot].key == key_) return slots_[slot].row;
  }
  const size_t row = rows_.size();
  slots_[slot] = {key_, row};
  rows_.emplace_back();
  names_.push_back(name);
  for (std::vector<DeviceAccount>& accounts : by_device_) accounts.emplace_back();
  if (rows_.size() * kSlotsPerRow > slots_.size()) {
    MakeSlots(slots_.size() * 2);
    Index();
  }
  return row;
}

// Empty ones.
void CellBook::MakeSlots(size_t count) {
  slots_.assign(count, {});
  slot_mask_ = count - 1;
}

// Puts all rows into their slots.
void CellBook::Index() {
  for (size_t row = 0; row < names_.size(); ++row) {
    const uint64_t key = names_[row].Key();
    size_t slot = HomeOf(key);
    while (slots_[slot].key != kNoKey) slot = (slot + 1) & slot_mask_;
    slots_[slot] = {key, row};
  }
}

}  // namespace gpubound
