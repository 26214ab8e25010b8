// SPDX-License-Identifier: Apache-2.0
//
// Finds the last look at each thread. No state.
#include "analysis/output/live/stack_dump.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "analysis/base/short_name.h"
#include "analysis/base/text_table.h"
#include "analysis/trace/event_source.h"
#include "analysis/trace/memory_source.h"

namespace gpubound {
namespace {

std::map<uint32_t, StackLooks> LastLooks(const ProcessTrace& process) {
  std::map<uint32_t, StackLooks> last;
  const MemorySource memory(process);
  const EventSource& source = process.source ? *process.source : memory;
  RecordStream<StackLooks> stream(source.StackLooks());
  for (; stream.Peek() != nullptr; stream.Pop()) {
    StackLooks& of_thread = last[stream.Peek()->tid];
    if (stream.Peek()->end_ns >= of_thread.end_ns) of_thread = *stream.Peek();
  }
  return last;
}

std::string ThreadName(const ProcessTrace& process, uint32_t tid) {
  const auto found = std::find_if(process.threads.rbegin(), process.threads.rend(),
                                  [tid](const ThreadTrace& thread) { return thread.tid == tid; });
  return found == process.threads.rend() ? std::string() : found->name;
}

std::string StackText(const ProcessTrace& process, FrameId innermost) {
  std::string text;
  for (FrameId at = innermost; at != FrameId{}; at = process.FrameOf(at).caller) {
    const Frame& frame = process.FrameOf(at);
    const Function& function = process.FunctionOf(frame.function);
    text += "    " + ShownName(function.name);
    if (!function.file.empty()) {
      text += " (" + EscapeName(function.file) + ":" + std::to_string(frame.line) + ")";
    }
    text += "\n";
  }
  return text;
}

std::string ThreadText(const ProcessTrace& process, const StackLooks& seen,
                       std::optional<int64_t> now_ns) {
  std::string text = "  Thread " + std::to_string(seen.tid);
  if (seen.tid == process.main_tid) text += ", main";
  const std::string name = ThreadName(process, seen.tid);
  if (!name.empty()) text += ", \"" + EscapeName(name) + "\"";
  text += seen.runnable == seen.looks ? ": ran, or was ready to" : ": waited";
  if (now_ns && *now_ns >= seen.end_ns) {
    text += ", " + FormatTime(*now_ns - seen.end_ns) + " ago";
  }
  return text + "\n" + StackText(process, seen.frame);
}

}  // namespace

std::string RenderStacks(const Run& run, std::optional<int64_t> pid,
                         std::optional<int64_t> now_ns) {
  std::string text;
  for (const ProcessTrace& process : run.processes) {
    if (pid && process.identity.pid != *pid) continue;
    const std::map<uint32_t, StackLooks> last = LastLooks(process);
    if (last.empty()) continue;
    text += (text.empty() ? "" : "\n") + ShownName(process.name) + " (pid " +
            std::to_string(process.identity.pid) + ")\n";
    // What ended long before the others is no thread any more.
    constexpr int64_t kGoneAfterNs = 6'000'000'000;
    int64_t newest_ns = INT64_MIN;
    for (const auto& [tid, seen] : last) newest_ns = std::max(newest_ns, seen.end_ns);
    std::vector<const StackLooks*> threads;
    for (const auto& [tid, seen] : last) {
      if (seen.end_ns >= newest_ns - kGoneAfterNs) threads.push_back(&seen);
    }
    std::stable_sort(threads.begin(), threads.end(), [&](const auto* a, const auto* b) {
      return (a->tid == process.main_tid) > (b->tid == process.main_tid);
    });
    for (const StackLooks* seen : threads) text += ThreadText(process, *seen, now_ns);
  }
  return text;
}

}  // namespace gpubound
