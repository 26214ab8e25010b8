// SPDX-License-Identifier: Apache-2.0
//
// Chooses the reader and hands its result to the writer. No state.
#include "analysis/import/import.h"

#include <memory>
#include <string_view>
#include <utility>

#include "analysis/import/import_chrome.h"
#include "analysis/import/import_nsys.h"
#include "analysis/import/import_source.h"

namespace gpubound {
namespace {

constexpr std::string_view kSqliteMagic("SQLite format 3\0", 16);

static_assert(kSqliteMagic.size() <= FileSource::kHeadBytes);

struct Packed {
  std::string_view magic;
  const char* found;
  const char* remedy;
};
constexpr Packed kPacked[] = {
    {"\x28\xb5\x2f\xfd", "a file that zstd compressed",
     "Decompress it: zstd -dc FILE | gpubound import - -o RUN."},
    {std::string_view("\xfd"
                      "7zXZ\0",
                      6),
     "a file that xz compressed", "Decompress it: xz -dc FILE | gpubound import - -o RUN."},
    {"BZh", "a file that bzip2 compressed",
     "Decompress it: bzip2 -dc FILE | gpubound import - -o RUN."},
    {"\x04\x22\x4d\x18", "a file that lz4 compressed",
     "Decompress it: lz4 -dc FILE | gpubound import - -o RUN."},
    {"PK\x03\x04", "a zip archive", "Unpack it: unzip -p FILE | gpubound import - -o RUN."},
    {"7z\xbc\xaf\x27\x1c", "a 7-Zip archive",
     "Unpack it: 7z x -so FILE | gpubound import - -o RUN."},
};

Error DatabaseInPipe(const std::string& path) {
  return {"reading the trace to import", path, "a database that comes through a pipe",
          "a file, which can be read in any order",
          "Write it into a file and import that: ... > report.sqlite && gpubound import "
          "report.sqlite."};
}

// The file is opened once: what came through a pipe is gone for who opens it again.
Status ReadTrace(const std::string& path, ForeignTrace* trace) {
  Result<std::unique_ptr<FileSource>> file = FileSource::Open(path);
  if (!file.ok()) return file.error();
  if ((*file)->head().starts_with(kSqliteMagic)) {
    if (!(*file)->IsRegular()) return DatabaseInPipe(path);
    file->reset();
    return ReadNsysExport(path, trace);
  }
  for (const Packed& packed : kPacked) {
    if (!(*file)->head().starts_with(packed.magic)) continue;
    return Error{"reading the trace to import", path, packed.found,
                 "Chrome JSON, plain or gzip, or an SQLite export of Nsight Systems",
                 packed.remedy};
  }
  const std::unique_ptr<ByteSource> text = TextOf(std::move(*file), path);
  return ReadChromeTrace(text.get(), path, trace);
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
