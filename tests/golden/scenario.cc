// SPDX-License-Identifier: Apache-2.0
//
// Parses scenarios into runs. One object, one thread.
#include "tests/golden/scenario.h"

#include <algorithm>
#include <bit>
#include <map>
#include <sstream>

#include "analysis/reader/late_ranks.h"
#include "analysis/reader/wait_channels.h"
#include "analysis/trace/label_roles.h"
#include "proto/scope_domains.h"
#include "proto/sync_types.h"
#include "proto/wake_tokens.h"

namespace gpubound::golden {
namespace {

std::string Trim(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

// A '#' that begins a comment has a space or nothing behind it; "#7" is a correlation id.
std::string WithoutComment(const std::string& line) {
  for (size_t at = line.find('#'); at != std::string::npos; at = line.find('#', at + 1)) {
    if (at + 1 == line.size() || line[at + 1] == ' ') return line.substr(0, at);
  }
  return line;
}

std::vector<std::string> Words(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  std::string word;
  while (stream >> word) words.push_back(word);
  return words;
}

std::string Joined(const std::vector<std::string>& words, size_t from) {
  std::string text;
  for (size_t i = from; i < words.size(); ++i) text += (i == from ? "" : " ") + words[i];
  return text;
}

Layer LayerOf(const std::string& name) {
  static const std::map<std::string, Layer> layers = {
      {"python", Layer::kPython},   {"wait", Layer::kWait},
      {"native", Layer::kNative},   {"simulator", Layer::kSimulator},
      {"backend", Layer::kBackend}, {"cuda_sync", Layer::kCudaSync},
  };
  const auto found = layers.find(name);
  return found == layers.end() ? Layer::kUnset : found->second;
}

class Parser {
 public:
  Scenario Parse(const std::string& text) {
    StartProcess(100, 0);
    AddDevice(4, 2);
    std::istringstream lines(text);
    std::string line;
    while (std::getline(lines, line)) {
      line = Trim(WithoutComment(line));
      if (!line.empty() && !Statement(line)) scenario_.mistakes.push_back(line);
    }
    FinishProcess();
    NameLateRanks(&scenario_.run);
    NameAwaitedProcesses(&scenario_.run);
    return std::move(scenario_);
  }

 private:
  void StartProcess(int64_t pid, int64_t parent) {
    ProcessTrace process;
    process.labels.resize(1);
    process.devices.resize(1);
    process.streams.resize(1);
    process.works.resize(1);
    if (!scenario_.run.processes.empty()) {
      process.devices = scenario_.run.processes.front().devices;
      process.streams = scenario_.run.processes.front().streams;
    }
    process.identity = {"host", pid, pid};
    process.parent_pid = parent;
    process.name = "program";
    process.device_kind = "real";
    process.main_tid = 1;
    process.python = true;
    process.span_end_ns = 100;
    process_ = std::move(process);
  }

  void FinishProcess() {
    Sort();
    scenario_.run.processes.push_back(std::move(process_));
  }

  bool Statement(const std::string& line) {
    const std::vector<std::string> w = Words(line);
    if (w[0] == "expect") return expectation_.Begin(w);
    if (expectation_.Line(line)) return true;
    expectation_.End();
    if (w[0] == "process" && w.size() == 3) {
      FinishProcess();
      StartProcess(std::stoll(w[1]), std::stoll(w[2]));
      return true;
    }
    if (w[0] == "span" && w.size() == 3) {
      process_.span_begin_ns = std::stoll(w[1]);
      process_.span_end_ns = std::stoll(w[2]);
      return true;
    }
    if (w[0] == "host" && w.size() == 3) {
      process_.identity.host = w[1];
      process_.clock_samples.push_back({.ticks = 0,
                                        .monotonic_ns = 0,
                                        .realtime_ns = std::stoll(w[2]),
                                        .source_ns = 0,
                                        .width_ns = 0});
      return true;
    }
    if (w[0] == "base" && w.size() == 2) {
      process_.python = w[1] == "python";
      return true;
    }
    if (w[0] == "role" && w.size() == 2) {
      process_.role = w[1];
      return true;
    }
    if (w[0] == "thread" && w.size() == 2) return AddThread(w[1]);
    if (w[0] == "look" && w.size() == 6) return Look(w);
    if (w[0] == "unknown" && w.size() == 3) {
      process_.unknown.push_back({std::stoll(w[1]), std::stoll(w[2]), "test"});
      return true;
    }
    if (w[0] == "operations" && w.size() == 2) {
      scenario_.options.operations.push_back(w[1]);
      return true;
    }
    if (w[0] == "device-name" && w.size() >= 3) {
      process_.devices.at(std::stoul(w[1])).name = Joined(w, 2);
      return true;
    }
    if (w[0] == "target" && w.size() >= 2) {
      const Result<Target> target = ParseTarget(Joined(w, 1));
      if (target.ok()) scenario_.options.targets.push_back(*target);
      return target.ok();
    }
    if (w[0] == "holder" && w.size() == 3) return Fact(kChannelHolderDomain, w);
    if (w[0] == "ends" && w.size() == 3) return Fact(kChannelEndsDomain, w);
    if (w[0] == "unused" && w.size() >= 3) return Raw(ScopeLabel(w, 1)) != 0;
    if (w[0] == "device") return DeviceLine(w);
    if (w[0] == "graph-node" && w.size() >= 4) return GraphNodeLine(w);
    if (w[0] == "reset" && w.size() >= 2) return Reset(w);
    if (w[0] == "call" && w.size() >= 5) return Call(w);
    if (w[0] == "overhead" && w.size() == 5) return OverheadLine(w);
    if (w[0][0] == '@' && w.size() >= 3) return Event(w);
    if ((w[0] == "stream-wait" || w[0] == "event-recorded") && w.size() >= 4) return SyncLine(w);
    if (w[0] == "repeat" && w.size() >= 6) return Repeated(w);
    return WorkLine(w);
  }
  // repeat TIMES EVERY work...
  bool Repeated(const std::vector<std::string>& w) {
    const int64_t every_ns = std::stoll(w[2]);
    std::vector<std::string> work(w.begin() + 3, w.end());
    const int64_t begin_ns = std::stoll(work[1]);
    const int64_t end_ns = std::stoll(work[2]);
    bool ok = true;
    for (int64_t turn = 0; turn < std::stoll(w[1]); ++turn) {
      work[1] = std::to_string(begin_ns + turn * every_ns);
      work[2] = std::to_string(end_ns + turn * every_ns);
      ok = ok && WorkLine(work);
    }
    return ok;
  }

  bool AddThread(const std::string& name) {
    ThreadTrace& thread = process_.threads.emplace_back();
    thread.name = name;
    thread.tid = static_cast<uint32_t>(process_.threads.size());
    thread.ordinal = static_cast<ThreadId>(thread.tid);
    return true;
  }

  ThreadTrace* Thread(const std::string& name) {
    for (ThreadTrace& thread : process_.threads) {
      if (thread.name == name) return &thread;
    }
    return nullptr;
  }

  LabelId LabelFor(LabelKind kind, const std::string& domain, const std::string& text,
                   Layer layer = Layer::kUnset) {
    for (size_t id = 1; id < process_.labels.size(); ++id) {
      const Label& label = process_.labels[id];
      if (label.kind == kind && label.domain == domain && label.text == text) {
        return static_cast<LabelId>(id);
      }
    }
    if (kind == LabelKind::kLayer && layer == Layer::kUnset) layer = LayerOf(text);
    process_.labels.push_back({kind, layer, domain, text});
    return static_cast<LabelId>(process_.labels.size() - 1);
  }

  LabelId Annotation(const std::string& name) {
    const size_t colon = name.find(':');
    const bool has_domain = colon != std::string::npos && colon + 1 < name.size() &&
                            name[colon + 1] != ':' && name.compare(0, 5, "nccl:") != 0;
    return has_domain
               ? LabelFor(LabelKind::kAnnotation, name.substr(0, colon), name.substr(colon + 1))
               : LabelFor(LabelKind::kAnnotation, "", name);
  }

  // "LAYER", or "LAYER:FUNCTION".
  LabelId LayerScope(const std::string& name) {
    const size_t colon = name.find(':');
    return colon == std::string::npos ? LabelFor(LabelKind::kLayer, "", name)
                                      : LabelFor(LabelKind::kLayer, "", name.substr(colon + 1),
                                                 LayerOf(name.substr(0, colon)));
  }

  // "operation WHAT", "rule WHAT", "layer LAYER", "annotation WHAT", from |w[from]| on.
  LabelId ScopeLabel(const std::vector<std::string>& w, size_t from) {
    const std::string name = Joined(w, from + 1);
    if (w[from] == "operation") return LabelFor(LabelKind::kOperation, "", name);
    if (w[from] == "rule") return LabelFor(LabelKind::kOperation, kRulesDomain, name);
    if (w[from] == "layer") return LayerScope(name);
    if (w[from] == "annotation") return Annotation(name);
    if (w[from] == "wait") return LabelFor(LabelKind::kLayer, kPeerDomain, name, Layer::kWait);
    if (w[from] == "wait-on")
      return LabelFor(LabelKind::kLayer, kChannelDomain, name, Layer::kWait);
    return LabelId{};
  }

  // A label that no event refers to.
  bool Fact(const char* domain, const std::vector<std::string>& w) {
    process_.labels.push_back({LabelKind::kLayer, Layer::kUnset, domain, Joined(w, 1)});
    return true;
  }

  bool Event(const std::vector<std::string>& w) {
    ThreadTrace* thread = Thread(w[1]);
    if (thread == nullptr) return false;
    ThreadEvent event;
    event.time_ns = std::stoll(w[0].substr(1));
    const std::string& verb = w[2];
    if ((verb == "begin" || verb == "end") && w.size() >= 5) {
      event.kind = verb == "begin" ? SlotKind::kBegin : SlotKind::kEnd;
      event.label = ScopeLabel(w, 3);
    } else if (verb == "ends" && w.size() == 3) {
      event.kind = SlotKind::kBegin;
      event.label = LabelFor(LabelKind::kLayer, kThreadEndDomain, kThreadEndText, Layer::kWait);
    } else if (verb == "phase" && w.size() >= 4) {
      event.kind = SlotKind::kPhase;
      event.label = LabelFor(LabelKind::kPhase, "", Joined(w, 3));
    } else if (verb == "counter" && w.size() == 5) {
      event.kind = SlotKind::kCounter;
      event.label = LabelFor(LabelKind::kCounter, "", w[3]);
      event.payload = std::bit_cast<uint64_t>(std::stod(w[4]));
    } else if (verb == "step" && w.size() == 4) {
      event.kind = SlotKind::kStep;
      event.payload = w[3] == "begin" ? kIterationsBegin : std::stoull(w[3]);
    } else if (verb == "pause" || verb == "resume") {
      event.kind = verb == "pause" ? SlotKind::kPause : SlotKind::kResume;
    } else if (verb == "range-start" && w.size() >= 5) {
      event.kind = SlotKind::kRangeStart;
      event.payload = std::stoull(w[3]);
      event.label = Annotation(Joined(w, 4));
    } else if (verb == "range-end" && w.size() == 4) {
      event.kind = SlotKind::kRangeEnd;
      event.payload = std::stoull(w[3]);
    } else if ((verb == "wake" || verb == "woken" || verb == "found") && w.size() == 4) {
      event.kind = verb == "wake" ? SlotKind::kHandOver : SlotKind::kAdopt;
      if (verb == "woken") event.kind = SlotKind::kWoken;
      const bool shared = w[3].starts_with("collective:");
      event.payload =
          shared ? kShared | std::stoull(w[3].substr(w[3].find(':') + 1)) : std::stoull(w[3]);
    } else if (verb == "hand-over" && w.size() >= 5) {
      event.kind = SlotKind::kHandOver;
      event.payload = std::stoull(w[3]);
      event.label = LabelFor(LabelKind::kOperation, "", Joined(w, 4));
    } else if (verb == "adopt" && w.size() >= 5) {  // as the recorder does: token, then scope
      event.kind = SlotKind::kAdopt;
      event.payload = std::stoull(w[3]);
      event.label = LabelFor(LabelKind::kOperation, "", Joined(w, 4));
      thread->events.push_back(event);
      event.kind = SlotKind::kBegin;
      event.payload = 0;
    } else {
      return false;
    }
    const bool known = event.kind != SlotKind::kBegin || Raw(event.label) != 0;
    thread->events.push_back(event);
    return known;
  }

  // "look THREAD BEGIN END on=NS ready=NS"
  bool Look(const std::vector<std::string>& w) {
    const ThreadTrace* thread = Thread(w[1]);
    if (thread == nullptr || !w[4].starts_with("on=") || !w[5].starts_with("ready=")) return false;
    process_.cpu_times.push_back({std::stoll(w[2]), std::stoll(w[3]), std::stoll(w[4].substr(3)),
                                  std::stoll(w[5].substr(6)), thread->tid});
    return true;
  }

  bool Reset(const std::vector<std::string>& w) {
    ThreadTrace* thread = Thread(w[1]);
    if (thread == nullptr) return false;
    StackReset reset;
    reset.event_index = thread->events.size();
    for (size_t i = 2; i < w.size(); ++i) {
      reset.open.push_back(LabelFor(LabelKind::kOperation, "", w[i]));
    }
    thread->resets.push_back(reset);
    return true;
  }

  static uint32_t CorrelationOf(const std::vector<std::string>& w) {
    for (const std::string& word : w) {
      if (word.size() > 1 && word[0] == '#') {
        return static_cast<uint32_t>(std::stoul(word.substr(1)));
      }
    }
    return 0;
  }

  bool Call(const std::vector<std::string>& w) {
    ThreadTrace* thread = Thread(w[1]);
    if (thread == nullptr) return false;
    thread->calls.push_back({std::stoll(w[2]), std::stoll(w[3]), CorrelationOf(w),
                             LabelFor(LabelKind::kApi, "", w[4]), 0});
    return true;
  }

  bool OverheadLine(const std::vector<std::string>& w) {
    ThreadTrace* thread = Thread(w[1]);
    if (thread == nullptr) return false;
    thread->overheads.push_back(
        {std::stoll(w[2]), std::stoll(w[3]), 0, LabelFor(LabelKind::kOverhead, "", w[4])});
    return true;
  }

  void AddDevice(uint32_t sms, uint32_t blocks) {
    Device& device = process_.devices.emplace_back();
    device.name = "device " + std::to_string(process_.devices.size() - 1);
    device.info.index = static_cast<uint32_t>(process_.devices.size() - 2);
    device.info.multiprocessors = sms;
    device.info.max_blocks_per_multiprocessor = blocks;
    device.info.max_warps_per_multiprocessor = 64;
    Stream& stream = process_.streams.emplace_back();
    stream.device = static_cast<DeviceId>(process_.devices.size() - 1);
  }

  static int64_t Option(const std::vector<std::string>& w, const std::string& key,
                        int64_t otherwise) {
    for (const std::string& word : w) {
      if (word.starts_with(key + "=")) return std::stoll(word.substr(key.size() + 1));
    }
    return otherwise;
  }

  bool DeviceLine(const std::vector<std::string>& w) {
    AddDevice(static_cast<uint32_t>(Option(w, "sms", 4)),
              static_cast<uint32_t>(Option(w, "blocks", 2)));
    return true;
  }

  // That of option stream, else the one that the device has at first.
  StreamId StreamOf(const std::vector<std::string>& w) {
    const auto device = static_cast<uint32_t>(Option(w, "device", 1));
    const auto number = static_cast<uint32_t>(Option(w, "stream", 0));
    if (number == 0) return static_cast<StreamId>(device);
    const Stream wanted = {static_cast<DeviceId>(device), device, number};
    for (size_t id = 1; id < process_.streams.size(); ++id) {
      const Stream& stream = process_.streams[id];
      if (stream.context == wanted.context && stream.stream == number) {
        return static_cast<StreamId>(id);
      }
    }
    process_.streams.push_back(wanted);
    return static_cast<StreamId>(process_.streams.size() - 1);
  }

  bool SyncLine(const std::vector<std::string>& w) {
    const Stream stream = process_.streams[Raw(StreamOf(w))];
    Sync& sync = process_.syncs.emplace_back();
    sync.start_ns = std::stoll(w[1]);
    sync.end_ns = std::stoll(w[2]);
    sync.event = std::stoull(w[3]);
    sync.correlation = CorrelationOf(w);
    sync.type = w[0] == "stream-wait" ? kSyncEventByStream : kSyncEventRecorded;
    sync.context = stream.context;
    sync.stream = stream.stream;
    return true;
  }

  bool GraphNodeLine(const std::vector<std::string>& w) {
    static const std::map<std::string, uint32_t> types = {
        {"kernel", 0}, {"copy", 1}, {"set", 2}, {"host", 3}};
    const auto type = types.find(w[2]);
    if (type == types.end()) return false;
    GraphNode& node = process_.graph_nodes.emplace_back();
    node.info.node = process_.graph_nodes.size();
    node.info.graph = static_cast<uint32_t>(std::stoul(w[1]));
    node.info.type = type->second;
    if (w.size() > 4) node.info.operation = LabelFor(LabelKind::kOperation, "", w[4]);
    node.name = w[3];
    return true;
  }

  bool WorkLine(const std::vector<std::string>& w) {
    static const std::map<std::string, WorkKind> kinds = {{"kernel", WorkKind::kKernel},
                                                          {"copy", WorkKind::kMemcpy},
                                                          {"set", WorkKind::kMemset},
                                                          {"graph", WorkKind::kGraph}};
    const auto kind = kinds.find(w[0]);
    if (kind == kinds.end() || w.size() < 4) return false;
    Work work;
    work.name = w[3];
    work.info.kind = kind->second;
    work.info.grid[0] = static_cast<uint32_t>(Option(w, "grid", 8));
    work.info.grid[1] = work.info.grid[2] = 1;
    work.info.block[0] = 32;
    work.info.block[1] = work.info.block[2] = 1;
    if (w.back() == "other-end") work.info.copy_kind = kCopyOtherEnd;
    process_.works.push_back(work);
    DeviceWork record;
    record.start_ns = std::stoll(w[1]);
    record.end_ns = std::stoll(w[2]);
    record.correlation = CorrelationOf(w);
    record.graph = static_cast<uint32_t>(Option(w, "id", 0));
    record.work = static_cast<WorkId>(process_.works.size() - 1);
    record.stream = StreamOf(w);
    process_.device_work.push_back(record);
    return true;
  }

  void Sort() {
    std::stable_sort(process_.device_work.begin(), process_.device_work.end(),
                     [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
    std::stable_sort(process_.syncs.begin(), process_.syncs.end(),
                     [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
    for (ThreadTrace& thread : process_.threads) {
      std::stable_sort(thread.calls.begin(), thread.calls.end(),
                       [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
    }
  }

  Scenario scenario_;
  ExpectationParser expectation_{&scenario_.expected};
  ProcessTrace process_;
};

}  // namespace

Scenario ParseScenario(const std::string& text) { return Parser().Parse(text); }

}  // namespace gpubound::golden
