// SPDX-License-Identifier: Apache-2.0
//
// The CUDA calls of a virtual program: what each is called and what it asks of the device. Pure but
// for the device.
#ifndef GPUBOUND_TESTS_SIM_VIRTUAL_CALLS_H_
#define GPUBOUND_TESTS_SIM_VIRTUAL_CALLS_H_

#include <cstdint>
#include <vector>

#include "tests/sim/sim_device.h"
#include "tests/sim/virtual_program.h"

namespace gpubound::sim {

// Null for actions that are no API call.
const char* ApiNameOf(Action action);

// Submits at |now| what the call |statement| asks for, and adds to |waits_for| what it does not
// return before.
void SubmitTo(SimDevice* device, const Statement& statement, uint32_t correlation, TimeNs now,
              std::vector<OpId>* waits_for);

}  // namespace gpubound::sim

#endif  // GPUBOUND_TESTS_SIM_VIRTUAL_CALLS_H_
