// SPDX-License-Identifier: Apache-2.0
//
// Where in time the events of a foreign trace lie, and which of them cannot have been there: a
// profiler that loses a time writes 0 or a random one, and a single such event makes a run of
// decades. Memory is bounded: times that lie close to each other are one cluster, and of very many
// clusters the closest ones are. One object, one thread.
//
//     |x|                                          |--x-xx--xxxx---x-x|
//      1 event     5 s, 2,500 times the rest        28 events, 2 ms
#ifndef GPUBOUND_ANALYSIS_IMPORT_IMPORT_TIMES_H_
#define GPUBOUND_ANALYSIS_IMPORT_IMPORT_TIMES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpubound {

class ForeignTimes {
 public:
  // An event from |start_ns| to |end_ns|.
  void See(int64_t start_ns, int64_t end_ns);

  struct Extent {
    int64_t first_ns = INT64_MAX;  // empty: no event was seen
    int64_t last_ns = INT64_MIN;
    int64_t distance_ns = 0;  // of the nearest event outside; 0 where there is none outside
    bool empty() const { return first_ns > last_ns; }
  };
  // From where to where the trace lasts. What begins outside has a time that cannot be its own, and
  // what begins inside and ends outside an end that cannot.
  //
  // One or two events, or 2 % of them all, lie outside where they are farther from the others than
  // a second and than a thousand times all the time of these. More than so many do, as long as they
  // are the lesser part, only beyond a day and a million times that: a program may well do nothing
  // that a profiler sees for a while.
  Extent Decide();

 private:
  static constexpr size_t kMostClusters = 512;
  static constexpr size_t kMostPending = 4096;

  struct Cluster {
    int64_t begin_ns = 0;
    int64_t end_ns = 0;
    uint64_t events = 0;
  };
  void Settle();
  void Coarsen();
  Extent Largest(int64_t least_ns, double times, uint64_t* inside) const;
  Extent Grow(size_t from, int64_t least_ns, double times, uint64_t* inside) const;

  std::vector<Cluster> clusters_;  // ascending and disjoint
  std::vector<Cluster> pending_;
  Cluster current_{INT64_MAX, INT64_MIN, 0};  // which most events add to
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_IMPORT_IMPORT_TIMES_H_
