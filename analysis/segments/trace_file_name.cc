// SPDX-License-Identifier: Apache-2.0
//
// Takes a name apart from its end, since the host may hold dots. No state.
#include "analysis/segments/trace_file_name.h"

#include <algorithm>
#include <string_view>

#include "analysis/base/whole_number.h"

namespace gpubound {
namespace {

// Cuts the part after the last dot off |text|.
std::string_view TakeSuffix(std::string_view* text) {
  const size_t dot = text->rfind('.');
  if (dot == std::string_view::npos) return {};
  const std::string_view suffix = text->substr(dot + 1);
  text->remove_suffix(text->size() - dot);
  return suffix;
}

}  // namespace

std::optional<TraceFileName> ParseTraceFileName(const std::string& file_name) {
  std::string_view rest = file_name;
  const std::string_view suffix = TakeSuffix(&rest);
  TraceFileName name;
  name.live = suffix == "live";
  if (!name.live && suffix != "db") return std::nullopt;
  std::optional<int64_t> segment = 0;
  if (!name.live) segment = ParseInt(TakeSuffix(&rest));
  const std::optional<int64_t> start = ParseInt(TakeSuffix(&rest));
  const std::optional<int64_t> pid = ParseInt(TakeSuffix(&rest));
  if (!segment || !start || !pid || rest.empty()) return std::nullopt;
  name.identity = {std::string(rest), *pid, *start};
  name.segment = static_cast<uint32_t>(*segment);
  return name;
}

std::optional<ProcessIdentity> ParseUnrecordedName(const std::string& file_name) {
  constexpr std::string_view kEnding = ".unrecorded";
  if (!file_name.ends_with(kEnding)) return std::nullopt;
  const std::string stem = file_name.substr(0, file_name.size() - kEnding.size());
  const std::optional<TraceFileName> name = ParseTraceFileName(stem + ".live");
  if (!name) return std::nullopt;
  return name->identity;
}

std::string TraceFileStem(const ProcessIdentity& identity) {
  return identity.host + "." + std::to_string(identity.pid) + "." +
         std::to_string(identity.start_realtime_ns);
}

bool IsNameOfHost(const std::string& in_name, const std::string& host) {
  return std::equal(in_name.begin(), in_name.end(), host.begin(), host.end(),
                    [](char named, char real) { return named == real || named == '_'; });
}

}  // namespace gpubound
