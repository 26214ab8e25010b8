// SPDX-License-Identifier: Apache-2.0
//
// The book. One object, one caller.
#include "analysis/cell_book.h"

namespace gpubound {
namespace {

constexpr size_t kFirstSlots = 64;
constexpr uint64_t kHashFactor = 0x9e3779b97f4a7c15;

uint64_t KeyOf(const CpuState& state, bool waiting) {
  return uint64_t{state.phase} << 40 | uint64_t{state.operation} << 8 |
         static_cast<uint64_t>(state.layer) << 5 | static_cast<uint64_t>(state.cause) << 1 |
         (waiting ? 1u : 0u);
}

size_t HashOf(uint64_t key) { return static_cast<size_t>((key * kHashFactor) >> 32); }

}  // namespace

CellBook::CellBook(const GpuClock* clock, const std::vector<DeviceClock>* devices)
    : clock_(clock), devices_(devices), slots_(kFirstSlots) {
  if (devices == nullptr) return;
  booked_busy_ns_.resize(devices->size());
  booked_unknown_ns_.resize(devices->size());
}

void CellBook::SwitchTo(const CpuState& state, int64_t now_ns) {
  if (any_) RowsAt(now_ns);
  const bool waiting = state.layer == Layer::kWait && state.peer != kNotOne;
  current_ = Find(KeyOf(state, waiting), state, waiting);
  any_ = true;
}

const std::vector<CellBook::Row>& CellBook::RowsAt(int64_t now_ns) {
  if (!any_) return rows_;
  Row& row = rows_[current_];
  for (size_t state = 0; state < kGpuStates; ++state) {
    row.time.by_state[state] += clock_->by_state[state] - booked_.by_state[state];
  }
  row.time.sum_ns += clock_->sum_ns - booked_.sum_ns;
  row.time.filled += clock_->filled - booked_.filled;
  booked_ = *clock_;
  for (size_t device = 0; device < booked_busy_ns_.size(); ++device) {
    const int64_t busy_ns = (*devices_)[device].BusyAt(now_ns);
    const int64_t unknown_ns = (*devices_)[device].UnknownAt(now_ns);
    row.busy_ns[device] += busy_ns - booked_busy_ns_[device];
    row.unknown_ns[device] += unknown_ns - booked_unknown_ns_[device];
    booked_busy_ns_[device] = busy_ns;
    booked_unknown_ns_[device] = unknown_ns;
  }
  return rows_;
}

size_t CellBook::Find(uint64_t key, const CpuState& state, bool waiting) {
  size_t slot = HashOf(key) & (slots_.size() - 1);
  while (slots_[slot] != 0) {
    if (keys_[slots_[slot] - 1] == key) return slots_[slot] - 1;
    slot = (slot + 1) & (slots_.size() - 1);
  }
  slots_[slot] = static_cast<uint32_t>(rows_.size() + 1);
  keys_.push_back(key);
  Row& row = rows_.emplace_back();
  row.state = state;
  row.state.peer = kNotOne;
  row.waiting = waiting;
  row.busy_ns.resize(booked_busy_ns_.size());
  row.unknown_ns.resize(booked_busy_ns_.size());
  if (rows_.size() * 2 > slots_.size()) Grow();
  return rows_.size() - 1;
}

void CellBook::Grow() {
  slots_.assign(slots_.size() * 2, 0);
  for (size_t row = 0; row < keys_.size(); ++row) {
    size_t slot = HashOf(keys_[row]) & (slots_.size() - 1);
    while (slots_[slot] != 0) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = static_cast<uint32_t>(row + 1);
  }
}

}  // namespace gpubound
