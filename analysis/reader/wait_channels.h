// SPDX-License-Identifier: Apache-2.0
//
// Who is at the other end: turns waits on pipes and sockets into waits for processes, which is all
// that later stages know of. A process can say which end it waits on, but not who holds the other
// one; the run as a whole can. Only what was recorded counts: an end that nobody of the run is
// known to use names nobody. Pure.
//
// Three kinds of label, all of kind layer (docs/trace_format.md):
//
//   domain            layer  text                          says
//   channel           wait   socket:[5] process:[17]       scopes wait for any of these
//   channel holder    none   17 socket:[6]                 process 17 uses this end of a socket,
//                                                          writes into this pipe, or is this actor
//   channel ends      none   socket:[5] socket:[6]         the two ends of a socket pair
//
// What waits on socket:[5] waits for the holders of the other end; what waits on pipe:[7] for those
// who write into it, since both ends of a pipe have one number. Numbers are inodes; a kernel gives
// one out again after four billion others. Any other name (ray:[ACTOR]) stands for its holders.
#ifndef GPUBOUND_ANALYSIS_READER_WAIT_CHANNELS_H_
#define GPUBOUND_ANALYSIS_READER_WAIT_CHANNELS_H_

#include "analysis/trace/run.h"

namespace gpubound {

inline constexpr char kChannelDomain[] = "channel";
inline constexpr char kChannelHolderDomain[] = "channel holder";
inline constexpr char kChannelEndsDomain[] = "channel ends";

// Every label of domain kChannelDomain that names other processes of its host becomes a recorded
// wait for them (kPeerDomain); the others stay as they are, waits for something unknown.
void NameAwaitedProcesses(Run* run);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_READER_WAIT_CHANNELS_H_
