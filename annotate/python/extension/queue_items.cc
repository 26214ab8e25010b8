// SPDX-License-Identifier: Apache-2.0
#include "annotate/python/extension/queue_items.h"

#include <atomic>
#include <cstddef>

#include "annotate/include/gpubound/api.h"

namespace gpubound {
namespace {

// How many items were taken out of each queue. A queue at the address of one that is gone goes on
// counting: what is still in it when it is taken decides about its number, not its beginning.
class TakenCounts {
 public:
  // Null where there are too many queues.
  std::atomic<uint64_t>* Of(uintptr_t queue) {
    for (size_t i = 0; i < kMostProbes; ++i) {
      Entry& entry = entries_[(Mixed(queue) + i) % kEntries];
      uintptr_t of = entry.queue.load(std::memory_order_relaxed);
      if (of == 0 && entry.queue.compare_exchange_strong(of, queue)) return &entry.taken;
      if (of == queue) return &entry.taken;
    }
    return nullptr;
  }
  // Different from address to address.
  static uint64_t Mixed(uint64_t address) {
    address = (address ^ address >> 32) * 0x9e3779b97f4a7c15;
    address = (address ^ address >> 29) * 0xbf58476d1ce4e5b9;
    return address ^ address >> 32;
  }

 private:
  struct Entry {
    std::atomic<uintptr_t> queue = 0;
    std::atomic<uint64_t> taken = 0;  // under the queue's mutex
  };
  static constexpr size_t kEntries = 4096;
  static constexpr size_t kMostProbes = 64;

  Entry entries_[kEntries];
};

TakenCounts g_taken;

// An attribute, or with |of_length| its length; less than 0 where it is none. False where the
// program is to end.
bool ReadSize(PyObject* queue, PyObject* name, bool of_length, Py_ssize_t* size) {
  *size = -1;
  PyObject* value = PyObject_GetAttr(queue, name);
  if (value != nullptr) *size = of_length ? PyObject_Size(value) : PyLong_AsSsize_t(value);
  Py_XDECREF(value);
  return DropError();
}

uint64_t NameOf(PyObject* queue, uint64_t number, bool of_room) {
  const uint64_t of_queue = TakenCounts::Mixed(reinterpret_cast<uintptr_t>(queue));
  return (of_queue + 2 * number + (of_room ? 1 : 0)) & ~GPUBOUND_AT_TIME;
}

}  // namespace

bool FindPlaceToPut(PyObject* queue, PyObject* names, QueuePlace* place) {
  Py_ssize_t held = -1;
  Py_ssize_t most = -1;
  if (!ReadSize(queue, PyTuple_GetItem(names, 0), true, &held)) return false;
  if (!ReadSize(queue, PyTuple_GetItem(names, 1), false, &most)) return false;
  const std::atomic<uint64_t>* taken = g_taken.Of(reinterpret_cast<uintptr_t>(queue));
  if (held < 0 || taken == nullptr) return true;
  const uint64_t number = taken->load(std::memory_order_relaxed) + static_cast<uint64_t>(held);
  place->item = NameOf(queue, number, false);
  const auto room = static_cast<uint64_t>(most > 0 ? most : 0);
  if (room != 0 && number >= room) place->room = NameOf(queue, number - room, true);
  return true;
}

bool FindPlaceTaken(PyObject* queue, PyObject* names, QueuePlace* place) {
  Py_ssize_t most = -1;
  if (!ReadSize(queue, PyTuple_GetItem(names, 1), false, &most)) return false;
  std::atomic<uint64_t>* taken = g_taken.Of(reinterpret_cast<uintptr_t>(queue));
  if (taken == nullptr) return true;
  const uint64_t number = taken->fetch_add(1, std::memory_order_relaxed);
  place->item = NameOf(queue, number, false);
  if (most > 0) place->room = NameOf(queue, number, true);
  return true;
}

}  // namespace gpubound
