// SPDX-License-Identifier: Apache-2.0
//
// Finds the process that launched each piece of device work, by correlation id, where a trace holds
// several processes and the work does not say whose it is. Ids begin anew in each process, so in
// traces of several ranks that were merged most ids are those of calls of several processes. Then
// time and the stream decide, and where they do not the work is nobody's: docs/trace_format.md,
// "Imported runs", says by which rules. One object, one thread.
#ifndef GPUBOUND_ANALYSIS_IMPORT_IMPORT_JOIN_H_
#define GPUBOUND_ANALYSIS_IMPORT_IMPORT_JOIN_H_

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/base/status.h"
#include "analysis/import/external_sorter.h"
#include "analysis/import/import_records.h"

namespace gpubound {

struct LaunchCall {
  uint32_t correlation = 0;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  uint32_t process = kNoIndex;
  bool one_kernel = false;  // launches one kernel and nothing else, by its name

  friend bool operator<(const LaunchCall& a, const LaunchCall& b) {
    return std::tie(a.correlation, a.start_ns, b.end_ns, a.process, a.one_kernel) <
           std::tie(b.correlation, b.start_ns, a.end_ns, b.process, b.one_kernel);
  }
};

// The calls with one id, as work with that id comes in order of start.
class CallsOfOneId {
 public:
  // By start, the outer ones before those within them, which are the same launch.
  void Add(const LaunchCall& call);
  void Clear();

  bool empty() const { return calls_.empty(); }
  // Whether the calls tell at most one piece of work each.
  bool one_kernel_each() const { return one_kernel_each_; }
  // That one process has, at most.
  uint32_t most_of_a_process() const { return most_; }

  // The processes that may have launched the next piece of work, which begins at |start_ns|, in
  // ascending order; never none. |is_copy_again|: the launch of it is that of another piece.
  std::vector<uint32_t> CandidatesOf(int64_t start_ns, bool is_copy_again);

 private:
  struct OfProcess {
    int64_t end_ns = INT64_MIN;
    uint32_t calls = 0;
  };

  std::vector<LaunchCall> calls_;
  std::map<uint32_t, OfProcess> processes_;
  bool one_kernel_each_ = true;
  uint32_t most_ = 0;
  size_t begun_ = 0;  // calls that began before the last piece of work
  size_t spent_ = 0;  // calls, from the first on, whose work has come
  uint64_t pieces_ = 0;
};

// Which process each stream is of, as far as its work tells.
class StreamLaunchers {
 public:
  // One of |candidates| launched work on |stream|.
  void Add(uint32_t stream, const std::vector<uint32_t>& candidates);
  // Several processes did.
  void Share(uint32_t stream) { streams_[stream].candidates.clear(); }

  // The process that may have launched all work of |stream|; kNoIndex where none may, or several.
  uint32_t Of(uint32_t stream) const;
  // Those that may have launched such work of it as several may have launched.
  const std::set<uint32_t>& AllOf(uint32_t stream) { return streams_[stream].all; }

 private:
  struct Stream {
    bool seen = false;
    std::vector<uint32_t> candidates;
    std::set<uint32_t> all;
  };
  std::map<uint32_t, Stream> streams_;
};

class LaunchJoin {
 public:
  explicit LaunchJoin(const std::string& folder)
      : calls_(folder), work_(folder), resolved_(folder) {}

  Status AddCall(const LaunchCall& call) { return calls_.Add(call); }
  // |is_copy_again|: of a copy the record of the device at its other end.
  Status AddWork(const ForeignWork& work, bool is_copy_again) {
    return work_.Add({work, is_copy_again});
  }

  // Of work of no process: those one of which may have launched it. Empty: no call did.
  using Candidates = std::set<uint32_t>;
  // Hands every piece of work to |emit|, by start, with its process, or kNoIndex. Call once, last.
  Status Resolve(const std::function<Status(const ForeignWork&, const Candidates&)>& emit);

 private:
  struct ByCorrelation {
    ForeignWork work;
    bool is_copy_again = false;
    friend bool operator<(const ByCorrelation& a, const ByCorrelation& b) {
      return a.work.correlation != b.work.correlation ? a.work.correlation < b.work.correlation
                                                      : a.work < b.work;
    }
  };
  // One of several, which the stream may tell once all work has come.
  static constexpr uint32_t kOneOfSeveral = kNoIndex - 1;

  Status Join();
  uint32_t LauncherOf(const ByCorrelation& item);

  ExternalSorter<LaunchCall> calls_;
  ExternalSorter<ByCorrelation> work_;
  ExternalSorter<ForeignWork> resolved_;
  CallsOfOneId calls_of_id_;
  std::map<uint32_t, uint32_t> pieces_;  // with that id, by stream
  StreamLaunchers streams_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_IMPORT_IMPORT_JOIN_H_
