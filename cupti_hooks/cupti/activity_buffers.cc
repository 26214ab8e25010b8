// SPDX-License-Identifier: Apache-2.0
//
// The slots behind activity_buffers.h, all in one mapping: data first, then the tables. Never
// freed.
#include "cupti_hooks/cupti/activity_buffers.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace gpubound {
namespace {

constexpr size_t kSmallestBuffer = 32 << 10;
constexpr size_t kFirstBuffer = 64 << 10;  // before anything is known of the program

uint32_t SlotCount(const ActivityBuffers::Options& options) {
  return options.count + options.small_count + options.emergency_count;
}

}  // namespace

size_t PreferredBufferBytes(uint64_t bytes_per_second, size_t largest) {
  size_t bytes = std::min(kSmallestBuffer, largest);
  while (bytes < bytes_per_second / 2 && bytes < largest) bytes *= 2;
  return std::min(bytes, largest);
}

ActivityBuffers* ActivityBuffers::Create(const Options& options) noexcept {
  const size_t slots = SlotCount(options);
  const size_t data = options.count * options.bytes + (slots - options.count) * options.small_bytes;
  const size_t tables = slots * (sizeof(Slot) + sizeof(std::atomic<uint32_t>));
  // NORESERVE: what no program ever needs is not charged to it.
  void* mapping = mmap(nullptr, data + tables + sizeof(ActivityBuffers) + alignof(ActivityBuffers),
                       PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) return nullptr;
  uint8_t* memory = static_cast<uint8_t*>(mapping);
  madvise(memory, data, MADV_DONTDUMP);

  Slot* slot_table = new (memory + data) Slot[slots];
  auto* links = new (slot_table + slots) std::atomic<uint32_t>[slots];
  uintptr_t object = reinterpret_cast<uintptr_t>(links + slots);
  object = (object + alignof(ActivityBuffers) - 1) & ~(uintptr_t{alignof(ActivityBuffers)} - 1);
  return new (reinterpret_cast<void*>(object)) ActivityBuffers(options, memory, slot_table, links);
}

ActivityBuffers::ActivityBuffers(const Options& options, uint8_t* memory, Slot* slots,
                                 std::atomic<uint32_t>* links) noexcept
    : options_(options),
      memory_(memory),
      slots_(slots),
      large_(links),
      small_(links),
      emergency_(links),
      completed_(links),
      free_large_(static_cast<int32_t>(options.count)),
      free_count_(static_cast<int32_t>(options.count + options.small_count)),
      preferred_bytes_(std::min(kFirstBuffer, options.bytes)) {
  for (uint32_t slot = SlotCount(options_); slot-- > 0;) {
    (IsLarge(slot) ? large_ : IsEmergency(slot) ? emergency_ : small_).Push(slot);
  }
}

uint8_t* ActivityBuffers::DataOf(uint32_t slot) const {
  if (IsLarge(slot)) return memory_ + slot * options_.bytes;
  return memory_ + options_.count * options_.bytes + (slot - options_.count) * options_.small_bytes;
}

// IndexStack::kNone where no buffer of ours begins there.
uint32_t ActivityBuffers::SlotOf(const uint8_t* buffer) const {
  if (buffer == nullptr) return IndexStack::kNone;
  const size_t offset = reinterpret_cast<uintptr_t>(buffer) - reinterpret_cast<uintptr_t>(memory_);
  const size_t large_bytes = options_.count * options_.bytes;
  const size_t slot = offset < large_bytes
                          ? offset / options_.bytes
                          : options_.count + (offset - large_bytes) / options_.small_bytes;
  if (slot >= SlotCount(options_)) return IndexStack::kNone;
  const auto found = static_cast<uint32_t>(slot);
  return DataOf(found) == buffer ? found : IndexStack::kNone;
}

uint32_t ActivityBuffers::TakeFree() noexcept {
  const bool many_large =
      free_large_.load(std::memory_order_relaxed) * 2 > static_cast<int32_t>(options_.count);
  const bool large_first = many_large && preferred_bytes() > options_.small_bytes;
  uint32_t slot = (large_first ? large_ : small_).Pop();
  if (slot == IndexStack::kNone) slot = (large_first ? small_ : large_).Pop();
  if (slot == IndexStack::kNone) return slot;
  free_count_.fetch_sub(1, std::memory_order_relaxed);
  if (IsLarge(slot)) free_large_.fetch_sub(1, std::memory_order_relaxed);
  return slot;
}

uint32_t ActivityBuffers::TakeSlot() noexcept {
  uint32_t slot = TakeFree();
  if (slot != IndexStack::kNone || options_.may_decline) return slot;
  slot = completed_.Pop();
  if (slot == IndexStack::kNone) return emergency_.Pop();
  discarded_bytes_.fetch_add(slots_[slot].valid_bytes, std::memory_order_relaxed);
  std::memset(DataOf(slot), 0, slots_[slot].given_bytes);
  return slot;
}

bool ActivityBuffers::Request(int64_t now_ns, uint8_t** buffer, size_t* bytes) noexcept {
  *buffer = nullptr;
  *bytes = 0;
  requests_.fetch_add(1, std::memory_order_relaxed);
  requesting_.fetch_add(1, std::memory_order_acq_rel);
  const uint32_t slot = TakeSlot();
  if (slot != IndexStack::kNone) {
    slots_[slot].given_bytes =
        IsLarge(slot) ? std::max(preferred_bytes(), options_.small_bytes) : options_.small_bytes;
    slots_[slot].requested_ns.store(now_ns, std::memory_order_release);
    *buffer = DataOf(slot);
    *bytes = slots_[slot].given_bytes;
  }
  requesting_.fetch_sub(1, std::memory_order_acq_rel);
  if (IsShort()) worker_signal_.Set();
  return slot != IndexStack::kNone;
}

void ActivityBuffers::Complete(uint8_t* buffer, size_t valid_bytes) noexcept {
  const uint32_t slot = SlotOf(buffer);
  if (slot == IndexStack::kNone) return;
  slots_[slot].valid_bytes = std::min(valid_bytes, slots_[slot].given_bytes);
  completed_.Push(slot);
  worker_signal_.Set();
}

bool ActivityBuffers::TakeCompleted(Completed* completed) noexcept {
  const uint32_t slot = completed_.Pop();
  if (slot == IndexStack::kNone) return false;
  *completed = {slot, DataOf(slot), slots_[slot].valid_bytes};
  return true;
}

void ActivityBuffers::Recycle(const Completed& completed) noexcept {
  // All that it was given: CUPTI was told that it gets zeroed memory, and what it wrote beyond the
  // valid bytes is not known.
  std::memset(completed.data, 0, slots_[completed.slot].given_bytes);
  slots_[completed.slot].requested_ns.store(0, std::memory_order_release);
  if (IsEmergency(completed.slot)) return emergency_.Push(completed.slot);
  (IsLarge(completed.slot) ? large_ : small_).Push(completed.slot);
  free_count_.fetch_add(1, std::memory_order_relaxed);
  if (IsLarge(completed.slot)) free_large_.fetch_add(1, std::memory_order_relaxed);
}

int64_t ActivityBuffers::OldestOutstanding(int64_t unless_requesting) const noexcept {
  int64_t oldest = INT64_MAX;
  // Read before the slots: a request that ends after this has stored its time, one that begins
  // after it is newer than everything that the caller asks about.
  if (requesting_.load(std::memory_order_acquire) != 0) oldest = unless_requesting;
  for (uint32_t slot = 0; slot < SlotCount(options_); ++slot) {
    const int64_t requested = slots_[slot].requested_ns.load(std::memory_order_acquire);
    if (requested != 0) oldest = std::min(oldest, requested);
  }
  return oldest;
}

uint32_t ActivityBuffers::outstanding() const noexcept {
  uint32_t count = 0;
  for (uint32_t slot = 0; slot < SlotCount(options_); ++slot) {
    if (slots_[slot].requested_ns.load(std::memory_order_acquire) != 0) ++count;
  }
  return count;
}

void ActivityBuffers::set_preferred_bytes(size_t bytes) noexcept {
  preferred_bytes_.store(std::min(bytes, options_.bytes), std::memory_order_relaxed);
}

}  // namespace gpubound
