// SPDX-License-Identifier: Apache-2.0
//
// Text inside XML: figures (SVG) and results for CI (JUnit). Pure.
#ifndef GPUBOUND_ANALYSIS_BASE_XML_TEXT_H_
#define GPUBOUND_ANALYSIS_BASE_XML_TEXT_H_

#include <string>
#include <string_view>

namespace gpubound {

// |text| for an XML element or attribute: markup escaped; what XML 1.0 cannot hold, and bytes that
// are not UTF-8, as U+FFFD.
std::string EscapeXml(std::string_view text);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_BASE_XML_TEXT_H_
