// SPDX-License-Identifier: Apache-2.0
//
// analysis_bench [--events N | --short-threads EVENTS] [--repeat N] [--dir DIR]
// analysis_bench --write DIR [--events N [--processes N] | --short-threads EVENTS]
//                                            keeps a run, of one process or of N, for others
// analysis_bench --report DIR                CPU seconds of one report of such a run
// analysis_bench --breakdown DIR             likewise, of its breakdown alone (ReportDetail)
// analysis_bench --json DIR                  that report, for a comparison with other tools
//
// From a run directory to its breakdown, and to all that a report says beside it (lanes, tables of
// kernels, gaps and more): events per second and resident memory, for one process (one core) and
// two (two cores), and for one of many threads that live one after the other, beside the floor of
// the same run: sorting and sweeping as many intervals that already lie in memory. Each measurement
// is a child process, so that its memory is its own. An event is a scope, a call or a kernel. The
// default is 1e6 and 1e7 events;
// `--events 100000000` is the long one.
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "analysis/base/estimate.h"
#include "analysis/base/large_pages.h"
#include "analysis/correction/report_options.h"
#include "analysis/correction/run_report.h"
#include "analysis/report/report_json.h"
#include "analysis/segments/sqlite.h"
#include "bench/analysis_run.h"

namespace gpubound {
namespace {

constexpr uint64_t kLargestFloor = 20'000'000;  // arrays of more are pointless to sort

double Now() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double CpuNow() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Wall time says what a user waits for, CPU time of all threads what a busy machine cannot distort.
struct Seconds {
  double wall = 0;
  double cpu = 0;
};

class Stopwatch {
 public:
  Seconds Elapsed() const { return {Now() - wall_, CpuNow() - cpu_}; }

 private:
  double wall_ = Now();
  double cpu_ = CpuNow();
};

struct Measured {
  Seconds seconds;
  double resident_mib = 0;
};

// |work| in a process of its own, prepared as gpubound report is; it returns the seconds that
// count.
Measured InChild(const std::function<Seconds()>& work) {
  int ends[2];
  if (pipe(ends) != 0) std::exit(1);
  const pid_t child = fork();
  if (child == 0) {
    AllocateFromLargePages();
    const Seconds seconds = work();
    const bool written = write(ends[1], &seconds, sizeof(seconds)) == sizeof(seconds);
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  Measured measured;
  const bool read_all =
      read(ends[0], &measured.seconds, sizeof(measured.seconds)) == sizeof(measured.seconds);
  close(ends[0]);
  int status = 0;
  rusage usage{};
  wait4(child, &status, 0, &usage);
  if (!read_all || status != 0) {
    std::fprintf(stderr, "analysis_bench: a measurement failed\n");
    std::exit(1);
  }
  measured.resident_mib = static_cast<double>(usage.ru_maxrss) / 1024;
  return measured;
}

Report ReportOf(const std::string& directory, ReportDetail detail = ReportDetail::kAll) {
  ReportOptions options;
  options.detail = detail;
  Result<Report> report = ReportOfRun(directory, options);
  if (report.ok()) return std::move(*report);
  std::fprintf(stderr, "%s\n", report.error().ToString().c_str());
  _exit(1);
}

Seconds ReportSeconds(const std::string& directory, ReportDetail detail) {
  const Stopwatch watch;
  const Report report = ReportOf(directory, detail);
  const Seconds seconds = watch.Elapsed();
  for (const ReportProcess& process : report.processes) {
    if (process.gpu_busy_ns == 0) _exit(1);
  }
  return seconds;
}

// Edges of |events| intervals of three kinds, in no order: time << 3 | kind << 1 | begins.
std::vector<uint64_t> DrawEdges(uint64_t events, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<uint64_t> edges;
  edges.reserve(2 * events);
  uint64_t now = 0;
  for (uint64_t i = 0; i < events; ++i) {
    now += random() % 4000;
    const uint64_t kind = i % 3;
    edges.push_back(now << 3 | kind << 1 | 1);
    edges.push_back((now + random() % 8000) << 3 | kind << 1);
  }
  return edges;
}

void SortAndSweep(std::vector<uint64_t>* edges) {
  std::sort(edges->begin(), edges->end());
  uint64_t table[8] = {};
  int counts[4] = {};
  uint64_t last = 0;
  for (const uint64_t edge : *edges) {
    const auto state =
        static_cast<size_t>((counts[0] > 0) | (counts[1] > 0) << 1 | (counts[2] > 0) << 2);
    table[state] += (edge >> 3) - last;
    last = edge >> 3;
    counts[edge >> 1 & 3] += (edge & 1) != 0 ? 1 : -1;
  }
  if (table[7] == 0) _exit(1);
}

Seconds FloorSeconds(uint64_t events, uint32_t threads) {
  std::vector<std::vector<uint64_t>> edges;
  for (uint32_t i = 0; i < threads; ++i) edges.push_back(DrawEdges(events / threads, i + 1));
  const Stopwatch watch;
  std::vector<std::thread> all;
  for (std::vector<uint64_t>& part : edges) all.emplace_back(SortAndSweep, &part);
  for (std::thread& thread : all) thread.join();
  return watch.Elapsed();
}

// Medians over repetitions, as millions of events per second.
class Rates {
 public:
  explicit Rates(uint64_t events) : events_(static_cast<double>(events)) {}
  void Add(const Seconds& seconds) {
    wall_.push_back(seconds.wall);
    cpu_.push_back(seconds.cpu);
  }
  void Print() const {
    if (wall_.empty()) {
      std::printf(" %10s %10s", "-", "-");
    } else {
      std::printf(" %10.1f %10.1f", events_ / Median(wall_) / 1e6, events_ / Median(cpu_) / 1e6);
    }
  }

 private:
  double events_;
  std::vector<double> wall_;
  std::vector<double> cpu_;
};

// |processes|: of four threads each; 0: one of many short threads.
void Measure(uint64_t events, uint32_t processes, int repeat, const std::string& dir) {
  std::string pattern = dir + "/analysis_bench-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) std::exit(1);
  InChild([&] {
    if (processes == 0) {
      WriteShortThreads(pattern, events);
    } else {
      WriteBenchRun(pattern, events, processes);
    }
    return Seconds{};
  });
  Rates broken_down(events);
  Rates reported(events);
  Rates floor(events);
  double resident = 0;
  for (int i = 0; i < repeat; ++i) {
    const auto measure = [&](ReportDetail detail, Rates* rates) {
      const Measured measured = InChild([&] { return ReportSeconds(pattern, detail); });
      rates->Add(measured.seconds);
      resident = std::max(resident, measured.resident_mib);
    };
    measure(ReportDetail::kBreakdown, &broken_down);
    measure(ReportDetail::kAll, &reported);
    if (events > kLargestFloor) continue;
    floor.Add(InChild([&] { return FloorSeconds(events, std::max(processes, 1u)); }).seconds);
  }
  const uint64_t threads = processes == 0 ? events / kEventsOfShortThread : 4 * processes;
  std::printf("%12llu %9u %9llu", static_cast<unsigned long long>(events), std::max(processes, 1u),
              static_cast<unsigned long long>(threads));
  broken_down.Print();
  reported.Print();
  std::printf(" %10.0f", resident);
  floor.Print();
  std::printf("\n");
  std::fflush(stdout);
  std::filesystem::remove_all(pattern);
}

}  // namespace
}  // namespace gpubound

int main(int argc, char** argv) {
  gpubound::Database::MapFiles();  // as gpubound report does
  gpubound::Database::PrepareForThreads();
  std::vector<uint64_t> events = {1'000'000, 10'000'000};
  std::vector<uint64_t> short_threads = {90'000, 900'000};
  int repeat = 3;
  uint32_t processes_written = 1;
  std::string dir = "/tmp";
  std::string written;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view option = argv[i];
    if (option == "--events") {
      events = {std::strtoull(argv[i + 1], nullptr, 10)};
      short_threads.clear();
    }
    if (option == "--short-threads") {
      short_threads = {std::strtoull(argv[i + 1], nullptr, 10)};
      events.clear();
    }
    if (option == "--repeat") repeat = std::max(1, std::atoi(argv[i + 1]));
    if (option == "--processes") {
      processes_written = static_cast<uint32_t>(std::max(1, std::atoi(argv[i + 1])));
    }
    if (option == "--dir") dir = argv[i + 1];
    if (option == "--write") written = argv[i + 1];
    if (option == "--report") {
      gpubound::AllocateFromLargePages();
      std::printf("%.3f\n", gpubound::ReportSeconds(argv[i + 1], gpubound::ReportDetail::kAll).cpu);
      return 0;
    }
    if (option == "--breakdown") {
      gpubound::AllocateFromLargePages();
      std::printf("%.3f\n",
                  gpubound::ReportSeconds(argv[i + 1], gpubound::ReportDetail::kBreakdown).cpu);
      return 0;
    }
    if (option == "--json") {
      std::fputs(gpubound::RenderJson(gpubound::ReportOf(argv[i + 1])).c_str(), stdout);
      return 0;
    }
  }
  if (!written.empty()) {
    std::filesystem::create_directories(written);
    if (events.empty()) {
      gpubound::WriteShortThreads(written, short_threads.front());
    } else {
      gpubound::WriteBenchRun(written, events.front(), processes_written);
    }
    return 0;
  }
  std::printf("M events per second of wall time, and per second of CPU time of all threads\n");
  std::printf("%12s %9s %9s %10s %10s %10s %10s %10s %10s %10s\n", "events", "processes", "threads",
              "breakdown", "per CPU s", "report", "per CPU s", "MiB", "floor", "per CPU s");
  for (const uint64_t count : events) {
    for (const uint32_t processes : {1u, 2u}) gpubound::Measure(count, processes, repeat, dir);
  }
  // As many events to a thread, so the rate says whether the cost of a thread grows with their
  // number.
  for (const uint64_t count : short_threads) gpubound::Measure(count, 0, repeat, dir);
  return 0;
}
