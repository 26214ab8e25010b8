// SPDX-License-Identifier: Apache-2.0
//
// The databases of an import: one for each process, of which only the few used last are open. A
// trace may have more processes than a program may have files. One object, one thread.
#ifndef GPUBOUND_ANALYSIS_IMPORT_IMPORT_FILES_H_
#define GPUBOUND_ANALYSIS_IMPORT_IMPORT_FILES_H_

#include <cstddef>
#include <list>
#include <string>

#include "analysis/base/status.h"
#include "analysis/segments/sqlite.h"

namespace gpubound {

class ImportFiles {
 public:
  static constexpr size_t kMostOpen = 32;

  // The database |path|, in a transaction that is open; it is created where |is_new|. Valid until
  // the next call.
  Result<Database*> Use(const std::string& path, bool is_new);

  // What writing |path| failed with.
  static Error NoRoom(const std::string& path, const std::string& found);

  // What was added to |path| is in the file, which is closed.
  Status Close(const std::string& path);

 private:
  struct File {
    std::string path;
    Database database;
  };
  Status CloseLast();

  std::list<File> open_;  // the one used last comes first
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_IMPORT_IMPORT_FILES_H_
