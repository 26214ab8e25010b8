// SPDX-License-Identifier: Apache-2.0
//
// Reads /proc. One thread.
#include "libprofiler/task_stats.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string_view>
#include <system_error>

#include "libprofiler/high_descriptor.h"
#include "libprofiler/own_threads.h"

namespace gpubound {
namespace {

constexpr char kTasks[] = "/proc/self/task";

// "Time on a CPU, time ready without one, number of turns", in nanoseconds: the second.
std::optional<uint64_t> ReadFile(int descriptor) {
  char text[96];
  const ssize_t length = pread(descriptor, text, sizeof(text), 0);
  if (length <= 0) return std::nullopt;
  const char* const end = text + length;
  const char* const blank = std::find(text, text + length, ' ');
  uint64_t ready_ns = 0;
  if (blank == end || std::from_chars(blank + 1, end, ready_ns).ec != std::errc()) {
    return std::nullopt;
  }
  return ready_ns;
}

// The clock of one thread's CPU time, as the kernel numbers them (CPUCLOCK_SCHED of a thread).
std::optional<uint64_t> ReadCpuClock(uint32_t tid) {
  timespec time;
  const auto clock = static_cast<clockid_t>(~tid << 3 | 6);
  if (clock_gettime(clock, &time) != 0) return std::nullopt;
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

std::array<char, 64> SchedstatPath(uint32_t tid) {
  std::array<char, 64> path;
  std::snprintf(path.data(), path.size(), "%s/%u/schedstat", kTasks, tid);
  return path;
}

std::optional<uint64_t> ReadOnce(uint32_t tid) {
  const int descriptor = open(SchedstatPath(tid).data(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return std::nullopt;
  const auto ready_ns = ReadFile(descriptor);
  close(descriptor);
  return ready_ns;
}

// The folder that is open, from its begin.
DIR* FolderOf(const KeptFile& file) {
  const int descriptor = file.descriptor.load(std::memory_order_relaxed);
  const int again = fcntl(descriptor, F_DUPFD_CLOEXEC, kLeastHighDescriptor);
  DIR* const folder = again < 0 ? nullptr : fdopendir(again);
  if (folder != nullptr) rewinddir(folder);
  if (folder == nullptr && again >= 0) close(again);
  return folder;
}

// A kernel without the counters has no such file, or one of zeroes. Whoever reads it has had a turn
// on a CPU at least, be it that no time of that has been counted yet.
bool HasSchedstat() {
  constexpr std::string_view kNothing = "0 0 0";
  char text[96];
  const int descriptor = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  const ssize_t length = read(descriptor, text, sizeof(text));
  close(descriptor);
  return length > 0 && !std::string_view(text, static_cast<size_t>(length)).starts_with(kNothing);
}

}  // namespace

// Where the program may have few descriptors they are all left to it.
bool ProcTaskStats::File::Open(const char* path, int flags) {
  if (!KeptFile::Open(path, flags)) return false;
  if (descriptor.load(std::memory_order_relaxed) >= kLeastHighDescriptor) return true;
  Close();
  return false;
}

void ProcTaskStats::File::Close() {
  KeptFile::Close();
  tid = 0;
}

// On a thread of the program, which opens nothing else meanwhile.
ProcTaskStats::ProcTaskStats() : has_schedstat_(HasSchedstat()) {
  folder_.Open(kTasks, O_DIRECTORY);
}

ProcTaskStats::~ProcTaskStats() {
  for (File& file : files_) file.Close();
  folder_.Close();
}

// 0: not known, so only those who list anew see threads come and go.
uint64_t ProcTaskStats::CountLinks() {
  if (!folder_.IsOurs()) {
    folder_.Close();
    if (!folder_.Open(kTasks, O_DIRECTORY)) return 0;
  }
  struct stat now;
  return fstat(folder_.descriptor.load(std::memory_order_relaxed), &now) == 0 ? now.st_nlink : 0;
}

bool ProcTaskStats::List(bool anew, std::vector<uint32_t>* tids) {
  const uint64_t links = CountLinks();
  if (!anew && links == links_) return false;
  DIR* const entries = folder_.IsOurs() ? FolderOf(folder_) : OpenFolderHigh(kTasks);
  if (entries == nullptr) return false;
  links_ = links;
  tids->clear();
  while (const dirent* const entry = readdir(entries)) {
    const auto tid = static_cast<uint32_t>(std::strtoul(entry->d_name, nullptr, 10));
    if (tid != 0 && !IsOwnThread(tid)) tids->push_back(tid);
  }
  closedir(entries);
  return true;
}

ProcTaskStats::File* ProcTaskStats::FileOf(uint32_t tid) {
  const auto with = [this](uint32_t of) {
    const auto found = std::find_if(files_.begin(), files_.end(),
                                    [of](const File& file) { return file.tid == of; });
    return found == files_.end() ? nullptr : &*found;
  };
  File* file = with(tid);
  if (file != nullptr) {
    if (file->IsOurs()) return file;
    file->Close();
  }
  file = with(0);
  if (file == nullptr) return nullptr;
  if (!file->Open(SchedstatPath(tid).data(), 0)) return nullptr;
  file->tid = tid;
  return file;
}

std::optional<uint64_t> ProcTaskStats::ReadReadyNs(uint32_t tid) {
  File* const file = FileOf(tid);
  if (file == nullptr) return ReadOnce(tid);
  return ReadFile(file->descriptor.load(std::memory_order_relaxed));
}

std::optional<TaskCounters> ProcTaskStats::Read(uint32_t tid, const TaskCounters* before) {
  const std::optional<uint64_t> on_cpu_ns = ReadCpuClock(tid);
  if (!on_cpu_ns) return std::nullopt;
  if (before != nullptr && before->on_cpu_ns == *on_cpu_ns) return *before;
  if (!has_schedstat_) return TaskCounters{*on_cpu_ns, std::nullopt};
  const std::optional<uint64_t> ready_ns = ReadReadyNs(tid);
  if (!ready_ns) return std::nullopt;
  return TaskCounters{*on_cpu_ns, ready_ns};
}

int64_t ProcTaskStats::CpuNs(uint32_t tid) {
  const std::optional<uint64_t> on_cpu_ns = ReadCpuClock(tid);
  return on_cpu_ns ? static_cast<int64_t>(*on_cpu_ns) : -1;
}

bool ProcTaskStats::IsRunnable(uint32_t tid) {
  std::array<char, 64> path;
  std::snprintf(path.data(), path.size(), "%s/%u/stat", kTasks, tid);
  const int descriptor = open(path.data(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  // "TID (NAME) STATE ...", and the name may hold anything.
  char text[128];
  const ssize_t length = read(descriptor, text, sizeof(text));
  close(descriptor);
  const std::string_view line(text, static_cast<size_t>(std::max<ssize_t>(length, 0)));
  const size_t name_end = line.rfind(')');
  return name_end != std::string_view::npos && line.substr(name_end).starts_with(") R");
}

void ProcTaskStats::Forget(uint32_t tid) {
  for (File& file : files_) {
    if (file.tid == tid) file.Close();
  }
}

int64_t ProcTaskStats::OwnCpuNs() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

void ProcTaskStats::CloseInForkChild() noexcept {
  for (File& file : files_) {
    if (file.descriptor.load(std::memory_order_acquire) >= 0) file.Close();
  }
  if (folder_.descriptor.load(std::memory_order_acquire) >= 0) folder_.Close();
}

}  // namespace gpubound
