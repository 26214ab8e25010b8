// SPDX-License-Identifier: Apache-2.0
//
// --window, --detail and --max-size. No state.
#include "tools/retention_options.h"

#include <map>
#include <optional>
#include <string_view>

namespace gpubound {
namespace {

constexpr std::string_view kSlow = "slow:";
constexpr double kNsPerSecond = 1e9;

// Of "slow:3x" 3; absent for what is not of that form.
std::optional<double> SlowFactor(const std::string& detail) {
  double factor = 0;
  if (!detail.starts_with(kSlow) || !detail.ends_with('x')) return std::nullopt;
  const std::string digits = detail.substr(kSlow.size(), detail.size() - kSlow.size() - 1);
  if (!CLI::detail::lexical_cast(digits, factor) || !(factor >= 1)) return std::nullopt;
  return factor;
}

std::string CheckDetail(const std::string& detail) {
  if (detail == "none" || SlowFactor(detail)) return "";
  return "'" + detail + "' is neither none nor slow:FACTORx with a factor from 1 up, as slow:3x is";
}

// One that adds nothing to the help: what is allowed is said in words there.
CLI::Validator Silent(CLI::Validator validator) { return validator.description(""); }

}  // namespace

void AddRetentionOptions(CLI::App* app, RetentionOptions* options) {
  app->add_option("--window", options->window_s,
                  "Newest detail that is kept: 30s, 10m (default), 2h")
      ->type_name("TIME")
      ->transform(Silent(CLI::AsNumberWithUnit(
          std::map<std::string, double>{{"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}})))
      ->check(Silent(CLI::NonNegativeNumber));
  app->add_option("--detail", options->detail,
                  "Older detail that is kept: iterations slower than so many times the median "
                  "(slow:3x, default), or none")
      ->type_name("WHICH")
      ->check(CheckDetail);
  app->add_option("--max-size", options->max_bytes,
                  "Size of all detail that is kept: 500MB, 1GB (default)")
      ->type_name("SIZE")
      ->transform(Silent(CLI::AsSizeValue(/*kb_is_1000=*/false)));
}

bool GaveRetentionOption(const CLI::App& app) {
  return app.count("--window") + app.count("--detail") + app.count("--max-size") != 0;
}

Retention RetentionOf(const RetentionOptions& options) {
  Retention retention;
  retention.window_ns = static_cast<int64_t>(options.window_s * kNsPerSecond);
  retention.max_bytes = options.max_bytes;
  retention.slow_factor = SlowFactor(options.detail);
  return retention;
}

}  // namespace gpubound
