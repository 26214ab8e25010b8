// SPDX-License-Identifier: Apache-2.0
//
// Which threads of a process have to be followed through a window: those that are awake. A thread
// of which nothing is due for a while sleeps; it is known by what it does, and sleepers that do the
// same are one. So a window costs what happens in it, however many threads there were or will be.
//
//   events   |--thread 1--|                            awake   {1}
//                           |--thread 2--|                     {1, 2}, then {2}
//                                          |--thread 3--|      {2, 3}, then {3}
//
// One object, one caller.
#ifndef GPUBOUND_ANALYSIS_TIMELINE_THREAD_ROSTER_H_
#define GPUBOUND_ANALYSIS_TIMELINE_THREAD_ROSTER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "analysis/timeline/doing.h"
#include "analysis/trace/run.h"

namespace gpubound {

class ThreadRoster {
 public:
  // What a sleeping thread is to others, until it wakes.
  struct Rest {
    Doing doing;
    bool adopts = false;
    friend bool operator==(const Rest&, const Rest&) = default;
  };

  struct Sleeper {
    Rest rest;
    int64_t next_ns = kOpenEnded;  // when something happens to it; kOpenEnded: never
  };

  // The threads that are awake; ascending since Order().
  const std::vector<uint32_t>& awake() const { return awake_; }

  // A new thread is awake, behind all others until Order(), or sleeps.
  void AddAwake(uint32_t thread);
  void AddAsleep(uint32_t thread, const Sleeper& sleeper);
  // Something happens to a thread at |time_ns|, perhaps sooner than was known.
  void Expect(uint32_t thread, int64_t time_ns);
  bool IsAsleep(uint32_t thread) const { return threads_[thread].asleep; }

  // When the next thing happens to a sleeping thread; kOpenEnded when nothing does.
  int64_t NextTime();
  // Wakes one to which something happens before |end_ns|; it comes behind all others until Order().
  std::optional<uint32_t> WakeBefore(int64_t end_ns);
  void Order();

  // |nap|(thread) gives the Sleeper that an awake thread becomes, or none where it stays awake.
  template <typename Nap>
  void SleepWhere(Nap nap) {
    size_t kept = 0;
    for (const uint32_t thread : awake_) {
      if (const std::optional<Sleeper> sleeper = nap(thread)) {
        AddAsleep(thread, *sleeper);
      } else {
        awake_[kept++] = thread;
      }
    }
    awake_.resize(kept);
    ordered_ = kept;
  }

  // |on_rest|(rest) once for all sleepers that do the same, in no order.
  template <typename OnRest>
  void ForEachRest(OnRest on_rest) const {
    for (const auto& [rest, sleepers] : rests_) on_rest(rest);
  }

 private:
  struct HashOfRest {
    size_t operator()(const Rest& rest) const {
      constexpr uint64_t kHashFactor = 0x9e3779b97f4a7c15;
      const uint64_t bits = uint64_t{rest.doing.operation()} << 32 | rest.doing.depth() << 24 |
                            (rest.doing.peer() & 0x7fffff) << 1 | (rest.adopts ? 1 : 0);
      return static_cast<size_t>((bits * kHashFactor) >> 16);
    }
  };
  struct Due {
    int64_t time_ns;
    uint32_t thread;
    bool operator>(const Due& other) const { return time_ns > other.time_ns; }
  };
  struct Thread {
    bool asleep = false;
    Sleeper sleeper;
  };
  void PushDue(uint32_t thread, int64_t time_ns);
  void DropStale();

  std::vector<Thread> threads_;
  std::vector<uint32_t> awake_;
  size_t ordered_ = 0;    // so many of them are in order
  std::vector<Due> due_;  // min-heap; of a thread only what is its sleeper's time holds
  std::unordered_map<Rest, size_t, HashOfRest> rests_;  // and how many threads rest so
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_TIMELINE_THREAD_ROSTER_H_
