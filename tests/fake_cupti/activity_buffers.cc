// SPDX-License-Identifier: Apache-2.0
#include "tests/fake_cupti/activity_buffers.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iterator>
#include <thread>
#include <utility>

#include "tests/fake_cupti/gpu_runtime.h"

namespace gpubound::sim {
namespace {

// Moves the elements that |ripe| holds for to the end of |to|, keeping the order of both.
template <typename T, typename Predicate>
void TakeIf(std::vector<T>* from, Predicate ripe, std::vector<T>* to) {
  const auto kept = std::stable_partition(from->begin(), from->end(), std::not_fn(ripe));
  std::move(kept, from->end(), std::back_inserter(*to));
  from->erase(kept, from->end());
}

}  // namespace

void ActivityBuffers::Register(CUpti_BuffersCallbackRequestFunc request,
                               CUpti_BuffersCallbackCompleteFunc complete) {
  std::lock_guard<std::mutex> lock(mutex_);
  request_ = request;
  complete_ = complete;
}

bool ActivityBuffers::registered() {
  std::lock_guard<std::mutex> lock(mutex_);
  return request_ != nullptr;
}

void ActivityBuffers::set_flush_period_ms(uint32_t period) {
  std::lock_guard<std::mutex> lock(mutex_);
  flush_period_ms_ = period;
  if (period > 0) StartWorker();
  work_.notify_all();
}

uint64_t ActivityBuffers::Add(const void* record, size_t bytes, bool complete) {
  std::unique_lock<std::mutex> lock(mutex_);
  Buffer* buffer = RoomFor(bytes, &lock);
  if (buffer == nullptr) {
    CountDropped();
    return 0;
  }
  const uint64_t token = next_token_++;
  std::memcpy(buffer->data + buffer->used, record, bytes);
  buffer->offsets.push_back(buffer->used);
  if (!complete) {
    pending_[token] = {buffer, buffer->used};
    buffer->tokens.push_back(token);
    ++buffer->incomplete;
  }
  buffer->used += bytes;
  return token;
}

ActivityBuffers::Buffer* ActivityBuffers::RoomFor(size_t bytes,
                                                  std::unique_lock<std::mutex>* lock) {
  const uint64_t key = per_thread_ ? SystemThreadId() : 0;
  for (;;) {
    if (const auto found = current_.find(key); found != current_.end()) {
      Buffer* buffer = found->second.get();
      const bool countable =
          buffer->max_records == 0 || buffer->offsets.size() < buffer->max_records;
      if (countable && buffer->used + bytes <= buffer->capacity) return buffer;
      Retire(key);
    }
    if (!spare_.empty()) {
      current_[key] = std::move(spare_.back());
      spare_.pop_back();
      continue;
    }
    if (request_ == nullptr) return nullptr;
    auto fresh = std::make_unique<Buffer>();
    const auto request = request_;
    lock->unlock();
    request(&fresh->data, &fresh->capacity, &fresh->max_records);
    if (fresh->data != nullptr && !zeroed_by_client_) {
      std::memset(fresh->data, 0, fresh->capacity);
    }
    lock->lock();
    if (fresh->data == nullptr || fresh->capacity < bytes) {
      if (options_.abort_when_declined) {
        std::fprintf(stderr,
                     "gpubound-sim: no activity buffer was given; CUPTI before 12.9 "
                     "crashes here\n");
        std::abort();
      }
      return nullptr;
    }
    spare_.push_back(std::move(fresh));
  }
}

void ActivityBuffers::Retire(uint64_t key) {
  retired_.push_back(std::move(current_.at(key)));
  current_.erase(key);
  StartWorker();
  work_.notify_all();
}

void ActivityBuffers::Complete(uint64_t token, const std::function<void(uint8_t*)>& write) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = pending_.find(token);
  if (found == pending_.end()) return;
  Buffer* buffer = found->second.buffer;
  write(buffer->data + found->second.offset);
  pending_.erase(found);
  if (--buffer->incomplete == 0 && !retired_.empty()) work_.notify_all();
}

void ActivityBuffers::Forget(const Buffer& buffer) {
  for (uint64_t token : buffer.tokens) pending_.erase(token);
}

void ActivityBuffers::FlushAll(bool forced) {
  std::vector<Owned> ready;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto ripe = [forced](const Owned& buffer) {
      return forced || (buffer->incomplete == 0 && buffer->used > 0);
    };
    TakeIf(&retired_, ripe, &ready);
    TakeIf(&spare_, ripe, &ready);
    for (auto entry = current_.begin(); entry != current_.end();) {
      if (!ripe(entry->second)) {
        ++entry;
        continue;
      }
      ready.push_back(std::move(entry->second));
      entry = current_.erase(entry);
    }
    for (const Owned& buffer : ready) Forget(*buffer);
    if (options_.completion_delay_ms > 0) {
      for (Owned& buffer : ready) delayed_.push_back(std::move(buffer));
      ready.clear();
      StartWorker();
      work_.notify_all();
    }
  }
  Deliver(std::move(ready));
}

// Exchanges the first record with the last and so on. Offsets stay right because only complete
// buffers come here, or forced ones, whose records nobody completes any more.
void ActivityBuffers::Reverse(Buffer* buffer) {
  std::vector<uint8_t> reversed;
  reversed.reserve(buffer->used);
  for (size_t i = buffer->offsets.size(); i-- > 0;) {
    const size_t begin = buffer->offsets[i];
    const size_t end = i + 1 < buffer->offsets.size() ? buffer->offsets[i + 1] : buffer->used;
    reversed.insert(reversed.end(), buffer->data + begin, buffer->data + end);
  }
  std::memcpy(buffer->data, reversed.data(), reversed.size());
}

void ActivityBuffers::Deliver(std::vector<Owned> buffers) {
  for (Owned& buffer : buffers) {
    if (options_.reverse_records) Reverse(buffer.get());
    complete_(nullptr, 0, buffer->data, buffer->capacity, buffer->used);
  }
}

std::vector<ActivityBuffers::Owned> ActivityBuffers::TakeFull() {
  std::vector<Owned> ready;
  TakeIf(
      &retired_, [](const Owned& buffer) { return buffer->incomplete == 0; }, &ready);
  return ready;
}

void ActivityBuffers::StartWorker() {
  if (std::exchange(worker_started_, true)) return;
  std::thread([this] { Worker(); }).detach();
}

void ActivityBuffers::Worker() {
  pthread_setname_np(pthread_self(), "sim-cupti");
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    if (!delayed_.empty()) {
      std::vector<Owned> late = std::exchange(delayed_, {});
      lock.unlock();
      std::this_thread::sleep_for(std::chrono::milliseconds(options_.completion_delay_ms));
      Deliver(std::move(late));
      lock.lock();
      continue;
    }
    std::vector<Owned> ready = TakeFull();
    if (!ready.empty()) {
      lock.unlock();
      Deliver(std::move(ready));
      lock.lock();
      continue;
    }
    if (flush_period_ms_ > 0) {
      work_.wait_for(lock, std::chrono::milliseconds(flush_period_ms_));
    } else {
      work_.wait(lock);
    }
  }
}

}  // namespace gpubound::sim
