// SPDX-License-Identifier: Apache-2.0
//
// The threads of a process record: their ordinals, names and buffers. Buffers lie in memory that
// the kernel wipes in a fork child (MADV_WIPEONFORK), so that a child made by any call finds
// nothing to write through. Any thread; one lock, of the interner's rank.
#ifndef GPUBOUND_LIBPROFILER_THREAD_REGISTRY_H_
#define GPUBOUND_LIBPROFILER_THREAD_REGISTRY_H_

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "libprofiler/recording_context.h"
#include "libprofiler/row_journal.h"
#include "libprofiler/thread_buffer.h"

namespace gpubound {

struct ThreadRow {
  ThreadId id;
  uint32_t tid;
  std::string name;
};

// Memory for |count| objects of |bytes| that reads as zero in every fork child; null when there is
// none. Where the kernel has no MADV_WIPEONFORK (before 4.14) it is plain memory and
// |*wiped_on_fork| says so.
void* MapWipedOnFork(size_t bytes, bool* wiped_on_fork) noexcept;

class ThreadRegistry {
 public:
  // |context| outlives the registry.
  explicit ThreadRegistry(RecordingContext* context) : context_(context) {}

  // A buffer for the thread |tid|, or null without memory. Freed only by Unregister.
  ThreadBuffer* Register(uint32_t tid, const std::string& name);

  // The owning thread ends: hands its events over; the memory serves another thread.
  void Unregister(ThreadBuffer* buffer, const std::string& name);

  // An ordinal without a buffer, for a device source's thread, which writes records.
  ThreadId AddThread(uint32_t tid, const std::string& name);

  // Reads the names of the threads that have not ended again.
  void RefreshNames();

  void CopyRowsSince(size_t* position, std::vector<ThreadRow>* out);

 private:
  ThreadId AddThreadLocked(uint32_t tid, const std::string& name);
  void RenameLocked(ThreadId id, const std::string& name);
  ThreadBuffer* AllocateLocked();
  void MakeRoomLocked();

  RecordingContext* const context_;
  std::mutex mutex_;
  RowJournal<ThreadRow> rows_;
  std::vector<bool> ended_;  // by row; those said so
  std::vector<ThreadBuffer*> free_buffers_;
  uint32_t with_buffer_ = 0;  // threads
};

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_THREAD_REGISTRY_H_
