// SPDX-License-Identifier: Apache-2.0
//
// Walks /proc/PID/task/TID/children, which the kernel keeps, instead of every process of the
// machine.
#include "cupti_hooks/sampling/process_tree.h"

#include <dirent.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string_view>
#include <utility>

#include "libprofiler/high_descriptor.h"
#include "libprofiler/proc_file.h"

namespace gpubound {
namespace {

// More than any training run has; a loop that the kernel could present must end.
constexpr size_t kMaxProcesses = 4096;

constexpr int64_t kRarerThanItTakes = 100;

int64_t ThreadCpuNs() {
  timespec used;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<int64_t>(used.tv_sec) * 1'000'000'000 + used.tv_nsec;
}

std::vector<std::string> EntriesOf(const std::string& folder) {
  std::vector<std::string> names;
  DIR* open_folder = OpenFolderHigh(folder.c_str());
  if (open_folder == nullptr) return names;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): a stream of our own
  while (const dirent* entry = readdir(open_folder)) {
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  closedir(open_folder);
  return names;
}

// Adds what /proc/PID/stat says; nothing when there is no such process.
void AddStat(const std::string& stat, ProcessTreeSample* sample) {
  // The second field is a name in parentheses, which may hold anything.
  const size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return;
  uint64_t user = 0;
  uint64_t system = 0;
  int64_t waited_user = 0;
  int64_t waited_system = 0;
  int64_t resident_pages = 0;
  const int read = std::sscanf(stat.c_str() + name_end + 1,
                               " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64
                               " %" SCNd64 " %" SCNd64 " %*d %*d %*d %*d %*u %*u %" SCNd64,
                               &user, &system, &waited_user, &waited_system, &resident_pages);
  if (read != 5) return;
  static const int64_t tick_ns = 1'000'000'000 / sysconf(_SC_CLK_TCK);
  static const int64_t page_bytes = sysconf(_SC_PAGESIZE);
  ++sample->processes;
  sample->cpu_ns += (static_cast<int64_t>(user + system) + waited_user + waited_system) * tick_ns;
  sample->resident_bytes += resident_pages * page_bytes;
}

void AddChildren(const std::string& text, std::vector<uint32_t>* pids) {
  const char* at = text.c_str();
  char* end = nullptr;
  while (true) {
    const unsigned long pid = std::strtoul(at, &end, 10);
    if (end == at || pids->size() >= kMaxProcesses) return;
    pids->push_back(static_cast<uint32_t>(pid));
    at = end;
  }
}

}  // namespace

ProcessTree::ProcessTree(std::string proc, uint32_t pid, int64_t (*cpu_ns)())
    : proc_(std::move(proc)), cpu_ns_(cpu_ns == nullptr ? &ThreadCpuNs : cpu_ns), pids_{pid} {}

void ProcessTree::LookAtThreads() {
  pids_.resize(1);
  run_delay_ns_ = 0;
  for (size_t i = 0; i < pids_.size(); ++i) {
    const std::string tasks = proc_ + "/" + std::to_string(pids_[i]) + "/task";
    for (const std::string& thread : EntriesOf(tasks)) {
      const std::string folder = tasks + "/" + thread;
      int64_t delay_ns = 0;
      // Time on a CPU, time waiting for one, number of turns.
      if (std::sscanf(ReadProcFile(folder + "/schedstat").c_str(), "%*u %" SCNd64, &delay_ns) ==
          1) {
        run_delay_ns_ += delay_ns;
      }
      AddChildren(ReadProcFile(folder + "/children"), &pids_);
    }
  }
}

ProcessTreeSample ProcessTree::Measure(int64_t now_ns) {
  if (now_ns >= look_due_ns_) {
    const int64_t before_ns = cpu_ns_();
    LookAtThreads();
    look_due_ns_ = now_ns + (cpu_ns_() - before_ns) * kRarerThanItTakes;
  }
  ProcessTreeSample sample;
  for (const uint32_t pid : pids_) {
    AddStat(ReadProcFile(proc_ + "/" + std::to_string(pid) + "/stat"), &sample);
  }
  if (sample.processes != 0) sample.run_delay_ns = run_delay_ns_;
  return sample;
}

}  // namespace gpubound
