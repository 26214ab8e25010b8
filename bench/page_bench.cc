// SPDX-License-Identifier: Apache-2.0
//
// page_bench [--events N] [--processes N] [--dir DIR] [--html FILE]
//
// From a run directory to its report page: seconds for the report alone and for the page on top of
// it, and what the page weighs. --html keeps the page, to be opened and timed in a browser
// (tests/page does). The default is 1e7 events of one process.
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "analysis/correction/run_report.h"
#include "bench/analysis_run.h"
#include "tools/commands/report_file.h"
#include "tools/commands/report_page.h"

namespace gpubound {
namespace {

double Now() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

int Measure(uint64_t events, uint32_t processes, const std::string& dir, const std::string& html) {
  std::string run = dir + "/page_bench-XXXXXX";
  if (mkdtemp(run.data()) == nullptr) return 1;
  WriteBenchRun(run, events, processes);
  const double begin = Now();
  const Result<AnalyzedRun> analyzed = AnalyzeRun(run);
  const double analyzed_at = Now();
  const Result<std::string> page =
      analyzed.ok() ? PageOf(*analyzed) : Result<std::string>(analyzed.error());
  const double end = Now();
  std::filesystem::remove_all(run);
  if (!page.ok()) {
    std::fprintf(stderr, "page_bench: %s\n", page.error().ToString().c_str());
    return 1;
  }
  std::printf("%llu events: report %.2f s, page %.2f s more, %.2f MB\n",
              static_cast<unsigned long long>(events), analyzed_at - begin, end - analyzed_at,
              static_cast<double>(page->size()) / 1e6);
  return html.empty() || WriteWholeFile(html, *page, /*force=*/true).ok() ? 0 : 1;
}

}  // namespace
}  // namespace gpubound

int main(int argc, char** argv) {
  uint64_t events = 10'000'000;
  uint32_t processes = 1;
  std::string dir = "/tmp";
  std::string html;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view option = argv[i];
    if (option == "--events") events = std::strtoull(argv[i + 1], nullptr, 10);
    if (option == "--processes")
      processes = static_cast<uint32_t>(std::strtoul(argv[i + 1], nullptr, 10));
    if (option == "--dir") dir = argv[i + 1];
    if (option == "--html") html = argv[i + 1];
  }
  return gpubound::Measure(events, processes, dir, html);
}
