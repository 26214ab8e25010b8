// SPDX-License-Identifier: Apache-2.0
//
// From the begins and ends of one thread to scopes with both. A scope comes out when it ends, so
// memory is what is open; scopes that end at the same instant come out in the order in which they
// began. One object, one thread's events in order.
#ifndef GPUBOUND_ANALYSIS_TRACE_SCOPE_BUILDER_H_
#define GPUBOUND_ANALYSIS_TRACE_SCOPE_BUILDER_H_

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "analysis/trace/run.h"

namespace gpubound {

struct Scope {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  uint64_t place = 0;  // among the begins of the thread
  LabelId label{};
  uint32_t depth = 0;      // 0: nothing of the thread encloses it
  bool is_range = false;   // start and end of it need not nest with others
  bool begin_cut = false;  // began earlier, where events are missing
  bool end_cut = false;    // its end was not recorded
};

// Which ends of |scope| were not recorded: begin, end, both; null: it is whole.
const char* CutOf(const Scope& scope);

// A range whose end its own thread did not record: another one may have. |scope|.end_cut: events
// are missing from its end_ns on.
struct OpenRange {
  uint64_t id = 0;
  Scope scope;
};

class ScopeBuilder {
 public:
  // Takes what begins or ends a scope or a range; ignores everything else.
  void Add(const ThreadEvent& event);

  // Events are missing between |known_until_ns|, that of the last one added, and |now_ns|, at which
  // |open| is open, outermost first. What was open until then may have ended meanwhile, and what is
  // open now may be another one of its name: both are cut.
  void Resync(int64_t known_until_ns, int64_t now_ns, std::span<const LabelId> open);

  // What is still open was so until |end_ns|, ranges excepted.
  void Finish(int64_t end_ns);

  // Forgets what is open: no more events come.
  void Drop();

  // The next scope that has ended; false when there is none yet.
  bool Pop(Scope* scope);

  // Events are missing from |known_until_ns| on to the end.
  void CutRanges(int64_t known_until_ns);

  // Something is open that began no earlier than |begin_ns|.
  bool HasOpenSince(int64_t begin_ns) const;

  // In the order in which they began.
  std::vector<OpenRange> TakeOpenRanges();

 private:
  void EndRange(const ThreadEvent& event);
  void Close(size_t index, int64_t now_ns, bool cut);
  void Settle();

  std::vector<Scope> open_;                                     // outermost first
  std::map<uint64_t, OpenRange> ranges_;                        // by place
  std::unordered_map<uint64_t, std::vector<uint64_t>> places_;  // of these, by id
  std::vector<Scope> ending_;                                   // ended at the same, latest instant
  std::deque<Scope> ended_;
  uint64_t begins_ = 0;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_TRACE_SCOPE_BUILDER_H_
