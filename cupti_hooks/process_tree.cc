// SPDX-License-Identifier: Apache-2.0
//
// Walks /proc/PID/task/TID/children, which the kernel keeps, instead of every process of the
// machine.
#include "cupti_hooks/process_tree.h"

#include <dirent.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "libprofiler/proc_file.h"

namespace gpubound {
namespace {

// More than any training run has; a loop that the kernel could present must end.
constexpr size_t kMaxProcesses = 4096;

std::vector<std::string> EntriesOf(const std::string& folder) {
  std::vector<std::string> names;
  DIR* open_folder = opendir(folder.c_str());
  if (open_folder == nullptr) return names;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): a stream of our own
  while (const dirent* entry = readdir(open_folder)) {
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  closedir(open_folder);
  return names;
}

// Adds what /proc/PID/stat says; false when there is no such process.
bool AddStat(const std::string& stat, ProcessTreeSample* sample) {
  // The second field is a name in parentheses, which may hold anything.
  const size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return false;
  uint64_t user = 0;
  uint64_t system = 0;
  int64_t waited_user = 0;
  int64_t waited_system = 0;
  int64_t resident_pages = 0;
  const int read = std::sscanf(stat.c_str() + name_end + 1,
                               " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64
                               " %" SCNd64 " %" SCNd64 " %*d %*d %*d %*d %*u %*u %" SCNd64,
                               &user, &system, &waited_user, &waited_system, &resident_pages);
  if (read != 5) return false;
  static const int64_t tick_ns = 1'000'000'000 / sysconf(_SC_CLK_TCK);
  static const int64_t page_bytes = sysconf(_SC_PAGESIZE);
  ++sample->processes;
  sample->cpu_ns += (static_cast<int64_t>(user + system) + waited_user + waited_system) * tick_ns;
  sample->resident_bytes += resident_pages * page_bytes;
  return true;
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

ProcessTreeSample MeasureProcessTree(const std::string& proc, uint32_t pid) {
  ProcessTreeSample sample;
  std::vector<uint32_t> pids = {pid};
  for (size_t i = 0; i < pids.size(); ++i) {
    const std::string process = proc + "/" + std::to_string(pids[i]);
    if (!AddStat(ReadProcFile(process + "/stat"), &sample)) continue;
    for (const std::string& thread : EntriesOf(process + "/task")) {
      const std::string folder = process + "/task/" + thread;
      int64_t delay_ns = 0;
      // Time on a CPU, time waiting for one, number of turns.
      if (std::sscanf(ReadProcFile(folder + "/schedstat").c_str(), "%*u %" SCNd64, &delay_ns) ==
          1) {
        sample.run_delay_ns += delay_ns;
      }
      AddChildren(ReadProcFile(folder + "/children"), &pids);
    }
  }
  return sample;
}

}  // namespace gpubound
