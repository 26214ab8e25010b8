// SPDX-License-Identifier: Apache-2.0
//
// The slots behind activity_buffers.h, all in one mapping: data first, then the tables. Never
// freed.
#include "cupti_hooks/activity_buffers.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace gpubound {
namespace {

constexpr size_t kSmallestBuffer = 32 << 10;
constexpr size_t kFirstBuffer = 64 << 10;  // before anything is known of the program

}  // namespace

size_t PreferredBufferBytes(uint64_t bytes_per_second, size_t largest) {
  size_t bytes = std::min(kSmallestBuffer, largest);
  while (bytes < bytes_per_second / 2 && bytes < largest) bytes *= 2;
  return std::min(bytes, largest);
}

ActivityBuffers* ActivityBuffers::Create(const Options& options) noexcept {
  const size_t slots = size_t{options.count} + options.emergency_count;
  const size_t data = slots * options.bytes;
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
      free_(links),
      emergency_(links),
      completed_(links),
      free_count_(static_cast<int32_t>(options.count)),
      preferred_bytes_(std::min(kFirstBuffer, options.bytes)) {
  for (uint32_t slot = slot_count(); slot-- > 0;) {
    (slot < options.count ? free_ : emergency_).Push(slot);
  }
}

uint32_t ActivityBuffers::TakeSlot() noexcept {
  uint32_t slot = free_.Pop();
  if (slot != IndexStack::kNone) {
    free_count_.fetch_sub(1, std::memory_order_relaxed);
    return slot;
  }
  if (options_.may_decline) return IndexStack::kNone;
  slot = completed_.Pop();
  if (slot != IndexStack::kNone) {
    discarded_bytes_.fetch_add(slots_[slot].valid_bytes, std::memory_order_relaxed);
    std::memset(DataOf(slot), 0, options_.bytes);
    return slot;
  }
  return emergency_.Pop();
}

bool ActivityBuffers::Request(int64_t now_ns, uint8_t** buffer, size_t* bytes) noexcept {
  *buffer = nullptr;
  *bytes = 0;
  requests_.fetch_add(1, std::memory_order_relaxed);
  requesting_.fetch_add(1, std::memory_order_acq_rel);
  const uint32_t slot = TakeSlot();
  if (slot != IndexStack::kNone) {
    slots_[slot].requested_ns.store(now_ns, std::memory_order_release);
    *buffer = DataOf(slot);
    const bool plenty =
        free_count_.load(std::memory_order_relaxed) * 2 > static_cast<int32_t>(options_.count);
    *bytes = plenty ? preferred_bytes() : options_.bytes;
  }
  requesting_.fetch_sub(1, std::memory_order_acq_rel);
  return slot != IndexStack::kNone;
}

void ActivityBuffers::Complete(uint8_t* buffer, size_t valid_bytes) noexcept {
  const uintptr_t offset =
      reinterpret_cast<uintptr_t>(buffer) - reinterpret_cast<uintptr_t>(memory_);
  const size_t slot = offset / options_.bytes;
  if (buffer == nullptr || slot >= slot_count() || offset % options_.bytes != 0) return;
  slots_[slot].valid_bytes = std::min(valid_bytes, options_.bytes);
  completed_.Push(static_cast<uint32_t>(slot));
  completed_signal_.Set();
}

bool ActivityBuffers::TakeCompleted(Completed* completed) noexcept {
  const uint32_t slot = completed_.Pop();
  if (slot == IndexStack::kNone) return false;
  *completed = {slot, DataOf(slot), slots_[slot].valid_bytes};
  return true;
}

void ActivityBuffers::Recycle(const Completed& completed) noexcept {
  // All of it: CUPTI was told that it gets zeroed memory, and what it wrote beyond the valid bytes
  // is not known.
  std::memset(completed.data, 0, options_.bytes);
  slots_[completed.slot].requested_ns.store(0, std::memory_order_release);
  if (completed.slot < options_.count) {
    free_.Push(completed.slot);
    free_count_.fetch_add(1, std::memory_order_relaxed);
  } else {
    emergency_.Push(completed.slot);
  }
}

int64_t ActivityBuffers::OldestOutstanding(int64_t unless_requesting) const noexcept {
  int64_t oldest = INT64_MAX;
  // Read before the slots: a request that ends after this has stored its time, one that begins
  // after it is newer than everything that the caller asks about.
  if (requesting_.load(std::memory_order_acquire) != 0) oldest = unless_requesting;
  for (uint32_t slot = 0; slot < slot_count(); ++slot) {
    const int64_t requested = slots_[slot].requested_ns.load(std::memory_order_acquire);
    if (requested != 0) oldest = std::min(oldest, requested);
  }
  return oldest;
}

uint32_t ActivityBuffers::outstanding() const noexcept {
  uint32_t count = 0;
  for (uint32_t slot = 0; slot < slot_count(); ++slot) {
    if (slots_[slot].requested_ns.load(std::memory_order_acquire) != 0) ++count;
  }
  return count;
}

void ActivityBuffers::set_preferred_bytes(size_t bytes) noexcept {
  preferred_bytes_.store(std::min(bytes, options_.bytes), std::memory_order_relaxed);
}

}  // namespace gpubound
