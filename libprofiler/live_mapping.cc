// SPDX-License-Identifier: Apache-2.0
//
// Makes, lays out and removes the live mapping.
#include "libprofiler/live_mapping.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "libprofiler/high_descriptor.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23  // Linux 5.14; older kernels answer EINVAL
#endif

namespace gpubound {
namespace {

constexpr size_t kSystemPage = 4096;

constexpr size_t RoundUp(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

constexpr size_t kThreadsOffset = RoundUp(sizeof(LiveHeader), kSystemPage);
constexpr size_t kLabelsOffset =
    RoundUp(kThreadsOffset + sizeof(LiveThread) * kLiveMaxThreads, kSystemPage);
constexpr size_t kPagesOffset = RoundUp(kLabelsOffset + kLiveLabelHeapBytes, kLivePageSize);

// Maps a new file of |bytes|, every block of it allocated, and |*length| addresses, which become
// |bytes| where there are not so many. Null, and no file, on any failure. |*kept|: its descriptor,
// unless that is one of the few that the program may have.
char* MapNewFile(const std::string& path, size_t bytes, size_t* length, int* kept) {
  const int fd = OpenHigh(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return nullptr;
  void* base = MAP_FAILED;
  if (posix_fallocate(fd, 0, static_cast<off_t>(bytes)) == 0) {
    base = mmap(nullptr, *length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (base == MAP_FAILED) {
      *length = bytes;
      base = mmap(nullptr, *length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    }
  }
  *kept = base != MAP_FAILED && fd >= kLeastHighDescriptor ? fd : -1;
  if (*kept < 0) close(fd);
  // The file is empty: what the kernel would read ahead of a first access is nothing but zeroes.
  if (base != MAP_FAILED) madvise(base, *length, MADV_RANDOM);
  if (base == MAP_FAILED) {
    unlink(path.c_str());
    return nullptr;
  }
  return static_cast<char*>(base);
}

char* MapAnonymous(size_t bytes) {
  void* base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return base == MAP_FAILED ? nullptr : static_cast<char*>(base);
}

}  // namespace

LiveMapping::LiveMapping(char* base, size_t bytes, std::string path)
    : base_(base), bytes_(bytes), was_file_(!path.empty()), path_(std::move(path)) {}

LiveMapping::~LiveMapping() {
  file_.Close();
  munmap(base_, bytes_);
}

std::unique_ptr<LiveMapping> LiveMapping::Create(const std::string& path, uint32_t page_count,
                                                 const Identity& identity, uint32_t more_pages) {
  const uint32_t pages = std::min(page_count, kPagesAtStart);
  const size_t bytes = kPagesOffset + size_t{pages} * kLivePageSize;
  size_t length = kPagesOffset + (size_t{page_count} + more_pages) * kLivePageSize;
  int kept = -1;
  char* base = path.empty() ? nullptr : MapNewFile(path, bytes, &length, &kept);
  const bool file = base != nullptr;
  if (!file) base = MapAnonymous(length);
  if (!file && base == nullptr) base = MapAnonymous(length = bytes);
  if (base == nullptr) return nullptr;
  std::unique_ptr<LiveMapping> mapping(new LiveMapping(base, length, file ? path : std::string()));
  if (kept >= 0) mapping->file_.Keep(kept);
  mapping->pages_ = base + kPagesOffset;
  mapping->page_count_ = pages;
  mapping->first_page_count_ = page_count;
  mapping->most_pages_ = static_cast<uint32_t>((length - kPagesOffset) / kLivePageSize);

  LiveHeader* header = mapping->header();
  header->version = kLiveVersion;
  header->header_bytes = sizeof(LiveHeader);
  header->file_size = bytes;
  header->pid = identity.pid;
  header->start_realtime_ns = identity.start_realtime_ns;
  header->start_monotonic_ns = identity.start_monotonic_ns;
  header->threads_offset = kThreadsOffset;
  header->labels_offset = kLabelsOffset;
  header->pages_offset = kPagesOffset;
  header->page_count = pages;
  header->ticks_are_tsc = identity.ticks_are_tsc ? 1 : 0;
  if (!file) header->ledger[static_cast<int>(LedgerCounter::live_mapping_unavailable)] = 1;
  return mapping;
}

void LiveMapping::Announce() {
  std::atomic_ref<uint64_t>(header()->magic).store(kLiveMagic, std::memory_order_release);
}

bool LiveMapping::AddPages(uint32_t count) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return AddPagesLocked(count);
}

uint32_t LiveMapping::AddFirstPages() {
  const std::lock_guard<std::mutex> lock(mutex_);
  const uint32_t pages = page_count();
  const uint32_t wanted = std::min(first_page_count_, most_pages_);
  if (pages >= wanted || !AddPagesLocked(wanted - pages)) return 0;
  return wanted - pages;
}

bool LiveMapping::AddPagesLocked(uint32_t count) {
  const uint32_t pages = page_count();
  if (count > most_pages_ - pages) return false;
  // Also where the file has been removed: behind its end there is no memory.
  if (was_file_ && !LengthenFileLocked(size_t{count} * kLivePageSize)) return false;
  // A reader that sees the pages sees a file that has them.
  std::atomic_ref<uint64_t>(header()->file_size)
      .store(header()->file_size + size_t{count} * kLivePageSize, std::memory_order_release);
  std::atomic_ref<uint32_t>(header()->page_count).store(pages + count, std::memory_order_release);
  page_count_.store(pages + count, std::memory_order_release);
  return true;
}

// By its name where the descriptor is the program's by now.
bool LiveMapping::LengthenFileLocked(size_t bytes) {
  const bool is_open = file_.IsOurs();
  const int fd = is_open ? file_.descriptor.load(std::memory_order_relaxed)
                         : OpenHigh(path_.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0);
  if (fd < 0) return false;
  struct stat file;
  const uint64_t size = header()->file_size;
  const bool same =
      fstat(fd, &file) == 0 && file.st_nlink != 0 && static_cast<uint64_t>(file.st_size) == size;
  const bool longer =
      same && posix_fallocate(fd, static_cast<off_t>(size), static_cast<off_t>(bytes)) == 0;
  if (!is_open) close(fd);
  return longer;
}

void LiveMapping::RemoveFile() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!path_.empty()) unlink(path_.c_str());
  path_.clear();
  file_.Close();
}

void LiveMapping::AddClockSample(const ClockSample& sample) {
  LiveHeader* h = header();
  h->clock_samples[h->clock_sample_count % kLiveClockSamples] = sample;
  std::atomic_ref<uint32_t>(h->clock_sample_count)
      .store(h->clock_sample_count + 1, std::memory_order_release);
}

void LiveMapping::Prefault(uint32_t index) {
  char* begin = pages_ + size_t{index} * kLivePageSize;
  if (madvise(begin, kLivePageSize, MADV_POPULATE_WRITE) == 0) return;
  for (size_t offset = 0; offset < kLivePageSize; offset += kSystemPage) {
    *static_cast<volatile char*>(begin + offset) = 0;  // it is zero already: the page is free
  }
}

}  // namespace gpubound
