// SPDX-License-Identifier: Apache-2.0
//
// Every environment variable that gpubound reads: name, default and one sentence for the user.
// `gpubound env` and `gpubound run --help` print this list, and settings.cc parses from it, so that
// a variable cannot exist without a help text. Plain data, no thread rule.
#ifndef GPUBOUND_LIBPROFILER_ENV_VARS_H_
#define GPUBOUND_LIBPROFILER_ENV_VARS_H_

#include <optional>
#include <string_view>

namespace gpubound {

// X(NAME, default, help). A default of "" means unset.
// clang-format off
#define GPUBOUND_ENV_VARS(X) \
  X(GPUBOUND_RUN, "", "Run directory that every process of a run writes into; unset: $PWD/NAME-TIME-PID.gpubound.") \
  X(GPUBOUND_LIBRARY, "", "Path of libgpubound.so for annotated programs into which it was not preloaded.") \
  X(GPUBOUND_PYTHON, "", "Folder of the hook that Python programs start with, which names what known libraries do; gpubound run sets it. 0: leave Python alone.") \
  X(GPUBOUND_DISABLE, "0", "1: record nothing in this process and its children.") \
  X(GPUBOUND_LOG, "", "debug: each process of a run writes into a .log file of the run directory which libcupti, which devices and which hooks it uses, and why it records nothing; gpubound doctor RUN prints it.") \
  X(GPUBOUND_ROLE, "", "What a process does in the training: environment, rollout, reward, data or train. Its children inherit it; gpubound.role() in the program says otherwise from then on.") \
  X(GPUBOUND_LAUNCHED, "0", "1: the run has a launcher, whose record lies beside the traces; gpubound run sets it.") \
  X(GPUBOUND_END_NS, "0", "When recording ends in every process of the run, in ns of CLOCK_MONOTONIC; gpubound run --duration sets it. 0: with the process.") \
  X(GPUBOUND_STEPS, "", "A:B: record only from the iteration number A until number B begins, of whichever process comes there first; gpubound run --steps sets it. Empty: all.") \
  X(GPUBOUND_LIVE_PAGES, "256", "Pages of 64 KiB that buffer events between the program and the writer (16 to 16384).") \
  X(GPUBOUND_FLUSH_MS, "1000", "How often events that fill no page yet are written to the database, in ms (10 to 1000).") \
  X(GPUBOUND_SEGMENT_BYTES, "1073741824", "Size at which a database file is sealed and the next one begun, in bytes (at least 1 MiB).") \
  X(GPUBOUND_STACKS, "100", "How often the stack of each Python thread is looked at, per second (10 to 1000); gpubound run --stacks sets it. 0: never.") \
  X(GPUBOUND_WAITS, "1", "0: leave the functions alone in which native threads wait (pthread_cond_wait, sem_wait, poll, sleep and the like); long waits are then known only as time without a CPU, and nobody's wake-ups are.") \
  X(GPUBOUND_COMPRESSION, "none", "zstd: compress events as they are written; a fifth smaller for about 18 ns of CPU per event more.") \
  X(GPUBOUND_MAX_LABELS, "65536", "Distinct scope names kept per process; further ones are recorded as (other names).") \
  X(GPUBOUND_CALIBRATE, "1", "0: gpubound run never measures afterwards what the profiler itself costs on this machine.") \
  X(GPUBOUND_CUPTI_LIBRARY, "", "Path of the libcupti to use; unset: the one already loaded, else the best match found.") \
  X(GPUBOUND_CUPTI, "1", "0: leave CUPTI alone and record the CPU side only.") \
  X(GPUBOUND_KEEP_CUPTI, "0", "1: keep CUPTI when a profiler inside the program (torch.profiler) asks for it; that profiler then records no GPU work.") \
  X(GPUBOUND_SHARE_CUPTI, "0", "1: open CUPTI to several tools (CUDA 13.3, driver branch 610): profilers that speak its newer interface then record beside gpubound, older ones may be refused by CUPTI for the rest of the process.") \
  X(GPUBOUND_CUPTI_BUFFER_MB, "256", "Most memory for the records that CUPTI fills, in MiB (4 to 4096); what does not fit is dropped and counted.") \
  X(GPUBOUND_SAMPLE_MS, "1000", "How often NVML, CPU time and memory are sampled in a process that uses CUDA, in ms (100 to 60000); 0: never.") \
  X(GPUBOUND_COUNTERS, "", "occupancy: sample hardware counters of the devices in use (multiprocessors active, warps active, memory throughput); needs CUDA 12.6 and, mostly, administrator rights.") \
  X(GPUBOUND_GRAPHS, "node", "How CUDA graphs are recorded. node: each kernel, exact; graph: each launch as a whole, cheapest, GPU busy an upper bound; auto: as graph, with the names of the kernels and where they were captured.") \
  X(GPUBOUND_COUNT_QUERIES, "0", "1: count calls of functions that are not recorded, by a callback for each, which makes programs that query a lot (PyTorch: some 15 a launch) slower by a quarter and more.") \
  X(GPUBOUND_QUIET_APIS, "", "CUDA API functions to count instead of recording, separated by commas, beside the built-in list of queries; -NAME records one of that list.")
// clang-format on

// Of GPUBOUND_STACKS, beside 0.
inline constexpr int kLeastStacksPerSecond = 10;
inline constexpr int kMostStacksPerSecond = 1000;

struct EnvVar {
  const char* name;
  const char* default_value;
  const char* help;
};

// What a variable that is a switch says: 1, on, true, yes or 0, off, false, no, in small letters,
// capitals, or with a capital first. Absent for any other word. The shim and sitecustomize.py,
// which cannot include this, know the same words for off.
constexpr std::optional<bool> SwitchOf(std::string_view word) {
  for (const std::string_view on :
       {"1", "on", "On", "ON", "true", "True", "TRUE", "yes", "Yes", "YES"}) {
    if (word == on) return true;
  }
  for (const std::string_view off :
       {"0", "off", "Off", "OFF", "false", "False", "FALSE", "no", "No", "NO"}) {
    if (word == off) return false;
  }
  return std::nullopt;
}

// What GPUBOUND_DISABLE says: whoever sets it to a word that is no switch means it.
constexpr bool SaysDisabled(std::string_view word) {
  return !word.empty() && SwitchOf(word).value_or(true);
}

inline constexpr EnvVar kEnvVars[] = {
#define GPUBOUND_X(name, default_value, help) {#name, default_value, help},
    GPUBOUND_ENV_VARS(GPUBOUND_X)
#undef GPUBOUND_X
};

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_ENV_VARS_H_
