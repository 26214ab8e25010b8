// SPDX-License-Identifier: Apache-2.0
//
// Puts the data into the page's only hole. No state.
#include "tools/report_page.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "analysis/page_json.h"
#include "analysis/page_timeline.h"
#include "tools/console.h"
#include "tools/exit_codes.h"

// gcc and clang take literals of any length; the page has twice what the standard asks of a
// compiler.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverlength-strings"
#include "tools/report_page_data.h"  // generated: cmake/ReportPage.cmake
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

Error WriteError(const std::string& path) {
  return Error{"writing the file", path, std::strerror(errno), "",
               "Name a file in a folder that can be written to and has room."};
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

Status WriteWholeFile(const std::string& path, const std::string& content) {
  const std::string part = path + ".part";
  std::FILE* const file = std::fopen(part.c_str(), "wb");
  if (file == nullptr) return WriteError(path);
  const bool written = std::fwrite(content.data(), 1, content.size(), file) == content.size();
  const bool closed = std::fclose(file) == 0;
  if (written && closed && std::rename(part.c_str(), path.c_str()) == 0) return Ok{};
  const Error error = WriteError(path);
  std::remove(part.c_str());
  return error;
}

int StoreAs(const std::string& path, const Result<std::string>& content, int no_content) {
  const Status written = content.ok() ? WriteWholeFile(path, *content) : Status(content.error());
  if (written.ok()) return kExitSuccess;
  PrintError(written.error());
  return content.ok() ? kExitCheckFailed : no_content;
}

}  // namespace gpubound
