// SPDX-License-Identifier: Apache-2.0
//
// What is in a folder, without the exceptions of std::filesystem, whose iterators throw where a
// folder can be opened and then not be read to its end.
#ifndef GPUBOUND_ANALYSIS_BASE_FOLDER_ENTRIES_H_
#define GPUBOUND_ANALYSIS_BASE_FOLDER_ENTRIES_H_

#include <filesystem>
#include <system_error>
#include <vector>

namespace gpubound {

// In no order, as far as |folder| can be read; |error| is set where that is not to its end.
std::vector<std::filesystem::directory_entry> EntriesOf(const std::filesystem::path& folder,
                                                        std::error_code* error);

// Likewise, where what cannot be read is as good as not there.
std::vector<std::filesystem::directory_entry> EntriesOf(const std::filesystem::path& folder);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_BASE_FOLDER_ENTRIES_H_
