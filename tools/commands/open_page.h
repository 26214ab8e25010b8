// SPDX-License-Identifier: Apache-2.0
//
// Where the page of a run lies, and showing it in a browser.
#ifndef GPUBOUND_TOOLS_COMMANDS_OPEN_PAGE_H_
#define GPUBOUND_TOOLS_COMMANDS_OPEN_PAGE_H_

#include <string>

namespace gpubound {

// "RUN/report.html", of the run's folder |run|.
std::string PageInRun(const std::string& run);

// The link of a file for browsers and terminals: absolute, with whatever a link cannot hold encoded
// (RFC 3986, section 2.1).
std::string FileUrl(const std::string& path);

// Starts $BROWSER, else xdg-open or open, with |path|. False: none of them could be started.
bool OpenInBrowser(const std::string& path);

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_COMMANDS_OPEN_PAGE_H_
