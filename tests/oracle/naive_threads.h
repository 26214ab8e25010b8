// SPDX-License-Identifier: Apache-2.0
//
// What every thread of a process does at an instant, worked out from all of its events each time
// anew, as SPEC section 1 words it. It shares no code with the analysis and knows only the names
// that random_trace.h uses. One object, any caller.
#ifndef GPUBOUND_TESTS_ORACLE_NAIVE_THREADS_H_
#define GPUBOUND_TESTS_ORACLE_NAIVE_THREADS_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "analysis/trace/run.h"

namespace gpubound::oracle {

struct NaiveThread {
  std::string operation;  // empty: none open
  std::string layer;      // empty: nothing known
  std::string cause;
  std::vector<std::string> open_operations;
  std::set<int64_t> awaited;  // processes for any of which it waits
};

// A thread opens a layer or begins a call.
struct NaiveEntry {
  int64_t time_ns = 0;
  std::string operation;  // as in NaiveThread, of what is open then
  std::string from;       // the layer before; empty: nothing known
  std::string to;
};

class NaiveThreads {
 public:
  // For whom scopes wait, by label id.
  using Awaited = std::map<uint32_t, std::set<int64_t>>;

  // |process| outlives the object.
  NaiveThreads(const ProcessTrace& process, Awaited awaited);

  size_t reporting() const { return reporting_; }
  // Opens operations, its own or such as were handed over to it.
  bool Annotates(size_t thread) const { return annotates_[thread]; }
  bool any_operation() const;

  NaiveThread StateOf(size_t thread, int64_t t) const;
  // It did anything by then.
  bool HasBegun(size_t thread, int64_t t) const;

  // Looks at it say that it was blocked then.
  bool IsBlocked(size_t thread, int64_t t) const;
  // They say for how long it was what between two looks then.
  bool SumsAt(size_t thread, int64_t t) const;
  // Looks at it say that it was on a CPU for half of the time around then at least; and it had made
  // a call.
  bool IsBusy(size_t thread, int64_t t) const;

  // Of an instant first calls end, then scopes open and close in the order of the thread, then
  // calls begin.
  std::vector<NaiveEntry> EntriesOf(size_t thread) const;

  // Whether |event| opens an operation.
  bool OpensOperation(const ThreadEvent& event) const {
    return Opens(event) && !OperationOf(event.label).empty();
  }

 private:
  static bool Opens(const ThreadEvent& event) {
    return event.kind == SlotKind::kBegin || event.kind == SlotKind::kRangeStart;
  }
  bool AnyScopeOfKind(LabelKind kind) const;
  std::string OperationOf(LabelId id) const;
  void FindReportingThread();
  std::string Base() const { return p_.python ? "python" : "native"; }
  using Calls = std::vector<const ApiCall*>;
  bool RangeEnded(size_t thread, size_t index, size_t until, int64_t t) const;
  std::vector<LabelId> ScopesUntil(size_t thread, size_t until, int64_t t) const;
  std::vector<LabelId> ScopesOf(size_t thread, int64_t t) const;
  NaiveThread Of(size_t thread, const std::vector<LabelId>& scopes, const Calls& calls,
                 int64_t t) const;
  std::string NamedCause(const std::vector<LabelId>& scopes) const;
  std::string CauseOf(const ThreadTrace& thread, const std::vector<LabelId>& scopes,
                      const std::string& layer, int64_t t) const;
  std::string ApiLayer(const ThreadTrace& thread, const Calls& calls, int64_t t) const;

  const ProcessTrace& p_;
  const Awaited awaited_;
  bool has_operations_ = false;
  size_t reporting_ = 0;
  std::vector<bool> annotates_;
};

}  // namespace gpubound::oracle

#endif  // GPUBOUND_TESTS_ORACLE_NAIVE_THREADS_H_
