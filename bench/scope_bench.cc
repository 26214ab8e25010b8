// SPDX-License-Identifier: Apache-2.0
//
// What one annotated scope costs when everything is recorded and written to SQLite: a block with
// GPUBOUND_OPERATION and the real libraries, on one thread and on two at once. The floor, measured
// in the same rounds, is what no recorder that stamps begin and end can beat: two clock reads and
// one 16-byte thread-local store.
//
//   scope_bench [SCOPES_PER_ROUND_AND_THREAD [ROUNDS]]
//
// Rounds interleave the cases, so that a change of the machine's speed meets all of them; each
// round runs in a fresh process with its own run directory. Prints medians, minima and ratios, and
// exits 1 when a scope was dropped or the database does not hold exactly the events that were made.
#include <dlfcn.h>
#include <gpubound/annotate.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "bench/median.h"
#include "libprofiler/clock.h"
#include "proto/event_model.h"

namespace {

using gpubound::Median;

struct Outcome {
  double ns_per_scope = 0;      // wall time per scope, mean over the threads
  double slowest_ns = 0;        // the same of the thread that took longest
  double own_cpu_ns = 0;        // CPU time per scope of the thread that opens it
  double cpu_ns_per_scope = 0;  // CPU of all threads, writing out included, per scope
  double finish_ms = 0;         // from the last scope to the closed database
  double waits = 0;
  bool exact = true;
};

double NowNs() { return static_cast<double>(gpubound::ReadMonotonicNs()); }

double CpuNs() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const auto ns = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_usec) * 1e3;
  };
  return ns(usage.ru_utime) + ns(usage.ru_stime);
}

// Unlike wall time, hardly moved by other programs on the machine.
double ThreadCpuNs() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

struct TwoStamps {
  uint64_t begin;
  uint64_t end;
};
thread_local volatile TwoStamps t_stamps;

void RunFloor(uint64_t scopes) {
  for (uint64_t i = 0; i < scopes; ++i) {
    const uint64_t begin = gpubound::ReadTsc();
    const uint64_t end = gpubound::ReadTsc();
    t_stamps.begin = begin;
    t_stamps.end = end;
  }
}

// An annotated block.
[[gnu::noinline]] void RunScopes(uint64_t scopes) {
  for (uint64_t i = 0; i < scopes; ++i) {
    GPUBOUND_OPERATION("simulation");
  }
}

// What the loop around the scopes costs by itself.
Outcome RunEmptyLoopRound(uint64_t scopes) {
  const double begin = NowNs();
  const double cpu_begin = ThreadCpuNs();
  for (uint64_t i = 0; i < scopes; ++i) __asm__ volatile("");
  Outcome outcome;
  outcome.own_cpu_ns = (ThreadCpuNs() - cpu_begin) / static_cast<double>(scopes);
  outcome.ns_per_scope = (NowNs() - begin) / static_cast<double>(scopes);
  outcome.cpu_ns_per_scope = outcome.own_cpu_ns;
  return outcome;
}

// In a program that nobody profiles.
Outcome RunNotInjectedRound(uint64_t scopes) {
  const double begin = NowNs();
  const double cpu_begin = ThreadCpuNs();
  RunScopes(scopes);
  Outcome outcome;
  outcome.own_cpu_ns = (ThreadCpuNs() - cpu_begin) / static_cast<double>(scopes);
  outcome.ns_per_scope = (NowNs() - begin) / static_cast<double>(scopes);
  outcome.cpu_ns_per_scope = outcome.own_cpu_ns;
  return outcome;
}

void FinishCore() {
  void* core = dlopen(GPUBOUND_CORE_PATH, RTLD_NOW | RTLD_NOLOAD);
  if (core == nullptr) {
    std::fprintf(stderr, "scope_bench: nothing was recorded: %s was not loaded\n",
                 GPUBOUND_CORE_PATH);
    std::exit(2);
  }
  using Finish = void (*)(const char*);
  reinterpret_cast<Finish>(dlsym(core, "gpubound_core_finish_v1"))("exit");
}

// Sums the one value that |sql| selects over the databases below |directory|.
int64_t Query(const std::filesystem::path& directory, const char* sql) {
  int64_t sum = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().extension() != ".db") continue;
    sqlite3* database = nullptr;
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_open_v2(entry.path().c_str(), &database, SQLITE_OPEN_READONLY, nullptr) ==
            SQLITE_OK &&
        sqlite3_busy_timeout(database, 60'000) == SQLITE_OK &&  // the seal of a slow disk
        sqlite3_prepare_v2(database, sql, -1, &statement, nullptr) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW) {
      sum += sqlite3_column_int64(statement, 0);
    }
    sqlite3_finalize(statement);
    sqlite3_close(database);
  }
  return sum;
}

Outcome RunFloorRound(uint64_t scopes) {
  RunFloor(scopes / 16);
  const double begin = NowNs();
  const double cpu_begin = ThreadCpuNs();
  RunFloor(scopes);
  Outcome outcome;
  outcome.own_cpu_ns = (ThreadCpuNs() - cpu_begin) / static_cast<double>(scopes);
  outcome.ns_per_scope = (NowNs() - begin) / static_cast<double>(scopes);
  outcome.cpu_ns_per_scope = outcome.own_cpu_ns;
  return outcome;
}

Outcome RunRecordingRound(uint64_t scopes, int threads) {
  const uint64_t warm_up = scopes / 16;  // as for the floor
  setenv("GPUBOUND_LIBRARY", GPUBOUND_SHIM_PATH, 1);
  std::atomic<int> ready{0};
  std::vector<double> wall(static_cast<size_t>(threads));
  std::vector<double> own_cpu(static_cast<size_t>(threads));
  const double cpu_begin = CpuNs();
  const auto work = [&](size_t index) {
    RunScopes(warm_up);
    ready.fetch_add(1);
    while (ready.load() < threads) {
    }
    const double begin = NowNs();
    const double own_begin = ThreadCpuNs();
    RunScopes(scopes);
    own_cpu[index] = ThreadCpuNs() - own_begin;
    wall[index] = NowNs() - begin;
  };
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) others.emplace_back(work, static_cast<size_t>(i));
  work(0);
  for (std::thread& other : others) other.join();

  const double finish_begin = NowNs();
  FinishCore();
  Outcome outcome;
  outcome.finish_ms = (NowNs() - finish_begin) / 1e6;
  const double total = static_cast<double>(scopes) * threads;
  outcome.cpu_ns_per_scope =
      (CpuNs() - cpu_begin) / (static_cast<double>(scopes + warm_up) * threads);
  outcome.own_cpu_ns = std::accumulate(own_cpu.begin(), own_cpu.end(), 0.0) / total;
  outcome.ns_per_scope = std::accumulate(wall.begin(), wall.end(), 0.0) / total;
  outcome.slowest_ns = *std::max_element(wall.begin(), wall.end()) / static_cast<double>(scopes);

  const std::filesystem::path run = std::getenv("GPUBOUND_RUN");
  // Those of threads: the sampler notes beside them where each thread is (kCpuTime).
  const std::string of_scopes = "SELECT sum(event_count) FROM chunk WHERE family=" +
                                std::to_string(static_cast<int>(gpubound::EventFamily::kThread));
  const int64_t events = Query(run, of_scopes.c_str());
  // A begin and an end for each scope, and a mark where a thread other than the main one ends.
  const int64_t expected = 2 * threads * static_cast<int64_t>(scopes + warm_up) + threads - 1;
  const int64_t dropped =
      Query(run, "SELECT ifnull(sum(value),0) FROM ledger WHERE counter='scope_events_dropped'");
  outcome.waits = static_cast<double>(
      Query(run, "SELECT ifnull(sum(value),0) FROM ledger WHERE counter='backpressure_waits'"));
  outcome.exact = events == expected && dropped == 0;
  if (!outcome.exact) {
    std::fprintf(stderr, "scope_bench: %lld events stored, expected %lld; %lld dropped\n",
                 static_cast<long long>(events), static_cast<long long>(expected),
                 static_cast<long long>(dropped));
  }
  return outcome;
}

// Runs one round in a child, so that each begins with nothing loaded and ends with a closed trace.
template <typename Round>
Outcome InChild(const std::filesystem::path& run, Round round) {
  int channel[2];
  if (pipe(channel) != 0) std::exit(2);
  const pid_t child = fork();
  if (child == 0) {
    setenv("GPUBOUND_RUN", run.c_str(), 1);
    const Outcome outcome = round();
    [[maybe_unused]] const ssize_t written = write(channel[1], &outcome, sizeof(outcome));
    _exit(0);
  }
  close(channel[1]);
  Outcome outcome;
  if (read(channel[0], &outcome, sizeof(outcome)) != sizeof(outcome)) std::exit(2);
  close(channel[0]);
  waitpid(child, nullptr, 0);
  std::filesystem::remove_all(run);
  return outcome;
}

struct Case {
  const char* name;
  std::vector<double> wall, slowest, own, cpu, finish, waits;
  void Add(const Outcome& outcome) {
    wall.push_back(outcome.ns_per_scope);
    slowest.push_back(outcome.slowest_ns);
    own.push_back(outcome.own_cpu_ns);
    cpu.push_back(outcome.cpu_ns_per_scope);
    finish.push_back(outcome.finish_ms);
    waits.push_back(outcome.waits);
  }
};

double Minimum(const std::vector<double>& values) {
  return *std::min_element(values.begin(), values.end());
}

void PrintRow(const char* what, const std::vector<double>& values,
              const std::vector<double>& floor) {
  std::printf("  %-38s median %6.2f ns = %.3f x floor   min %6.2f ns = %.3f x\n", what,
              Median(values), Median(values) / Median(floor), Minimum(values),
              Minimum(values) / Minimum(floor));
}

void Print(const Case& c, const Case& floor) {
  std::printf("%s\n", c.name);
  PrintRow("wall time of a scope", c.wall, floor.wall);
  PrintRow("CPU time of its thread", c.own, floor.own);
  if (Median(c.finish) == 0) return;  // records nothing
  PrintRow("wall time on the slowest thread", c.slowest, floor.wall);
  PrintRow("CPU time of all threads, per scope", c.cpu, floor.cpu);
  std::printf("  waits for a page %.0f, finish %.0f ms\n", Median(c.waits), Median(c.finish));
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t scopes = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 16'000'000;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 7;
  const std::filesystem::path run =
      std::filesystem::current_path() / ("scope_bench-" + std::to_string(getpid()) + ".gpubound");
  Case floor{.name = "floor: two clock reads and one store",
             .wall = {},
             .slowest = {},
             .own = {},
             .cpu = {},
             .finish = {},
             .waits = {}};
  Case one = floor;
  one.name = "recording, 1 thread";
  Case two = floor;
  two.name = "recording, 2 threads";
  Case none = floor;
  none.name = "not injected, the loop included";
  Case empty = floor;
  empty.name = "the loop alone";
  bool exact = true;
  for (int round = 0; round < rounds; ++round) {
    floor.Add(InChild(run, [&] { return RunFloorRound(scopes); }));
    none.Add(InChild(run, [&] { return RunNotInjectedRound(scopes); }));
    empty.Add(InChild(run, [&] { return RunEmptyLoopRound(scopes); }));
    for (int threads = 1; threads <= 2; ++threads) {
      const Outcome outcome = InChild(run, [&] { return RunRecordingRound(scopes, threads); });
      (threads == 1 ? one : two).Add(outcome);
      exact = exact && outcome.exact;
    }
  }
  std::printf("%llu scopes per thread and round, %d rounds\n",
              static_cast<unsigned long long>(scopes), rounds);
  for (const Case* c : {&floor, &one, &two, &none, &empty}) Print(*c, floor);
  std::printf("%s\n", exact ? "every event is in the database, none dropped"
                            : "THE DATABASE DOES NOT HOLD THE EVENTS THAT WERE MADE (see above)");
  return exact ? 0 : 1;
}
