// SPDX-License-Identifier: Apache-2.0
//
// What is left of a trace once its older time was summed. Pure.
#ifndef GPUBOUND_TESTS_ORACLE_THINNED_TRACE_H_
#define GPUBOUND_TESTS_ORACLE_THINNED_TRACE_H_

#include <cstdint>

#include "analysis/trace/run.h"

namespace gpubound::oracle {

// |trace| without the events that sums until |until_ns| hold. Stacks are lost with them.
ProcessTrace WithoutDetail(ProcessTrace trace, int64_t until_ns);

}  // namespace gpubound::oracle

#endif  // GPUBOUND_TESTS_ORACLE_THINNED_TRACE_H_
