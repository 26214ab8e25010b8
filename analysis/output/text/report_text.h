// SPDX-License-Identifier: Apache-2.0
//
// The report for a terminal: one screen that says it all, then details in short. Pure; the caller
// decides about the terminal's width, colour (NO_COLOR) and character set.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_TEXT_REPORT_TEXT_H_
#define GPUBOUND_ANALYSIS_OUTPUT_TEXT_REPORT_TEXT_H_

#include <string>
#include <vector>

#include "analysis/report/report.h"

namespace gpubound {

struct TextOptions {
  int width = 80;       // columns; fewer than 60 are taken as 60
  bool color = false;   // ANSI colours
  bool unicode = true;  // bars and symbols beyond ASCII
  bool raw = false;     // ns as integers instead of rounded times
  bool kernels = false;
  bool full = false;       // every section at length, instead of what fits one screen
  bool names_more = true;  // a last line on the options that show more
  // Dimensions of the tables: operation, phase, process, device, layer, thread, iteration, gap,
  // transition. Empty: operation and layer.
  std::vector<std::string> by;
  // timeline, caused. Empty: timeline with the caused column beside it.
  std::vector<std::string> attribution;
};

// Names are escaped: no control character of a trace reaches the terminal. Ends in a newline.
std::string RenderText(const Report& report, const TextOptions& options = {});

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_TEXT_REPORT_TEXT_H_
