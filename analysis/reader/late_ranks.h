// SPDX-License-Identifier: Apache-2.0
//
// Who keeps the ranks of a collective waiting. Each rank records when it enters one, and when its
// wait in it is over, under a number that all count alike (GPUBOUND_SHARED of gpubound/api.h). Who
// entered last shows when all of them are read:
//
//   rank 0   enters |---------- wait ---------------| over
//   rank 1                    enters |---- wait ----| over
//            waits for rank 1 |------|
//
// So a wait is cut where the last other rank entered: up to there it is a recorded wait for that
// process (kLateRankDomain), from there on what it was, a wait while data moves. Ranks that entered
// after the wait was over kept nobody waiting, as those that only receive in a broadcast. Ranks of
// other hosts do not count: when they entered is not known to a clock of this one.
//
// In a reduction everybody waits for everybody, and native code enters it before the rank can say
// so. Who says it when the first wait is over already, has entered by then. Pure but for reading
// events.
#ifndef GPUBOUND_ANALYSIS_READER_LATE_RANKS_H_
#define GPUBOUND_ANALYSIS_READER_LATE_RANKS_H_

#include "analysis/trace/run.h"

namespace gpubound {

// Costs a pass over the thread events of the processes that were in a collective, and nothing
// otherwise. Before NameAwaitedProcesses().
void NameLateRanks(Run* run);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_READER_LATE_RANKS_H_
