// SPDX-License-Identifier: Apache-2.0
//
// Gives threads ordinals and buffers.
#include "libprofiler/thread_registry.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <unordered_set>

#include "libprofiler/process_info.h"
#include "libprofiler/signal_shield.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

namespace gpubound {
namespace {

// Each on cache lines of its own, so that two threads do not share one.
constexpr size_t kCacheLine = 64;
constexpr size_t kBufferStride = (sizeof(ThreadBuffer) + kCacheLine - 1) / kCacheLine * kCacheLine;
constexpr size_t kArenaBytes = 16 * 1024;
constexpr uint32_t kPagesAtOnce = 64;

}  // namespace

void* MapWipedOnFork(size_t bytes, bool* wiped_on_fork) noexcept {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  *wiped_on_fork = madvise(memory, bytes, MADV_WIPEONFORK) == 0;
  return memory;
}

ThreadBuffer* ThreadRegistry::AllocateLocked() {
  if (free_buffers_.empty()) {
    bool wiped_on_fork = false;
    char* arena = static_cast<char*>(MapWipedOnFork(kArenaBytes, &wiped_on_fork));
    // Without the wipe a child would write into its parent's pages: better not to record.
    if (arena == nullptr || !wiped_on_fork) return nullptr;
    for (size_t offset = 0; offset + kBufferStride <= kArenaBytes; offset += kBufferStride) {
      free_buffers_.push_back(reinterpret_cast<ThreadBuffer*>(arena + offset));
    }
  }
  ThreadBuffer* buffer = free_buffers_.back();
  free_buffers_.pop_back();
  return buffer;
}

ThreadId ThreadRegistry::AddThreadLocked(uint32_t tid, const std::string& name) {
  const ThreadId id = static_cast<ThreadId>(rows_.size() + 1);
  rows_.Add({id, tid, name});
  ended_.push_back(false);
  if (Raw(id) <= kLiveMaxThreads) {
    LiveThread* live = &context_->mapping->threads()[Raw(id) - 1];
    live->ordinal = Raw(id);
    std::strncpy(live->name, name.c_str(), sizeof(live->name) - 1);
    std::atomic_ref<uint32_t>(live->tid).store(tid, std::memory_order_release);
  }
  return id;
}

ThreadId ThreadRegistry::AddThread(uint32_t tid, const std::string& name) {
  const SignalBlock block;
  const std::lock_guard<std::mutex> lock(mutex_);
  return AddThreadLocked(tid, name);
}

ThreadBuffer* ThreadRegistry::Register(uint32_t tid, const std::string& name) {
  const SignalBlock block;
  const std::lock_guard<std::mutex> lock(mutex_);
  ThreadBuffer* buffer = AllocateLocked();
  if (buffer == nullptr) return nullptr;
  ++with_buffer_;
  MakeRoomLocked();
  buffer->Attach(context_, AddThreadLocked(tid, name));
  return buffer;
}

// A thread may keep the page that it has begun as long as it lives. Half of what the pool began
// with stays for pages that are on their way.
void ThreadRegistry::MakeRoomLocked() {
  LiveMapping* const mapping = context_->mapping;
  const uint32_t pages = mapping->page_count();
  if (with_buffer_ + std::min(mapping->first_page_count(), pages) / 2 <= pages) return;
  const uint32_t count = std::min(kPagesAtOnce, mapping->most_pages() - mapping->page_count());
  const SignalShield shield;
  if (count != 0 && mapping->AddPages(count)) context_->pool->PagesAdded(count);
}

void ThreadRegistry::Unregister(ThreadBuffer* buffer, const std::string& name) {
  const ThreadId id = buffer->thread();
  buffer->Detach();
  const SignalBlock block;
  const std::lock_guard<std::mutex> lock(mutex_);
  RenameLocked(id, name);
  ended_[Raw(id) - 1] = true;
  std::memset(static_cast<void*>(buffer), 0, sizeof(*buffer));
  free_buffers_.push_back(buffer);
  --with_buffer_;
}

// Threads rename themselves after their first scope. One that has ended told its last name; its
// number may be that of a thread which records nothing, and there may be a million more of them,
// for which the end of the program would wait. A number that was given out again belongs to the
// newest thread that has it.
void ThreadRegistry::RefreshNames() {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::unordered_set<uint32_t> seen;
  for (size_t index = rows_.size(); index-- > 0;) {
    if (ended_[index]) continue;
    const ThreadRow row = rows_.row(index);
    if (seen.insert(row.tid).second) RenameLocked(row.id, ThreadName(row.tid));
  }
}

void ThreadRegistry::RenameLocked(ThreadId id, const std::string& name) {
  const size_t index = Raw(id) - 1;
  if (name.empty() || index >= rows_.size() || rows_.row(index).name == name) return;
  rows_.Replace(index).name = name;
  if (Raw(id) > kLiveMaxThreads) return;
  LiveThread* live = &context_->mapping->threads()[index];
  std::strncpy(live->name, name.c_str(), sizeof(live->name) - 1);
}

void ThreadRegistry::CopyRowsSince(size_t* position, std::vector<ThreadRow>* out) {
  const std::lock_guard<std::mutex> lock(mutex_);
  rows_.CopySince(position, out);
}

}  // namespace gpubound
