// SPDX-License-Identifier: Apache-2.0
//
// --window, --detail and --max-size. No state.
#include "tools/commands/retention_options.h"

#include <optional>
#include <string_view>

#include "tools/commands/option_values.h"

namespace gpubound {
namespace {

constexpr std::string_view kSlow = "slow:";
// Less than any segment holds, so that nobody says so who means another unit.
constexpr uint64_t kLeastSize = uint64_t{1} << 20;

// Of "slow:3x" 3; absent for what is not of that form.
std::optional<double> SlowFactor(const std::string& detail) {
  if (!detail.starts_with(kSlow) || !detail.ends_with('x')) return std::nullopt;
  const std::string digits = detail.substr(kSlow.size(), detail.size() - kSlow.size() - 1);
  const std::optional<double> factor = ParseNumber(digits);
  return factor && *factor >= 1 ? factor : std::nullopt;
}

std::string CheckDetail(const std::string& detail) {
  if (detail == "none" || SlowFactor(detail)) return "";
  return "'" + detail + "' is neither none nor slow:FACTORx with a factor from 1 up, as slow:3x is";
}

template <typename Number>
std::string ComplaintOf(const std::variant<Number, Complaint>& parsed) {
  const Complaint* const complaint = std::get_if<Complaint>(&parsed);
  return complaint == nullptr ? "" : *complaint;
}

std::string CheckWindow(const std::string& text) { return ComplaintOf(ParseDuration(text)); }

std::string CheckSize(const std::string& text) { return ComplaintOf(ParseSize(text, kLeastSize)); }

}  // namespace

void AddRetentionOptions(OptionParser* parser, RetentionOptions* options) {
  parser
      ->AddOption("--window", &options->window,
                  "Newest detail that is kept: 30s, 10m (default), 2h")
      .Value("TIME")
      .Check(ValueRule{CheckWindow, {}});
  parser
      ->AddOption("--detail", &options->detail,
                  "Older detail that is kept: iterations slower than so many times the median "
                  "(slow:3x, default), or none")
      .Value("WHICH")
      .Check(ValueRule{CheckDetail, {}});
  parser
      ->AddOption("--max-size", &options->max_size,
                  "Size of all detail that is kept: 500MB, 1GB (default)")
      .Value("SIZE")
      .Check(ValueRule{CheckSize, {}});
}

bool GaveRetentionOption(const OptionParser& parser) {
  return parser.Given("--window") || parser.Given("--detail") || parser.Given("--max-size");
}

Retention RetentionOf(const RetentionOptions& options) {
  Retention retention;
  retention.window_ns = std::get<int64_t>(ParseDuration(options.window));
  retention.max_bytes = std::get<uint64_t>(ParseSize(options.max_size, kLeastSize));
  retention.slow_factor = SlowFactor(options.detail);
  return retention;
}

}  // namespace gpubound
