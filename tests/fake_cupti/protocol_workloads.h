// SPDX-License-Identifier: Apache-2.0
//
// The named CUDA programs that protocol_client runs. One thread calls.
#ifndef GPUBOUND_TESTS_FAKE_CUPTI_PROTOCOL_WORKLOADS_H_
#define GPUBOUND_TESTS_FAKE_CUPTI_PROTOCOL_WORKLOADS_H_

#include <nlohmann/json.hpp>
#include <string>

namespace gpubound::sim {

// Registers the kernels that the workloads launch; makes no CUDA call.
void RegisterWorkloadKernels();

// Runs the workload called |name| and returns what it observed. Throws std::out_of_range when there
// is none of that name.
nlohmann::json RunWorkload(const std::string& name);

}  // namespace gpubound::sim

#endif  // GPUBOUND_TESTS_FAKE_CUPTI_PROTOCOL_WORKLOADS_H_
