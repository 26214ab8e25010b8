// SPDX-License-Identifier: Apache-2.0
//
// A union as it comes. One object, one thread.
#include "analysis/import/import_unassigned.h"

#include <algorithm>

#include "analysis/base/text_table.h"

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

void UnassignedWork::Add(DeviceId device, const Interval& work,
                         const std::set<uint32_t>& candidates) {
  OnDevice& on = devices_[device];
  ++on.pieces;
  on.candidates.insert(candidates.begin(), candidates.end());
  if (work.empty()) return;
  if (!on.busy.empty() && work.begin_ns <= on.busy.back().end_ns) {
    on.busy.back().end_ns = std::max(on.busy.back().end_ns, work.end_ns);
    return;
  }
  if (on.busy.size() == kMostIntervals) Coarsen(&on.busy);
  on.busy.push_back(work);
}

std::string NoteOn(const std::string& device, const UnassignedWork::OnDevice& work, bool of_some) {
  int64_t busy_ns = 0;
  for (const Interval& busy : work.busy) busy_ns += busy.length();
  std::string note = device + " did " + FormatTime(busy_ns) + " of work (" +
                     std::to_string(work.pieces) + (work.pieces == 1 ? " piece" : " pieces");
  note += work.candidates.empty()
              ? ") that no process of the trace launched; what "
              : ") of which nothing says which process of the trace launched it; what ";
  note += !of_some                  ? "each process"
          : work.candidates.empty() ? "the processes that use it"
                                    : "the processes that use it or may have launched it";
  return note + " had of the GPU then is unknown";
}

}  // namespace gpubound
