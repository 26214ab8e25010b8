// SPDX-License-Identifier: Apache-2.0
//
// The scopes of one thread as a track of a timeline: each scope with its depth, and what owned the
// thread's time: its innermost operation, else the innermost scope. One object a thread, one
// caller.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_PAGE_SCOPE_TRACK_H_
#define GPUBOUND_ANALYSIS_OUTPUT_PAGE_SCOPE_TRACK_H_

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/base/interval.h"
#include "analysis/output/page/event_keeper.h"
#include "analysis/output/page/foreign_ends.h"
#include "analysis/output/page/share_band.h"
#include "analysis/trace/event_source.h"

namespace gpubound {

class ScopeTrack {
 public:
  struct Names {
    const std::vector<uint32_t>* of_label = nullptr;  // by LabelId
    std::set<std::string> operations;                 // as the report has them
    std::set<uint32_t>* waits = nullptr;              // takes those of waits that there were
  };
  // Everything outlives the object. |to_run_ns| is added to each time that is handed on.
  ScopeTrack(const ProcessTrace& process, const ThreadTrace& thread, const Names& names,
             int64_t to_run_ns, ShareBand* band, EventKeeper* keeper);

  // Ranges of this thread that another one ends. Before the first batch.
  void ExpectEnds(std::vector<ForeignEnd> ends) { foreign_ends_ = std::move(ends); }

  void Take(const ThreadBatch& batch);
  // The process ends at |end_ns|: what is open ends there, or with the thread's last event if those
  // behind it are missing.
  void Finish(int64_t end_ns, bool tail_is_missing);

  // Where a compaction removed events of the thread, in the time that is handed on; ascending.
  const std::vector<Interval>& thinned() const { return thinned_; }

 private:
  struct Open {
    LabelId label{};
    int64_t begin_ns = 0;
    uint64_t range = 0;
    bool is_range = false;
    bool operation = false;
    bool begin_cut = false;
  };
  bool IsOperation(LabelId label) const;
  uint32_t NameOf(LabelId label) const;
  void Push(LabelId label, int64_t time_ns, bool is_range, uint64_t range);
  void Close(size_t index, int64_t time_ns, bool end_cut);
  void CloseLast(const ThreadEvent& event, bool is_range);
  void CloseForeignUntil(int64_t time_ns);
  void MoveBand(int64_t time_ns);
  void NoteThinned(int64_t until_ns);
  uint32_t Owner() const;

  const Names& names_;
  const int64_t to_run_ns_;
  ShareBand* band_;
  EventKeeper* keeper_;
  std::vector<bool> operation_;  // by LabelId
  std::vector<bool> wait_;       // likewise
  std::vector<Open> open_;
  std::vector<ForeignEnd> foreign_ends_;
  size_t next_foreign_end_ = 0;
  int64_t band_ns_ = 0;  // the band is filled until then
  int64_t last_ns_ = 0;  // of the last event; before the first, where the thread began
  std::vector<Interval> thinned_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_PAGE_SCOPE_TRACK_H_
