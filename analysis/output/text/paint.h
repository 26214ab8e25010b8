// SPDX-License-Identifier: Apache-2.0
//
// Colours of text reports. Painted after wrapping, so that they do not count as columns. Pure.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_TEXT_PAINT_H_
#define GPUBOUND_ANALYSIS_OUTPUT_TEXT_PAINT_H_

#include <string>

#include "analysis/output/text/report_text.h"

namespace gpubound {

enum class Paint { kPlain, kBold, kBusy, kCpu, kWarning };

inline const char* EscapeCode(Paint paint) {
  switch (paint) {
    case Paint::kPlain:
      break;
    case Paint::kBold:
      return "1";
    case Paint::kBusy:
      return "32";
    case Paint::kCpu:
      return "34";
    case Paint::kWarning:
      return "1;33";
  }
  return "0";
}

inline std::string Painted(const std::string& text, Paint paint, const TextOptions& options) {
  if (!options.color || text.empty() || paint == Paint::kPlain) return text;
  return std::string("\033[") + EscapeCode(paint) + "m" + text + "\033[0m";
}

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_TEXT_PAINT_H_
