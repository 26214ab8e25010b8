// SPDX-License-Identifier: Apache-2.0
//
// Chooses the reader and hands its result to the writer. No state.
#include "analysis/import.h"

#include <array>
#include <fstream>
#include <memory>
#include <string_view>

#include "analysis/import_chrome.h"
#include "analysis/import_nsys.h"
#include "analysis/import_source.h"

namespace gpubound {
namespace {

constexpr std::string_view kSqliteMagic("SQLite format 3\0", 16);

bool IsSqlite(const std::string& path) {
  std::array<char, kSqliteMagic.size()> head{};
  std::ifstream(path, std::ios::binary).read(head.data(), head.size());
  return std::string_view(head.data(), head.size()) == kSqliteMagic;
}

Status ReadTrace(const std::string& path, ForeignTrace* trace) {
  if (IsSqlite(path)) return ReadNsysExport(path, trace);
  const Result<std::unique_ptr<ByteSource>> source = OpenText(path);
  if (!source.ok()) return source.error();
  return ReadChromeTrace(source->get(), path, trace);
}

}  // namespace

Result<ImportSummary> ImportTrace(const std::string& path, const std::string& folder,
                                  bool* output_failed) {
  ForeignTrace trace(folder);
  const Status read = ReadTrace(path, &trace);
  Result<ImportSummary> summary =
      read.ok() ? WriteImportedRun(&trace, path, folder) : Result<ImportSummary>(read.error());
  if (output_failed != nullptr) {
    *output_failed = !summary.ok() && summary.error().object.starts_with(folder);
  }
  return summary;
}

}  // namespace gpubound
