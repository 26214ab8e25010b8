// SPDX-License-Identifier: Apache-2.0
//
// Finds the same collective on several ranks, from the kernels alone: CUPTI tells neither the
// communicator nor a sequence number. A rank leaves a collective only after the last one has
// entered it, so all members run side by side at one instant: kernels of one name that do, on
// different ranks and in groups that are not known to differ (communicators.h), are taken for one
// collective. Where two groups that run collectives of one name at once are not told apart, they
// are taken for one, which makes the waiting an upper bound.
//
//     rank 0   |=======spins=======|==moves==|
//     rank 1                       |==moves===|       entered last: rank 0 waited for it
//
// Work comes in order of begin; memory is what runs at one instant. One object, one caller.
#ifndef GPUBOUND_ANALYSIS_PROCESSES_COLLECTIVE_MATCH_H_
#define GPUBOUND_ANALYSIS_PROCESSES_COLLECTIVE_MATCH_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/base/interval.h"
#include "analysis/processes/communicators.h"
#include "analysis/processes/member_counts.h"

namespace gpubound {

// One kernel of a collective.
struct CollectiveMember {
  size_t rank = 0;
  Interval time;
  size_t group = Communicators::kAny;
};

// In order of begin: the last one entered last.
using Collective = std::vector<CollectiveMember>;

// Whether |collective| may well be two, each of two ranks or more: enough of its members may be in
// any group.
bool MayBeSeveral(const Collective& collective);

class CollectiveMatch {
 public:
  // A kernel |name| of |rank|. Times never decrease between calls.
  void Add(const std::string& name, const CollectiveMember& member);

  // Collectives that no later kernel can join, in no particular order, once each. After Finish()
  // these are all that remain. One with a single member was not found on any other rank.
  std::vector<Collective> Take();
  void Finish();

 private:
  struct Open {
    Collective members;
    BitSet ranks;                        // of the members
    int64_t first_end_ns = 0;            // nobody enters after somebody left
    size_t group = Communicators::kAny;  // of the members, as far as it is known
  };
  void Close(Open* open);

  std::unordered_map<std::string, std::vector<Open>> open_;
  std::vector<Collective> closed_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_PROCESSES_COLLECTIVE_MATCH_H_
