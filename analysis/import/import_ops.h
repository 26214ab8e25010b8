// SPDX-License-Identifier: Apache-2.0
//
// Finds the operator of a framework that launched each piece of device work: the innermost one that
// was open on the thread when the call with its correlation id began. Operators are known when
// threads have been sorted, and work comes in another order, so both are sorted by id and merged.
// One object, one thread.
//
//     calls within operators -> by (process, id, start) --.
//     work                   -> by (process, id, start) --+-> joined -> by start -> emitted
#ifndef GPUBOUND_ANALYSIS_IMPORT_IMPORT_OPS_H_
#define GPUBOUND_ANALYSIS_IMPORT_IMPORT_OPS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <tuple>
#include <unordered_set>
#include <vector>

#include "analysis/base/status.h"
#include "analysis/import/external_sorter.h"
#include "analysis/import/import_names.h"
#include "analysis/import/import_records.h"

namespace gpubound {

// A call within an operator, which may launch work.
struct OpLaunch {
  uint32_t process = kNoIndex;
  uint32_t correlation = 0;
  int64_t start_ns = 0;
  uint64_t instance = 0;  // which call of the operator
  uint32_t op = 0;        // of the names

  friend bool operator<(const OpLaunch& a, const OpLaunch& b) {
    return std::tie(a.process, a.correlation, a.start_ns, a.instance, a.op) <
           std::tie(b.process, b.correlation, b.start_ns, b.instance, b.op);
  }
};

// The operators that are open on one thread, as its intervals come by start.
class OpenOps {
 public:
  // Another thread's intervals come.
  void Clear() { open_.clear(); }
  // An operator |op| of the names.
  void Open(int64_t start_ns, int64_t end_ns, uint32_t op);
  // Something begins. False: in no operator. Fills in what concerns the innermost.
  bool IsWithin(int64_t start_ns, OpLaunch* launch);

 private:
  struct OpenOp {
    int64_t end_ns = 0;
    uint64_t instance = 0;
    uint32_t op = 0;
  };
  void CloseUntil(int64_t start_ns);

  std::vector<OpenOp> open_;
  uint64_t instances_ = 0;
};

// Which calls of operators have launched work. What one call launches has ids side by side, so the
// last ones are enough.
class LaunchedOps {
 public:
  // Whether it is the first of |instance|.
  bool Add(uint64_t instance);

 private:
  static constexpr size_t kMost = 4096;
  std::unordered_set<uint64_t> known_;
  std::vector<uint64_t> ring_;
  size_t next_ = 0;
};

class OpJoin {
 public:
  explicit OpJoin(const std::string& folder) : launches_(folder), work_(folder), joined_(folder) {}

  bool any() const { return launches_.size() > 0; }
  Status AddLaunch(const OpLaunch& launch) { return launches_.Add(launch); }
  // Of a known process. Call after the last launch.
  Status AddWork(const ForeignWork& work) { return work_.Add({work}); }

  // Hands every piece of work to |emit|, by start, its row of |names| saying the operator. Call
  // once, last.
  Status Resolve(ForeignNames* names, const std::function<Status(const ForeignWork&)>& emit);

 private:
  struct ByLaunch {
    ForeignWork work;
    friend bool operator<(const ByLaunch& a, const ByLaunch& b) {
      return a.work.process != b.work.process           ? a.work.process < b.work.process
             : a.work.correlation != b.work.correlation ? a.work.correlation < b.work.correlation
                                                        : a.work < b.work;
    }
  };
  Status Join(ForeignNames* names);
  Status TakeLaunchesOf(const ForeignWork& work);

  ExternalSorter<OpLaunch> launches_;
  ExternalSorter<ByLaunch> work_;
  ExternalSorter<ForeignWork> joined_;
  OpLaunch next_;  // the first that was not taken
  bool has_next_ = false;
  LaunchedOps launched_;
  std::vector<OpLaunch> of_id_;  // with the id of the work that is joined, by start
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_IMPORT_IMPORT_OPS_H_
