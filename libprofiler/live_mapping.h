// SPDX-License-Identifier: Apache-2.0
//
// The live mapping of proto/live_format.h as memory of this process: a file allocated in full
// beside the database, so that a kill leaves it readable and a full disk cannot turn a store into
// SIGBUS; anonymous memory of the same layout where a file cannot serve. Created and removed by one
// thread; the memory itself is written by many, each part by the rules of its user.
#ifndef GPUBOUND_LIBPROFILER_LIVE_MAPPING_H_
#define GPUBOUND_LIBPROFILER_LIVE_MAPPING_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "libprofiler/kept_file.h"
#include "proto/live_format.h"

namespace gpubound {

class LiveMapping {
 public:
  static constexpr uint32_t kPagesAtStart = 8;

  struct Identity {
    uint64_t pid;
    int64_t start_realtime_ns;
    int64_t start_monotonic_ns;
    bool ticks_are_tsc;
  };

  // Maps up to |page_count| pages in a new file at |path|, or in anonymous memory when |path| is
  // empty or the file cannot be made (then the ledger says live_mapping_unavailable). Null only
  // when there is no memory at all. Readers ignore the file until Announce(). Addresses are kept
  // free for |more_pages|, where there are so many. Of the pages kPagesAtStart are there at first,
  // since most workers need no more; AddFirstPages() makes the others.
  static std::unique_ptr<LiveMapping> Create(const std::string& path, uint32_t page_count,
                                             const Identity& identity, uint32_t more_pages = 0);
  ~LiveMapping();
  LiveMapping(const LiveMapping&) = delete;
  LiveMapping& operator=(const LiveMapping&) = delete;

  // Stores the magic: from here on a reader may salvage the file.
  void Announce();

  // Makes |count| further pages at the end. False, and nothing is changed: no addresses were kept
  // for them, the disk is full, or the file is gone. Any thread.
  bool AddPages(uint32_t count);

  // Makes pages up to the |page_count| of Create(); how many. Any thread.
  uint32_t AddFirstPages();

  // Removes the file's name and leaves the memory mapped: threads that outlive the recording go on
  // storing into it without harm.
  void RemoveFile();

  // Closes what the child of a fork has inherited; no lock.
  void CloseInForkChild() noexcept { file_.Close(); }

  // Adds to the ring of clock samples. One thread.
  void AddClockSample(const ClockSample& sample);

  // Takes the page faults of page |index| ahead of its first use. The page must be free.
  void Prefault(uint32_t index);

  bool is_file() const { return !path_.empty(); }
  uint32_t page_count() const { return page_count_.load(std::memory_order_acquire); }
  uint32_t first_page_count() const { return first_page_count_; }
  uint32_t most_pages() const { return most_pages_; }
  LiveHeader* header() { return reinterpret_cast<LiveHeader*>(base_); }
  LiveThread* threads() { return reinterpret_cast<LiveThread*>(base_ + header()->threads_offset); }
  char* label_heap() { return base_ + header()->labels_offset; }
  LivePageHeader* page(uint32_t index) {
    return reinterpret_cast<LivePageHeader*>(pages_ + size_t{index} * kLivePageSize);
  }
  // First byte behind a page's header: slots or records.
  char* body(uint32_t index) {
    return pages_ + size_t{index} * kLivePageSize + kLivePageHeaderBytes;
  }
  Slot* slots(uint32_t index) { return reinterpret_cast<Slot*>(body(index)); }

 private:
  LiveMapping(char* base, size_t bytes, std::string path);
  bool AddPagesLocked(uint32_t count);
  bool LengthenFileLocked(size_t bytes);

  KeptFile file_;
  char* const base_;
  const size_t bytes_;
  const bool was_file_;
  std::mutex mutex_;  // of the path
  std::string path_;
  char* pages_ = nullptr;
  uint32_t first_page_count_ = 0;
  uint32_t most_pages_ = 0;
  std::atomic<uint32_t> page_count_{0};
};

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_LIVE_MAPPING_H_
