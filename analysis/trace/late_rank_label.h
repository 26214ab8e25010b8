// SPDX-License-Identifier: Apache-2.0
//
// The label of a wait in a collective for the rank that entered it last: as that of a recorded wait
// (kPeerDomain of label_roles.h), in a domain of its own. That rank simulates or not: this is no
// wait for a simulation. Plain constant.
#ifndef GPUBOUND_ANALYSIS_TRACE_LATE_RANK_LABEL_H_
#define GPUBOUND_ANALYSIS_TRACE_LATE_RANK_LABEL_H_

namespace gpubound {

inline constexpr char kLateRankDomain[] = "rank";

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_TRACE_LATE_RANK_LABEL_H_
