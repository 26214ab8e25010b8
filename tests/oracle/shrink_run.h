// SPDX-License-Identifier: Apache-2.0
//
// Makes a run that fails a test readable: leaves out whatever it fails without, and puts the rest
// into words. Pure functions.
#ifndef GPUBOUND_TESTS_ORACLE_SHRINK_RUN_H_
#define GPUBOUND_TESTS_ORACLE_SHRINK_RUN_H_

#include <functional>
#include <string>

#include "analysis/trace/run.h"

namespace gpubound::oracle {

// A run of which nothing more can be left out so that |fails| stays true, as it is of |run|.
gpubound::Run Shrunk(gpubound::Run run, const std::function<bool(const gpubound::Run&)>& fails);

// What happens in |run|, a line each.
std::string InWords(const gpubound::Run& run);

}  // namespace gpubound::oracle

#endif  // GPUBOUND_TESTS_ORACLE_SHRINK_RUN_H_
