// SPDX-License-Identifier: Apache-2.0
//
// Writing to a descriptor that may take less than it is given. Any thread.
#ifndef GPUBOUND_ANALYSIS_BASE_WRITE_ALL_H_
#define GPUBOUND_ANALYSIS_BASE_WRITE_ALL_H_

#include <string_view>

namespace gpubound {

// Writes all of |bytes| to |file|, however often signals interrupt it. 0 or errno.
int WriteAll(int file, std::string_view bytes);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_BASE_WRITE_ALL_H_
