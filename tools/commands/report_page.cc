// SPDX-License-Identifier: Apache-2.0
//
// Puts the data into the page's only hole. No state.
#include "tools/commands/report_page.h"

#include "analysis/output/page/page_json.h"
#include "analysis/output/page/page_timeline.h"

// gcc and clang take literals of any length; the page has twice what the standard asks of a
// compiler.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverlength-strings"
#include "tools/commands/report_page_data.h"  // generated: cmake/ReportPage.cmake
#pragma GCC diagnostic pop

namespace gpubound {
namespace {

constexpr std::string_view kHole = "@GPUBOUND_DATA@";  // in tools/page/src/page.html

Error NoPageError(const std::string& object) {
  return Error{"writing the page", object, "a gpubound that was built without the report page",
               "one with it",
               "Install npm (Debian: apt-get install npm), configure the build again where the npm "
               "registry can be reached, and rebuild gpubound."};
}

std::string Filled(std::string_view page, const std::string& data) {
  const size_t hole = page.find(kHole);
  std::string file(page.substr(0, hole));
  file += data;
  file += page.substr(hole + kHole.size());
  return file;
}

}  // namespace

std::string_view BundledPage() { return kReportPageText; }

Result<std::string> PageOf(const AnalyzedRun& analyzed, std::string_view page) {
  if (page.find(kHole) == std::string_view::npos) return NoPageError(analyzed.run.path);
  const PageTimeline timeline = BuildTimeline(analyzed.run, analyzed.report);
  return Filled(page, RenderPageJson(analyzed.run, analyzed.report, timeline));
}

Result<std::string> ComparisonPageOf(const GroupComparison& comparison,
                                     const std::vector<RunGroup>& groups, std::string_view page) {
  if (page.find(kHole) == std::string_view::npos) return NoPageError(groups.front().name);
  return Filled(page, EscapedForHtml(RenderComparisonJson(comparison, groups)));
}

}  // namespace gpubound
