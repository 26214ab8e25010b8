// SPDX-License-Identifier: Apache-2.0
//
// How wide text is in Helvetica, the font of figures. Pure.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_PAGE_HELVETICA_H_
#define GPUBOUND_ANALYSIS_OUTPUT_PAGE_HELVETICA_H_

#include <cstdint>
#include <string_view>

namespace gpubound {

// Width of |text|, which is UTF-8, at |size|, in the unit of |size|. What Latin 1 does not have
// counts as the widest there is.
double HelveticaWidth(std::string_view text, double size);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_PAGE_HELVETICA_H_
