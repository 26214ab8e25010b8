// SPDX-License-Identifier: Apache-2.0
//
// Reads notes of the form "metadata KEY = JSON", as annotate/python/gpubound/_api.py writes them.
// No state.
#include "analysis/trace/run_metadata.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

namespace gpubound {
namespace {

constexpr std::string_view kPrefix = "metadata ";
constexpr std::string_view kEquals = " = ";

// The text of a JSON string; anything else as it is written.
std::string PlainText(const std::string& json) {
  const auto value = nlohmann::json::parse(json, nullptr, false);
  return value.is_string() ? value.get<std::string>() : json;
}

}  // namespace

bool IsMetadata(const Note& note) {
  return note.text.starts_with(kPrefix) && note.text.find(kEquals) != std::string::npos;
}

std::map<std::string, std::string> MetadataOf(const Run& run) {
  std::map<std::string, std::string> metadata;
  for (const ProcessTrace& process : run.processes) {
    for (const Note& note : process.notes) {
      if (!IsMetadata(note)) continue;
      const size_t equals = note.text.find(kEquals);
      const std::string key = note.text.substr(kPrefix.size(), equals - kPrefix.size());
      metadata[PlainText('"' + key + '"')] = PlainText(note.text.substr(equals + kEquals.size()));
    }
  }
  return metadata;
}

std::string NameOf(const Run& run) {
  const std::filesystem::path path = std::filesystem::path(run.path).lexically_normal();
  return (path.has_filename() ? path : path.parent_path()).filename().string();
}

}  // namespace gpubound
