// SPDX-License-Identifier: Apache-2.0
//
// Writing to a descriptor that may take less than it is given. Any thread.
#ifndef GPUBOUND_ANALYSIS_BASE_WRITE_ALL_H_
#define GPUBOUND_ANALYSIS_BASE_WRITE_ALL_H_

#include <string>
#include <string_view>

namespace gpubound {

// Writes all of |bytes| to |file|, however often signals interrupt it. 0 or errno.
int WriteAll(int file, std::string_view bytes);

// Puts a file with |bytes| in the place of the one at |path|, durably, by way of |path|.new. Where that
// fails, the one at |path| is as it was or, if its folder cannot be synchronised, the new one. 0 or errno.
int ReplaceFile(const std::string& path, std::string_view bytes);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_BASE_WRITE_ALL_H_
