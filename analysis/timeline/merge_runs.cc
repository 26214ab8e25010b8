// SPDX-License-Identifier: Apache-2.0
//
// Bottom-up merge. No state.
#include "analysis/timeline/merge_runs.h"

#include <algorithm>

namespace gpubound {
namespace {

uint64_t* MergeTwo(const uint64_t* a, const uint64_t* a_end, const uint64_t* b,
                   const uint64_t* b_end, uint64_t* out) {
  while (a != a_end && b != b_end) {
    const uint64_t from_a = *a;
    const uint64_t from_b = *b;
    // Arithmetic, since compilers make a branch of a choice here.
    const auto take_b = static_cast<uint64_t>(from_b < from_a);
    *out++ = from_a ^ ((from_a ^ from_b) & -take_b);
    a += 1 - take_b;
    b += take_b;
  }
  return std::copy(b, b_end, std::copy(a, a_end, out));
}

}  // namespace

void MergeRuns(std::vector<uint64_t>* keys, std::vector<size_t>* ends,
               std::vector<uint64_t>* scratch) {
  while (ends->size() > 1) {
    scratch->resize(keys->size());
    const uint64_t* from = keys->data();
    uint64_t* out = scratch->data();
    size_t begin = 0;
    size_t merged = 0;
    for (size_t run = 0; run < ends->size(); run += 2) {
      const size_t middle = (*ends)[run];
      const size_t end = run + 1 < ends->size() ? (*ends)[run + 1] : middle;
      out = MergeTwo(from + begin, from + middle, from + middle, from + end, out);
      (*ends)[merged++] = end;
      begin = end;
    }
    ends->resize(merged);
    keys->swap(*scratch);
  }
}

}  // namespace gpubound
