// SPDX-License-Identifier: Apache-2.0
//
// Reads run.json field by field; a field of an unexpected type is as good as absent. No state.
#include "analysis/segments/run_info.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "analysis/base/plain_file.h"
#include "analysis/trace/plausible_time.h"

namespace gpubound {
namespace {

using Json = nlohmann::json;

// A hundred bytes for each process that was recorded, and the command.
constexpr uintmax_t kMostBytes = uintmax_t{64} << 20;

std::string TextAt(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::vector<std::string> TextsAt(const Json& object, const char* key) {
  std::vector<std::string> texts;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array()) return texts;
  for (const Json& text : *found) {
    if (text.is_string()) texts.push_back(text.get<std::string>());
  }
  return texts;
}

std::optional<int64_t> IntAt(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_integer()) return std::nullopt;
  return found->get<int64_t>();
}

std::optional<int64_t> TimeAt(const Json& object, const char* key, RunInfo* info) {
  const std::optional<int64_t> time_ns = IntAt(object, key);
  if (!time_ns || IsPlausibleTime(*time_ns)) return time_ns;
  ++info->times_impossible;
  return std::nullopt;
}

std::optional<int> StatusAt(const Json& object, const char* key) {
  const std::optional<int64_t> value = IntAt(object, key);
  return value ? std::optional<int>(static_cast<int>(*value)) : std::nullopt;
}

}  // namespace

Result<RunInfo> ReadRunInfo(const std::string& path) {
  const auto error = [&path](const std::string& found, const std::string& expected) {
    return Error{"reading the launcher's record", path, found, expected,
                 "The processes are reported without it; start and end of the run may be missing."};
  };
  if (IsNoPlainFile(path)) return error(kNoPlainFile, "a file");
  std::error_code ignored;
  const uintmax_t bytes = std::filesystem::file_size(path, ignored);
  if (!ignored && bytes > kMostBytes) {
    return error(std::to_string(bytes) + " bytes", "at most " + std::to_string(kMostBytes));
  }
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const Json object = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) return error("no JSON object", "a JSON object");
  const std::string format = TextAt(object, "format");
  if (format != kRunInfoFormat) return error("format '" + format + "'", kRunInfoFormat);

  RunInfo info;
  info.command = TextsAt(object, "command");
  info.recorded = TextsAt(object, "recorded");
  info.cwd = TextAt(object, "cwd");
  info.host = TextAt(object, "host");
  info.boot_id = TextAt(object, "boot_id");
  info.version = TextAt(object, "version");
  info.root_pid = IntAt(object, "root_pid").value_or(0);
  info.start_monotonic_ns = TimeAt(object, "start_monotonic_ns", &info).value_or(0);
  info.start_realtime_ns = TimeAt(object, "start_realtime_ns", &info).value_or(0);
  info.end_monotonic_ns = TimeAt(object, "end_monotonic_ns", &info);
  info.exit_code = StatusAt(object, "exit_code");
  info.signal = StatusAt(object, "signal");
  return info;
}

}  // namespace gpubound
