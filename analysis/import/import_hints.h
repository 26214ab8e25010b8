// SPDX-License-Identifier: Apache-2.0
//
// Which tool wrote a file that holds nothing to import, and how to come by one that does. One
// object, one thread.
#ifndef GPUBOUND_ANALYSIS_IMPORT_IMPORT_HINTS_H_
#define GPUBOUND_ANALYSIS_IMPORT_IMPORT_HINTS_H_

#include <string>
#include <string_view>

namespace gpubound {

struct ToolHint {
  const char* found = nullptr;   // "a trace of VizTracer, ..."
  const char* remedy = nullptr;  // sentences
};

class ToolHints {
 public:
  // Of JSON: a member of the top-level object, the name of a process, the category of an event.
  void SeeMember(std::string_view key);
  void SeeProcess(std::string_view name);
  void SeeCategory(std::string_view category);

  // Null where nothing tells.
  const ToolHint* hint() const { return hint_; }

 private:
  void See(const ToolHint& hint) {
    if (hint_ == nullptr) hint_ = &hint;
  }
  const ToolHint* hint_ = nullptr;
};

// By the name of a table of an SQLite database; null for that of no known tool.
const ToolHint* HintOfTable(std::string_view table);

// By the file's name and how it begins, where that is no JSON; null where neither tells.
const ToolHint* HintOfFile(std::string_view path, std::string_view head);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_IMPORT_IMPORT_HINTS_H_
