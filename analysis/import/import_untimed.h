// SPDX-License-Identifier: Apache-2.0
//
// GPU work of an imported trace that ran, nobody knows when: since when it may have, which is since
// the call that launched it. One object, one thread.
#ifndef GPUBOUND_ANALYSIS_IMPORT_IMPORT_UNTIMED_H_
#define GPUBOUND_ANALYSIS_IMPORT_IMPORT_UNTIMED_H_

#include <cstdint>
#include <map>
#include <unordered_set>
#include <utility>

#include "analysis/import/import_records.h"

namespace gpubound {

class UntimedWork {
 public:
  // Work with that id has no time. Of all such work, before any call.
  void Expect(uint32_t correlation) { ids_.insert(correlation); }

  // |process| made the call, which began at |start_ns|.
  void NoteCall(uint32_t process, uint32_t correlation, int64_t start_ns);

  // When the work of |process| with that id may have begun: INT64_MIN where no call launched it.
  int64_t BeginOf(uint32_t process, uint32_t correlation) const;

 private:
  std::unordered_set<uint32_t> ids_;
  std::map<std::pair<uint32_t, uint32_t>, int64_t> calls_;  // first start, by process and id
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_IMPORT_IMPORT_UNTIMED_H_
