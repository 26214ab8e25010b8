// SPDX-License-Identifier: Apache-2.0
//
// Small random runs of processes that wait for each other: for one, for any of several, behind
// pipes, sockets and names, one behind the other and in circles; some have no operation of their
// own, some became another program by exec, some are on another host. No state.
#ifndef GPUBOUND_TESTS_ORACLE_RANDOM_WAITS_H_
#define GPUBOUND_TESTS_ORACLE_RANDOM_WAITS_H_

#include <cstdint>

#include "analysis/trace/run.h"

namespace gpubound::oracle {

// As it was recorded: who is at the other end of a channel is still to be found out. The same seed
// gives the same run.
gpubound::Run MakeRandomWaits(uint64_t seed);

}  // namespace gpubound::oracle

#endif  // GPUBOUND_TESTS_ORACLE_RANDOM_WAITS_H_
