// SPDX-License-Identifier: Apache-2.0
//
// Building blocks of reports in GitHub's Markdown, for pull requests. Pure.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_TEXT_MARKDOWN_H_
#define GPUBOUND_ANALYSIS_OUTPUT_TEXT_MARKDOWN_H_

#include <string>
#include <string_view>
#include <vector>

namespace gpubound {

// |text| (escaped, one line) as it is: nothing in it formats, links, mentions somebody or ends the
// cell of a table.
std::string MarkdownText(std::string_view text);

// A table with an empty line before it. The first column is on the left, the others on the right.
std::string MarkdownTable(const std::vector<std::string>& heads,
                          const std::vector<std::vector<std::string>>& rows);

// An item for each line of |text|.
std::string MarkdownList(const std::string& text);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_TEXT_MARKDOWN_H_
