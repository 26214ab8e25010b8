// SPDX-License-Identifier: Apache-2.0
//
// Writes results of checks as JSON and as JUnit's XML. No state.
#include <nlohmann/json.hpp>
#include <string_view>

#include "analysis/base/text_table.h"
#include "analysis/base/xml_text.h"
#include "analysis/output/check/check.h"

namespace gpubound {
namespace {

using Json = nlohmann::ordered_json;

const char* OutcomeName(Outcome outcome) {
  switch (outcome) {
    case Outcome::kHolds:
      return "holds";
    case Outcome::kFails:
      return "fails";
    case Outcome::kUndecided:
      break;
  }
  return "undecided";
}

// What XML 1.0 cannot hold is written as \xNN.
std::string XmlName(std::string_view text) { return EscapeXml(EscapeName(text)); }

std::string Explanation(const CheckResult& result) {
  std::string text = result.found;
  if (!result.allowed.empty()) text += ", expected " + result.allowed;
  if (!result.why.empty()) text += (text.empty() ? "" : ": ") + result.why;
  return text;
}

size_t CountOf(const std::vector<CheckResult>& results, Outcome outcome) {
  size_t count = 0;
  for (const CheckResult& result : results) count += result.outcome == outcome ? 1 : 0;
  return count;
}

}  // namespace

std::string RenderCheckJson(const std::vector<CheckResult>& results,
                            const std::string& device_kind) {
  Json array = Json::array();
  for (const CheckResult& result : results) {
    array.push_back(Json{{"requirement", result.requirement},
                         {"outcome", OutcomeName(result.outcome)},
                         {"found", result.found},
                         {"allowed", result.allowed},
                         {"why", result.why}});
  }
  const Json document{{"format", "gpubound.check.v1"},
                      {"device_kind", device_kind},
                      {"holds", AllHold(results)},
                      {"requirements", array}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string RenderJUnit(const std::vector<CheckResult>& results, const std::string& run) {
  const std::string counts = " tests=\"" + std::to_string(results.size()) + "\" failures=\"" +
                             std::to_string(CountOf(results, Outcome::kFails)) + "\" errors=\"" +
                             std::to_string(CountOf(results, Outcome::kUndecided)) + "\"";
  std::string xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"gpubound\"" +
                    counts + ">\n  <testsuite name=\"" + XmlName(run) + "\"" + counts + ">\n";
  for (const CheckResult& result : results) {
    xml += "    <testcase classname=\"gpubound.check\" name=\"" + XmlName(result.requirement) +
           "\" time=\"0\"";
    if (result.outcome == Outcome::kHolds) {
      xml += "/>\n";
      continue;
    }
    const char* tag = result.outcome == Outcome::kFails ? "failure" : "error";
    xml += ">\n      <" + std::string(tag) + " type=\"" + OutcomeName(result.outcome) +
           "\" message=\"" + XmlName(Explanation(result)) + "\"/>\n    </testcase>\n";
  }
  return xml + "  </testsuite>\n</testsuites>\n";
}

}  // namespace gpubound
