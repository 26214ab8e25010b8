// SPDX-License-Identifier: Apache-2.0
//
// Takes one thing away after the other. No state beyond one call.
#include "tests/oracle/shrink_run.h"

#include <sstream>
#include <utility>
#include <vector>

namespace gpubound::oracle {
namespace {

using Fails = std::function<bool(const gpubound::Run&)>;

// Takes away single elements of the list that |list_of| finds in a run. Whether any was.
template <typename ListOf>
bool Thin(gpubound::Run* run, const Fails& fails, ListOf list_of) {
  bool any = false;
  for (size_t i = list_of(*run).size(); i-- > 0;) {
    gpubound::Run less = *run;
    auto& list = list_of(less);
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(i));
    if (!fails(less)) continue;
    *run = std::move(less);
    any = true;
  }
  return any;
}

bool ThinProcess(size_t p, gpubound::Run* run, const Fails& fails) {
  const auto of = [p](auto member) {
    return [p, member](gpubound::Run& of_run) -> auto& { return of_run.processes[p].*member; };
  };
  bool any = Thin(run, fails, of(&ProcessTrace::device_work));
  any |= Thin(run, fails, of(&ProcessTrace::unknown));
  for (size_t t = run->processes[p].threads.size(); t-- > 0;) {
    const auto of_thread = [p, t](auto member) {
      return [p, t, member](gpubound::Run& of_run) -> auto& {
        return of_run.processes[p].threads[t].*member;
      };
    };
    any |= Thin(run, fails, of_thread(&ThreadTrace::events));
    any |= Thin(run, fails, of_thread(&ThreadTrace::calls));
    any |= Thin(run, fails, of_thread(&ThreadTrace::overheads));
  }
  if (run->processes[p].threads.size() > 1) {
    gpubound::Run less = *run;
    less.processes[p].threads.pop_back();
    if (fails(less)) *run = std::move(less), any = true;
  }
  return any;
}

const char* NameOf(SlotKind kind) {
  switch (kind) {
    case SlotKind::kBegin:
      return "begin";
    case SlotKind::kEnd:
      return "end";
    case SlotKind::kPhase:
      return "phase";
    case SlotKind::kStep:
      return "step";
    case SlotKind::kRangeStart:
      return "range start";
    case SlotKind::kRangeEnd:
      return "range end";
    case SlotKind::kAdopt:
      return "adopt";
    case SlotKind::kHandOver:
      return "hand over";
    default:
      return "event";
  }
}

void Tell(const ProcessTrace& process, const ThreadTrace& thread, std::ostream& out) {
  out << "  thread " << thread.tid << (thread.tid == process.main_tid ? ", main\n" : "\n");
  for (const ThreadEvent& event : thread.events) {
    const Label& label = process.labels[Raw(event.label)];
    out << "    " << event.time_ns << " " << NameOf(event.kind)
        << (label.layer == Layer::kWait ? " wait " : " ") << label.domain << " '" << label.text
        << "' " << event.payload << "\n";
  }
  for (const ApiCall& call : thread.calls) {
    out << "    " << call.start_ns << ".." << call.end_ns << " call "
        << process.labels[Raw(call.label)].text << " " << call.correlation << "\n";
  }
  for (const Overhead& overhead : thread.overheads) {
    out << "    " << overhead.start_ns << ".." << overhead.end_ns << " "
        << process.labels[Raw(overhead.label)].text << "\n";
  }
}

}  // namespace

gpubound::Run Shrunk(gpubound::Run run, const Fails& fails) {
  for (bool any = true; any;) {
    any = Thin(&run, fails, [](gpubound::Run& of) -> auto& { return of.processes; });
    for (size_t p = run.processes.size(); p-- > 0;) any |= ThinProcess(p, &run, fails);
  }
  return run;
}

std::string InWords(const gpubound::Run& run) {
  std::ostringstream out;
  for (const ProcessTrace& process : run.processes) {
    out << "process " << process.identity.host << " " << process.identity.pid << ", start "
        << process.identity.start_realtime_ns << ", " << process.span_begin_ns << ".."
        << process.span_end_ns << (process.python ? ", python\n" : "\n");
    for (const Label& label : process.labels) {
      if (label.domain.starts_with("channel ")) {
        out << "  " << label.domain << ": " << label.text << "\n";
      }
    }
    for (const ThreadTrace& thread : process.threads) Tell(process, thread, out);
    for (const DeviceWork& work : process.device_work) {
      out << "  " << work.start_ns << ".." << work.end_ns << " work " << Raw(work.work) << " of "
          << work.correlation << " on stream " << Raw(work.stream) << " of device "
          << Raw(process.streams[Raw(work.stream)].device) << ", node " << work.graph_node << "\n";
    }
    for (const UnknownInterval& unknown : process.unknown) {
      out << "  " << unknown.start_ns << ".." << unknown.end_ns << " unknown\n";
    }
  }
  return out.str();
}

}  // namespace gpubound::oracle
