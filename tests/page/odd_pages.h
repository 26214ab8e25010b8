// SPDX-License-Identifier: Apache-2.0
//
// Pages of runs that are unlike most, for odd_pages_test.mjs. No state.
#ifndef GPUBOUND_TESTS_PAGE_ODD_PAGES_H_
#define GPUBOUND_TESTS_PAGE_ODD_PAGES_H_

#include <string>

namespace gpubound {

// Writes into |folder|, with a .json and a .txt of the report beside each:
// sparse.html   4,000 kernels of 50 ns in 1 s, named after what every object of JavaScript has
// uneven.html   4,000 kernels of 0 to 248 us in 1 s
// long.html     three hours, with kernels of 2 ns in the middle
// deep.html     80 scopes, each in the one before
// rows.html     100 operations, each with a launch and a kernel, in iterations, beside a lane of
//               100
// classes.html  a collective beside computation, and a copy
// empty.html    nothing was recorded
// many_processes.html  fifty processes with a device each
// ranks.html    sixteen ranks on two machines, of which those of the second simulate for longer
// names.html    8 processes of 60 operations, whose names are long and differ at their ends, and
//               kernels of which only template arguments do
// roles.html    a trainer and two workers that wait for each other, with all that a program can say
//               of its training; roles.txt is what the text report says of it
// no_gpu_roles.html  a trainer and a worker without a GPU, whose roles are inferred
bool WriteOddPages(const std::string& folder);

}  // namespace gpubound

#endif  // GPUBOUND_TESTS_PAGE_ODD_PAGES_H_
