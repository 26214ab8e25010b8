// SPDX-License-Identifier: Apache-2.0
//
// Which files and folders of this process have only a temporary name (output_file.h), so that a
// signal which ends the process need not leave them behind. Any thread.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_EXPORT_UNFINISHED_OUTPUTS_H_
#define GPUBOUND_ANALYSIS_OUTPUT_EXPORT_UNFINISHED_OUTPUTS_H_

#include <functional>
#include <string>

namespace gpubound {

// |make| makes one and returns its path, empty where it could not. Returns the same.
std::string MakeUnfinished(const std::function<std::string()>& make);

// |end| gives the one at |path| its name, or removes it; false if it is there as before.
void EndUnfinished(const std::string& path, const std::function<bool()>& end);

// Removes them all. For a process on its way out: whoever makes or ends one afterwards waits for
// ever.
void RemoveUnfinishedOutputs();

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_EXPORT_UNFINISHED_OUTPUTS_H_
