// SPDX-License-Identifier: Apache-2.0
//
// Tells apart the groups of ranks that run collectives of one name, from the kernels alone: CUPTI
// names no communicator. A communicator has one stream on each of its ranks. Each of its kernels
// meets one on all its other streams, since nobody leaves a collective before everybody has
// entered. Streams of other communicators are met now and then, by chance:
//
//   rank 0   |===a===|    |=====a=====|         a meets b each time: together
//   rank 1     |==b==|        |===b===|         a meets c once of twice, b likewise: apart
//   rank 2         |==c==|                |=c=|
//
// Groups that run in step all the time cannot be told apart, and need not be: who entered last is
// then nearly the same for both.
//
// Cost: kernels that begin before the next one ends meet each other at once, 64 streams by a word;
// then the square of the streams once. One object, one caller.
#ifndef GPUBOUND_ANALYSIS_PROCESSES_COMMUNICATORS_H_
#define GPUBOUND_ANALYSIS_PROCESSES_COMMUNICATORS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/base/interval.h"
#include "analysis/processes/member_counts.h"

namespace gpubound {

class Communicators {
 public:
  // Of fewer kernels nothing is concluded.
  static constexpr uint64_t kFewest = 16;

  // A kernel |name| of |stream|, which is one of |rank|'s. Times never decrease between calls.
  void Add(const std::string& name, size_t stream, size_t rank, const Interval& time);
  // Nothing is added any more. Before Group().
  void Finish();

  // The group in which |stream| runs kernels |name|: two streams in different groups never run the same
  // collective. kAny: nothing is known of it, it may be in any.
  static constexpr size_t kAny = ~size_t{0};
  size_t Group(const std::string& name, size_t stream) const;

 private:
  struct Running {
    size_t place;
    int64_t end_ns;
    bool is_new;  // it began since kernels ended last
    BitSet met;   // places of streams, its own among them; but for those that began since then
  };
  // Streams have places, in order of their first kernels.
  struct OfName {
    std::unordered_map<size_t, size_t> places;  // by stream
    std::vector<size_t> streams;                // by place, like what follows
    std::vector<size_t> ranks;
    std::vector<uint64_t> kernels;
    std::vector<MemberCounts> met;  // in how many of its kernels each place was met
    std::vector<size_t> groups;     // a stream that stands for the group; kAny: it has no others

    std::vector<Running> running;
    int64_t first_end_ns = INT64_MAX;  // of them
    BitSet alive;                      // their places
    std::vector<size_t> begun;         // of them, those that are new
    std::vector<BitSet> spare;         // memory of those that are over
  };
  static size_t PlaceOf(size_t stream, size_t rank, OfName* of);
  static void CloseEnded(int64_t now_ns, OfName* of);
  static void MeetNew(OfName* of);
  static void Close(Running* kernel, OfName* of);
  static bool AreTogether(const OfName& of, size_t a, size_t b);
  static void FindGroups(OfName* of);

  std::unordered_map<std::string, OfName> names_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_PROCESSES_COMMUNICATORS_H_
