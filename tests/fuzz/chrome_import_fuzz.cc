// SPDX-License-Identifier: Apache-2.0
//
// Any bytes into the importer of Chrome JSON. The sanitizers watch for reads beyond the input; what
// is checked here is that a trace which is taken makes events that keep the promises of
// import_nesting.h, and that one which is not says why.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/import/foreign_trace.h"
#include "analysis/import/import_chrome.h"
#include "analysis/import/import_nesting.h"

namespace gpubound {
namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

// Small blocks, so that values are cut anywhere.
class BlockSource : public ByteSource {
 public:
  BlockSource(std::string_view text, size_t block) : text_(text), block_(block) {}
  Result<size_t> Read(char* to, size_t capacity) override {
    const size_t count = std::min({block_, capacity, text_.size()});
    text_.copy(to, count);
    text_.remove_prefix(count);
    return count;
  }

 private:
  std::string_view text_;
  const size_t block_;
};

// Follows the events of one thread as a reader does.
class EventCheck {
 public:
  void See(const NestedEvent& event) {
    Require(event.time_ns >= last_ns_);
    last_ns_ = event.time_ns;
    switch (event.kind) {
      case SlotKind::kBegin:
        open_.push_back(event.label);
        break;
      case SlotKind::kEnd: {
        const auto closed = std::find(open_.rbegin(), open_.rend(), event.label);
        Require(closed != open_.rend());
        open_.erase(std::next(closed).base());
        break;
      }
      case SlotKind::kRangeStart:
        Require(ranges_.emplace(event.payload, event.label).second);
        break;
      case SlotKind::kRangeEnd:
        Require(ranges_.erase(event.payload) == 1);
        break;
      default:
        Require(event.kind == SlotKind::kStep);
        break;
    }
  }
  void RequireClosed() const { Require(open_.empty() && ranges_.empty()); }

 private:
  int64_t last_ns_ = INT64_MIN;
  std::vector<LabelId> open_;
  std::map<uint64_t, LabelId> ranges_;
};

void CheckThreads(ForeignTrace* trace) {
  Require(trace->cpu.Finish().ok());
  CpuInterval interval;
  auto more = trace->cpu.Next(&interval);
  uint64_t next_range = 1;
  while (more.ok() && *more) {
    const uint32_t thread = interval.thread;
    Require(thread < trace->names.threads().size());
    EventCheck check;
    ThreadNesting nesting([&check](const NestedEvent& event) { check.See(event); }, &next_range);
    for (; more.ok() && *more && interval.thread == thread; more = trace->cpu.Next(&interval)) {
      if (!trace->HasTime(interval)) continue;  // as the importer does
      Require(trace->IsInside(interval.start_ns, interval.end_ns));
      Require(Raw(interval.label) < trace->names.labels().size());
      nesting.Add(interval);
    }
    nesting.Finish();
    check.RequireClosed();
  }
  Require(more.ok());
}

int FuzzOne(std::string_view input) {
  if (input.empty()) return 0;
  BlockSource source(input.substr(1), static_cast<size_t>(input.front() & 0x3f) + 1);
  ForeignTrace trace("/tmp");
  const Status read = ReadChromeTrace(&source, "input", &trace);
  if (!read.ok()) {
    Require(!read.error().found.empty() && !read.error().remedy.empty());
    return 0;
  }
  CheckThreads(&trace);
  return 0;
}

}  // namespace
}  // namespace gpubound

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return gpubound::FuzzOne({reinterpret_cast<const char*>(data), size});
}
