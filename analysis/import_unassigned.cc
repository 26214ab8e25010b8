// SPDX-License-Identifier: Apache-2.0
//
// A union as it comes. One object, one thread.
#include "analysis/import_unassigned.h"

#include <algorithm>

namespace gpubound {
namespace {

// Every two neighbours become one.
void Coarsen(std::vector<Interval>* intervals) {
  const size_t pairs = intervals->size() / 2;
  for (size_t i = 0; i < pairs; ++i) {
    (*intervals)[i] = {(*intervals)[2 * i].begin_ns, (*intervals)[2 * i + 1].end_ns};
  }
  if (intervals->size() % 2 != 0) (*intervals)[pairs] = intervals->back();
  intervals->resize(intervals->size() - pairs);
}

}  // namespace

void UnassignedWork::Add(DeviceId device, const Interval& work) {
  OnDevice& on = devices_[device];
  ++on.pieces;
  if (work.empty()) return;
  if (!on.busy.empty() && work.begin_ns <= on.busy.back().end_ns) {
    on.busy.back().end_ns = std::max(on.busy.back().end_ns, work.end_ns);
    return;
  }
  if (on.busy.size() == kMostIntervals) Coarsen(&on.busy);
  on.busy.push_back(work);
}

}  // namespace gpubound
