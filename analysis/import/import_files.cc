// SPDX-License-Identifier: Apache-2.0
//
// A list of some tens of files, in the order of their use.
#include "analysis/import/import_files.h"

#include <algorithm>
#include <utility>

#include "proto/schema.h"

namespace gpubound {
namespace {

Result<Database> Open(const std::string& path, bool is_new) {
  if (!is_new) return Database::GoOn(path);
  return Database::Create(path, "PRAGMA application_id=" + std::to_string(kTraceApplicationId) +
                                    "; PRAGMA user_version=" + std::to_string(kTraceFormatVersion) +
                                    ";" + kSchemaSql);
}

}  // namespace

Result<Database*> ImportFiles::Use(const std::string& path, bool is_new) {
  const auto known = std::find_if(open_.begin(), open_.end(),
                                  [&path](const File& file) { return file.path == path; });
  if (known != open_.end()) {
    open_.splice(open_.begin(), open_, known);
    return &open_.front().database;
  }
  if (open_.size() >= kMostOpen) {
    const Status closed = CloseLast();
    if (!closed.ok()) return closed.error();
  }
  Result<Database> database = Open(path, is_new);
  if (!database.ok()) return database.error();
  open_.push_front({path, std::move(*database)});
  return &open_.front().database;
}

Error ImportFiles::NoRoom(const std::string& path, const std::string& found) {
  return {"writing the imported run", path, found, "room for the trace",
          "Choose a place with more room with -o DIR."};
}

Status ImportFiles::CloseLast() {
  File& file = open_.back();
  const bool done = file.database.Commit();
  const Error error = NoRoom(file.path, done ? "" : file.database.LastError());
  open_.pop_back();
  return done ? Status(Ok{}) : Status(error);
}

Status ImportFiles::Close(const std::string& path) {
  const auto known = std::find_if(open_.begin(), open_.end(),
                                  [&path](const File& file) { return file.path == path; });
  if (known == open_.end()) return Ok{};
  open_.splice(open_.end(), open_, known);
  return CloseLast();
}

}  // namespace gpubound
