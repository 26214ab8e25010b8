// SPDX-License-Identifier: Apache-2.0
//
// Where a program that is not recorded finds the Python package, which it finds in a run without
// having it installed.
#ifndef GPUBOUND_TOOLS_LAUNCH_PACKAGE_FOLDER_H_
#define GPUBOUND_TOOLS_LAUNCH_PACKAGE_FOLDER_H_

#include <string>

#include "tools/launch/library_files.h"
#include "tools/launch/scratch_folder.h"

namespace gpubound {

// Makes a folder in |scratch| that holds the package and nothing else: beside the package itself
// there may be more, with a wheel all that is installed. Empty where there is no package, or no
// folder can be made: a program that imports it says so.
std::string MakePackageFolder(const LibraryFiles& libraries, const ScratchFolder& scratch);

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_LAUNCH_PACKAGE_FOLDER_H_
