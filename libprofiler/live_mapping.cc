// SPDX-License-Identifier: Apache-2.0
//
// Makes, lays out and removes the live mapping.
#include "libprofiler/live_mapping.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <utility>

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

// Maps a new file of |bytes|, every block of it allocated. Null, and no file, on any failure.
char* MapNewFile(const std::string& path, size_t bytes) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return nullptr;
  void* base = MAP_FAILED;
  if (posix_fallocate(fd, 0, static_cast<off_t>(bytes)) == 0) {
    base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  }
  close(fd);
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
    : base_(base), bytes_(bytes), path_(std::move(path)) {}

LiveMapping::~LiveMapping() { munmap(base_, bytes_); }

std::unique_ptr<LiveMapping> LiveMapping::Create(const std::string& path, uint32_t page_count,
                                                 const Identity& identity) {
  const size_t bytes = kPagesOffset + size_t{page_count} * kLivePageSize;
  char* base = path.empty() ? nullptr : MapNewFile(path, bytes);
  const bool file = base != nullptr;
  if (!file) base = MapAnonymous(bytes);
  if (base == nullptr) return nullptr;
  std::unique_ptr<LiveMapping> mapping(new LiveMapping(base, bytes, file ? path : std::string()));
  mapping->pages_ = base + kPagesOffset;
  mapping->page_count_ = page_count;

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
  header->page_count = page_count;
  header->ticks_are_tsc = identity.ticks_are_tsc ? 1 : 0;
  if (!file) header->ledger[static_cast<int>(LedgerCounter::live_mapping_unavailable)] = 1;
  return mapping;
}

void LiveMapping::Announce() {
  std::atomic_ref<uint64_t>(header()->magic).store(kLiveMagic, std::memory_order_release);
}

void LiveMapping::RemoveFile() {
  if (!path_.empty()) unlink(path_.c_str());
  path_.clear();
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
