// SPDX-License-Identifier: Apache-2.0
//
// Reads run.json field by field; a field of an unexpected type is as good as absent. No state.
#include "analysis/run_info.h"

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

namespace gpubound {
namespace {

using Json = nlohmann::json;

constexpr char kFormat[] = "gpubound.run.v1";

std::string TextAt(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::optional<int64_t> IntAt(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_integer()) return std::nullopt;
  return found->get<int64_t>();
}

std::optional<int> StatusAt(const Json& object, const char* key) {
  const std::optional<int64_t> value = IntAt(object, key);
  return value ? std::optional<int>(static_cast<int>(*value)) : std::nullopt;
}

}  // namespace

Result<RunInfo> ReadRunInfo(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const Json object = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  const auto error = [&path](const std::string& found, const std::string& expected) {
    return Error{"reading the launcher's record", path, found, expected,
                 "The processes are reported without it; start and end of the run may be missing."};
  };
  if (!object.is_object()) return error("no JSON object", "a JSON object");
  const std::string format = TextAt(object, "format");
  if (format != kFormat) return error("format '" + format + "'", kFormat);

  RunInfo info;
  const auto command = object.find("command");
  if (command != object.end() && command->is_array()) {
    for (const Json& argument : *command) {
      if (argument.is_string()) info.command.push_back(argument.get<std::string>());
    }
  }
  info.cwd = TextAt(object, "cwd");
  info.host = TextAt(object, "host");
  info.version = TextAt(object, "version");
  info.root_pid = IntAt(object, "root_pid").value_or(0);
  info.start_monotonic_ns = IntAt(object, "start_monotonic_ns").value_or(0);
  info.start_realtime_ns = IntAt(object, "start_realtime_ns").value_or(0);
  info.end_monotonic_ns = IntAt(object, "end_monotonic_ns");
  info.exit_code = StatusAt(object, "exit_code");
  info.signal = StatusAt(object, "signal");
  return info;
}

}  // namespace gpubound
