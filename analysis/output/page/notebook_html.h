// SPDX-License-Identifier: Apache-2.0
//
// What a run says of itself in the cell of a notebook: the verdict, four figures, the mean iteration
// and what would help, as HTML without scripts that refers to nothing outside of it. Text has the
// notebook's colour and backgrounds are none, so that light and dark notebooks show it. Pure.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_PAGE_NOTEBOOK_HTML_H_
#define GPUBOUND_ANALYSIS_OUTPUT_PAGE_NOTEBOOK_HTML_H_

#include <string>

#include "analysis/report/report.h"

namespace gpubound {

// A fragment: a <div> with its style. |name| is how the user calls the run.
std::string RenderNotebookHtml(const Report& report, const std::string& name);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_PAGE_NOTEBOOK_HTML_H_
