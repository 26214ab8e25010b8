// SPDX-License-Identifier: Apache-2.0
//
// A stack of small numbers that any threads push and pop without a lock. The head carries a count
// of changes beside the top element, so that a pop which was overtaken is noticed (no ABA).
//
//   head: | changes (32) | top + 1 (32), 0 = empty |
#ifndef GPUBOUND_CUPTI_HOOKS_CUPTI_INDEX_STACK_H_
#define GPUBOUND_CUPTI_HOOKS_CUPTI_INDEX_STACK_H_

#include <atomic>
#include <cstdint>

namespace gpubound {

class IndexStack {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  // The links of the elements, which stay the caller's: an element is in one stack at a time.
  explicit IndexStack(std::atomic<uint32_t>* next) : next_(next) {}

  void Push(uint32_t index) noexcept {
    uint64_t head = head_.load(std::memory_order_relaxed);
    do {
      next_[index].store(TopOf(head), std::memory_order_relaxed);
    } while (!head_.compare_exchange_weak(head, Head(head, index), std::memory_order_release,
                                          std::memory_order_relaxed));
  }

  // kNone when empty.
  uint32_t Pop() noexcept {
    uint64_t head = head_.load(std::memory_order_acquire);
    while (TopOf(head) != kNone) {
      const uint32_t below = next_[TopOf(head)].load(std::memory_order_relaxed);
      if (head_.compare_exchange_weak(head, Head(head, below), std::memory_order_acquire)) {
        return TopOf(head);
      }
    }
    return kNone;
  }

 private:
  static uint32_t TopOf(uint64_t head) { return static_cast<uint32_t>(head) - 1; }
  static uint64_t Head(uint64_t old_head, uint32_t top) {
    return (((old_head >> 32) + 1) << 32) | (top + 1);
  }

  std::atomic<uint64_t> head_{0};
  std::atomic<uint32_t>* const next_;
};

}  // namespace gpubound

#endif  // GPUBOUND_CUPTI_HOOKS_CUPTI_INDEX_STACK_H_
