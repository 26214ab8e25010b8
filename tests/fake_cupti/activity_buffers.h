// SPDX-License-Identifier: Apache-2.0
//
// CUPTI's buffer protocol, as documented and as observed:
//   * A buffer is requested on the application's thread, when a record needs room; the callback
//   runs
//     with no lock held. Declined (null): the record is dropped and counted; CUPTI before 12.9
//     crashed then, so this one aborts.
//   * A record of device work takes its place at launch and is completed later, in place.
//   * A full buffer is delivered by the worker thread once all its records are complete (at each
//     flush period, if one is set). FlushAll delivers, on its caller's thread, every buffer whose
//     records are complete; forced, every buffer. A record that was delivered incomplete is gone:
//     its completion changes nothing.
//
// Knows nothing of what is in a record. Thread safe.
#ifndef GPUBOUND_TESTS_FAKE_CUPTI_ACTIVITY_BUFFERS_H_
#define GPUBOUND_TESTS_FAKE_CUPTI_ACTIVITY_BUFFERS_H_

#include <cupti.h>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace gpubound::sim {

class ActivityBuffers {
 public:
  struct Options {
    bool abort_when_declined = false;
    bool reverse_records = false;
    uint32_t completion_delay_ms = 0;
  };
  explicit ActivityBuffers(const Options& options) : options_(options) {}

  void Register(CUpti_BuffersCallbackRequestFunc request,
                CUpti_BuffersCallbackCompleteFunc complete);
  bool registered();
  void set_per_thread(bool per_thread) { per_thread_ = per_thread; }
  bool per_thread() const { return per_thread_; }
  void set_zeroed_by_client(bool zeroed) { zeroed_by_client_ = zeroed; }
  void set_flush_period_ms(uint32_t period);

  // Copies a record in. |complete| false: it may not be delivered (except by force) until Complete.
  // Returns a token for Complete, 0 when the record was dropped. May call the request callback.
  uint64_t Add(const void* record, size_t bytes, bool complete);
  // |write| updates the record in place, under the lock. No-op when it was delivered already.
  void Complete(uint64_t token, const std::function<void(uint8_t* record)>& write);

  void CountDropped() { dropped_.fetch_add(1); }
  size_t TakeDropped() { return dropped_.exchange(0); }
  void FlushAll(bool forced);

 private:
  struct Buffer {
    uint8_t* data = nullptr;
    size_t capacity = 0;
    size_t max_records = 0;
    size_t used = 0;
    size_t incomplete = 0;
    std::vector<size_t> offsets;  // of its records
    std::vector<uint64_t> tokens;
  };
  struct Pending {
    Buffer* buffer;
    size_t offset;
  };
  using Owned = std::unique_ptr<Buffer>;

  Buffer* RoomFor(size_t bytes, std::unique_lock<std::mutex>* lock);
  void Retire(uint64_t key);
  std::vector<Owned> TakeFull();
  void Forget(const Buffer& buffer);
  void Deliver(std::vector<Owned> buffers);
  void Reverse(Buffer* buffer);
  void StartWorker();
  void Worker();

  const Options options_;
  std::atomic<bool> per_thread_{false};
  std::atomic<bool> zeroed_by_client_{false};
  std::atomic<size_t> dropped_{0};

  std::mutex mutex_;
  std::condition_variable work_;
  CUpti_BuffersCallbackRequestFunc request_ = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete_ = nullptr;
  std::map<uint64_t, Owned> current_;  // by thread, or under key 0
  std::vector<Owned> retired_;         // full, waiting for their records
  std::vector<Owned> delayed_;         // flushed, to be delivered late
  std::vector<Owned> spare_;           // requested twice in a race
  std::unordered_map<uint64_t, Pending> pending_;
  uint64_t next_token_ = 1;
  uint32_t flush_period_ms_ = 0;
  bool worker_started_ = false;
};

}  // namespace gpubound::sim

#endif  // GPUBOUND_TESTS_FAKE_CUPTI_ACTIVITY_BUFFERS_H_
