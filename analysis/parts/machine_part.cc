// SPDX-License-Identifier: Apache-2.0
//
// Takes a machine out of a run, and puts machines together. No state.
#include "analysis/parts/machine_part.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "analysis/attribution/build_report.h"
#include "analysis/processes/clock_align.h"
#include "analysis/processes/collective_cursor.h"
#include "analysis/processes/run_frame.h"
#include "analysis/reader/machines.h"
#include "analysis/reader/process_presence.h"
#include "analysis/reader/reader.h"
#include "analysis/reader/run_files.h"
#include "analysis/segments/run_info.h"
#include "analysis/segments/run_sums.h"
#include "analysis/segments/trace_file_name.h"
#include "analysis/trace/event_source.h"
#include "analysis/trace/row_names.h"

namespace gpubound {
namespace {

// The place of |value| in |values|, at the end where it was not there.
template <typename Key, typename Value>
uint64_t PlaceOf(const Key& key, const Value& value, std::map<Key, uint64_t>* places,
                 std::vector<Value>* values) {
  const auto [place, is_new] = places->try_emplace(key, values->size());
  if (is_new) values->push_back(value);
  return place->second;
}

CollectiveColumns CollectivesOf(const ProcessTrace& process) {
  CollectiveColumns columns;
  std::map<std::string, uint64_t> names;
  std::map<uint32_t, uint64_t> streams;
  int64_t before_ns = 0;
  for (CollectiveCursor cursor(process, 0, nullptr); cursor.Peek() != nullptr; cursor.Pop()) {
    const Interval time = cursor.Time();
    columns.begins_ns.push_back(time.begin_ns - before_ns);
    columns.lengths_ns.push_back(static_cast<uint64_t>(time.length()));
    columns.name.push_back(PlaceOf(cursor.name(), cursor.name(), &names, &columns.names));
    const uint32_t stream = Raw(cursor.stream());
    columns.stream.push_back(PlaceOf(stream, stream, &streams, &columns.streams));
    if (columns.devices.size() < columns.streams.size()) {
      columns.devices.push_back(static_cast<uint32_t>(cursor.device()));
    }
    before_ns = time.begin_ns;
  }
  return columns;
}

// What a report says beside figures: no events and none of their names.
ProcessTrace FactsOf(ProcessTrace process) {
  std::erase_if(process.threads, [&process](const ThreadTrace& thread) {
    return std::none_of(process.lost_scopes.begin(), process.lost_scopes.end(),
                        [&](const LostScopes& lost) { return lost.thread == thread.ordinal; });
  });
  // The first one says what the realtime of the trace is.
  if (process.clock_samples.size() > 1) process.clock_samples.resize(1);
  return process;
}

std::string BootIdOf(const Run& run) {
  for (const ProcessTrace& process : run.processes) {
    if (!process.boot_id.empty()) return process.boot_id;
  }
  return {};
}

std::vector<std::shared_ptr<const EventSource>> SourcesOf(const Run& run) {
  std::vector<std::shared_ptr<const EventSource>> sources;
  for (const ProcessTrace& process : run.processes) sources.push_back(process.source);
  return sources;
}

// Takes the processes |numbers| out of |run|, which have nothing in common with the others but what
// |tells_run| says: of that one part tells.
Run TakeMachine(const std::vector<size_t>& numbers, bool tells_run, Run* run) {
  Run machine;
  machine.path = run->path;
  machine.info = run->info;
  machine.steps = run->steps;
  std::set<std::string> hosts;
  for (const size_t p : numbers) {
    hosts.insert(run->processes[p].identity.host);
    machine.processes.push_back(std::move(run->processes[p]));
  }
  for (const ProcessIdentity& lost : run->lost) {
    if (hosts.contains(lost.host)) machine.lost.push_back(lost);
  }
  if (!tells_run) return machine;
  machine.problems = std::move(run->problems);
  machine.ledger = run->ledger;
  return machine;
}

// Those of |lateness| that are in |run|.
std::vector<LateRank> LateIn(const Run& run, const Lateness& lateness) {
  std::vector<LateRank> late;
  for (size_t p = 0; p < run.processes.size(); ++p) {
    const ProcessTrace& process = run.processes[p];
    for (const Lateness::Rank& of : lateness.ranks) {
      if (of.pid != process.identity.pid || of.boot_id != process.boot_id ||
          of.start_realtime_ns != process.identity.start_realtime_ns) {
        continue;
      }
      late.push_back(of.rank);
      late.back().process = p;
    }
  }
  return late;
}

// Of all machines that are in |run|.
Result<std::vector<MachinePart>> PartsOf(Run run, const BreakdownOptions& options,
                                         const Lateness& lateness) {
  const std::vector<std::vector<size_t>> machines = MachinesOf(run);
  const auto is_launchers = [&run](const std::vector<size_t>& processes) {
    return run.info && run.processes[processes.front()].identity.host == run.info->host;
  };
  const auto found = std::find_if(machines.begin(), machines.end(), is_launchers);
  const auto teller = found == machines.end() ? machines.begin() : found;
  std::vector<MachinePart> parts;
  if (machines.empty()) {  // nothing but what the launcher says
    const std::string host = run.info ? run.info->host : "";
    Result<MachinePart> part = PartOf(std::move(run), host, options);
    if (!part.ok()) return part.error();
    parts.push_back(std::move(*part));
    return parts;
  }
  for (auto machine = machines.begin(); machine != machines.end(); ++machine) {
    const std::string host = run.processes[machine->front()].identity.host;
    Run of_machine = TakeMachine(*machine, machine == teller, &run);
    std::vector<LateRank> late = LateIn(of_machine, lateness);
    Result<MachinePart> part = PartOf(std::move(of_machine), host, options, std::move(late));
    if (!part.ok()) return part.error();
    parts.push_back(std::move(*part));
    parts.back().late_among = lateness.among;
  }
  return parts;
}

// Events of |columns| in |process|, which has the facts.
void AddCollectives(const CollectiveColumns& columns, ProcessTrace* process) {
  process->works.resize(1);
  for (const std::string& name : columns.names) {
    Work& work = process->works.emplace_back();
    work.info.kind = WorkKind::kKernel;
    work.name = name;
  }
  for (size_t s = 0; s < columns.streams.size(); ++s) {
    const uint32_t stream = columns.streams[s];
    if (process->streams.size() <= stream) process->streams.resize(size_t{stream} + 1);
    process->streams[stream].device = static_cast<DeviceId>(columns.devices[s]);
  }
  int64_t begin_ns = 0;
  for (size_t k = 0; k < columns.begins_ns.size(); ++k) {
    begin_ns += columns.begins_ns[k];
    DeviceWork& work = process->device_work.emplace_back();
    work.start_ns = begin_ns;
    work.end_ns = begin_ns + static_cast<int64_t>(columns.lengths_ns[k]);
    work.work = static_cast<WorkId>(columns.name[k] + 1);
    work.stream = static_cast<StreamId>(columns.streams[columns.stream[k]]);
  }
}

// Of several launchers, as where each machine had one, the first to start is the run's, and all that
// any has listed was recorded.
std::optional<RunInfo> LauncherOf(const std::vector<MachinePart>& parts) {
  std::optional<RunInfo> first;
  std::set<std::string> recorded;
  const auto key = [](const RunInfo& info) {
    return std::tie(info.start_realtime_ns, info.host, info.root_pid);
  };
  for (const MachinePart& part : parts) {
    for (const RunInfo& info : part.launchers) {
      recorded.insert(info.recorded.begin(), info.recorded.end());
      if (!first || key(info) < key(*first)) first = info;
    }
  }
  if (first) first->recorded.assign(recorded.begin(), recorded.end());
  return first;
}

void AddOnce(const std::vector<std::string>& lines, std::vector<std::string>* all) {
  for (const std::string& line : lines) {
    if (std::find(all->begin(), all->end(), line) == all->end()) all->push_back(line);
  }
}

// The processes of all parts, and for each part what numbers its own have.
struct Numbered {
  std::vector<PartProcess> processes;
  std::vector<std::vector<size_t>> numbers;
};

Numbered NumberProcesses(std::vector<MachinePart>* parts) {
  Numbered numbered;
  std::vector<std::pair<const ProcessIdentity*, std::pair<size_t, size_t>>> all;
  for (size_t m = 0; m < parts->size(); ++m) {
    std::vector<PartProcess>& processes = (*parts)[m].processes;
    numbered.numbers.emplace_back(processes.size());
    for (size_t p = 0; p < processes.size(); ++p) {
      all.push_back({&processes[p].facts.identity, {m, p}});
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return *a.first < *b.first; });
  for (const auto& [identity, place] : all) {
    numbered.numbers[place.first][place.second] = numbered.processes.size();
    numbered.processes.push_back(std::move((*parts)[place.first].processes[place.second]));
  }
  return numbered;
}

void Renumber(const std::vector<size_t>& numbers, MachineShare* machine) {
  const auto renumber = [&numbers](size_t* number) { *number = numbers[*number]; };
  for (size_t& process : machine->processes) renumber(&process);
  std::sort(machine->processes.begin(), machine->processes.end());
  for (DeviceUsage& device : machine->devices) {
    for (size_t& process : device.seen_by) renumber(&process);
    std::sort(device.seen_by.begin(), device.seen_by.end());
    for (DeviceBand& band : device.bands) renumber(&band.process);
  }
}

void Rename(const std::string& host, const std::string& name, MachinePart* part) {
  const auto rename = [&](std::string* of) {
    if (*of == host) *of = name;
  };
  for (PartProcess& process : part->processes) {
    rename(&process.facts.identity.host);
    rename(&process.share.report.host);
  }
  for (ProcessIdentity& lost : part->lost) rename(&lost.host);
  for (UnprofiledUse& use : part->machine.company.uses) rename(&use.host);
  if (!part->training || !part->training->roles) return;
  for (ReportRole& role : part->training->roles->roles) {
    for (ReportRoleProcess& process : role.processes) rename(&process.host);
  }
}

// As SeparateMachines() does in a run.
void SeparateParts(const std::optional<RunInfo>& launcher, std::vector<MachinePart>* parts,
                   std::vector<std::string>* problems) {
  MachineNames names;
  if (launcher) names.Of(launcher->host, launcher->boot_id);
  std::map<std::string, size_t> renamed;
  for (MachinePart& part : *parts) {
    const std::string name = names.Of(part.host, part.boot_id);
    if (name == part.host) continue;
    ++renamed[part.host];
    Rename(part.host, name, &part);
  }
  for (const auto& [host, times] : renamed) {
    problems->push_back(NoteOnSharedName(host, times + 1));
  }
}

// A device of which two parts tell: they are of one machine, and what it did in all is in neither.
Status CheckDevices(const std::vector<MachinePart>& parts) {
  std::map<std::string, const MachinePart*> owners;
  for (const MachinePart& part : parts) {
    for (const DeviceUsage& device : part.machine.devices) {
      if (!device.used || device.uuid.empty()) continue;
      const auto [owner, is_new] = owners.emplace(device.uuid, &part);
      if (is_new || owner->second == &part) continue;
      return Error{
          "putting parts of a run together", part.run,
          "device " + device.uuid + " in the parts of " + owner->second->host + " and " + part.host,
          "each device in one part", "Make one part of a folder that has the files of both."};
    }
  }
  return Ok{};
}

// The root alone says what it waited for under no operation (awaited.h).
void KeepAwaitedOfRoot(size_t root, const Run& run, RunShare* share) {
  for (size_t p = 0; p < run.processes.size(); ++p) {
    if (p == root) continue;
    std::erase_if(share->processes[p].report.awaited,
                  [](const ReportAwaited& row) { return row.operation == kNoOperation; });
  }
}

std::vector<std::string> KeysOf(const std::vector<MachinePart>& parts) {
  std::vector<std::string> keys;
  for (const MachinePart& part : parts) keys.push_back(KeyOf(part));
  std::sort(keys.begin(), keys.end());
  return keys;
}

// Of the only machine: what those of several did together none of them knows.
void TakeTraining(const std::vector<size_t>& numbers, MachinePart* part, RunShare* share) {
  if (!part->training) return;
  if (part->training->roles) {
    for (ReportRole& role : part->training->roles->roles) {
      for (ReportRoleProcess& process : role.processes) process.place = numbers[process.place];
    }
  }
  share->training = std::move(part->training);
}

void AddMachines(const std::vector<std::vector<size_t>>& numbers, std::vector<MachinePart>* parts,
                 CombinedRun* combined) {
  const std::vector<std::string> keys = KeysOf(*parts);
  const size_t root = FrameOf(combined->run).root;
  for (size_t m = 0; m < parts->size(); ++m) {
    const std::vector<size_t>& own = numbers[m];
    if (own.empty()) continue;
    const bool for_run = parts->size() == 1 || std::find(own.begin(), own.end(), root) != own.end();
    MachinePart& part = (*parts)[m];
    MachineShare& machine = for_run ? part.as_root : part.machine;
    Renumber(own, &machine);
    combined->share.machines.push_back(std::move(machine));
    if (part.late_among != keys) continue;
    for (LateRank& rank : part.late) {
      rank.process = own[rank.process];
      combined->share.late.push_back(std::move(rank));
    }
  }
  KeepAwaitedOfRoot(root, combined->run, &combined->share);
  if (parts->size() == 1) TakeTraining(numbers.front(), &parts->front(), &combined->share);
}

std::string Listed(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ",") + name;
  return list.empty() ? "none" : list;
}

}  // namespace

std::string KeyOf(const MachinePart& part) {
  std::string key = part.boot_id.empty() ? part.host : part.boot_id;
  const auto began = [](const PartProcess& process) {
    const ProcessIdentity& identity = process.facts.identity;
    return std::pair(identity.start_realtime_ns, identity.pid);
  };
  const auto first = std::min_element(
      part.processes.begin(), part.processes.end(),
      [&began](const PartProcess& a, const PartProcess& b) { return began(a) < began(b); });
  if (first == part.processes.end()) return key;
  return key + " " + std::to_string(began(*first).second) + "." +
         std::to_string(began(*first).first);
}

Result<MachinePart> PartOf(Run run, const std::string& host, const BreakdownOptions& options,
                           std::vector<LateRank> late) {
  Result<ShareOfMachine> share = ShareOfOneMachine(run, options, std::move(late));
  if (!share.ok()) return share.error();
  MachinePart part;
  part.version = GPUBOUND_VERSION;
  part.made_realtime_ns = RealtimeNow();
  part.boot_id = BootIdOf(run);
  part.host = host;
  part.operations = options.operations;
  if (run.info) part.launchers.push_back(std::move(*run.info));
  part.run = std::move(run.path);
  part.steps = std::move(run.steps);
  part.problems = std::move(run.problems);
  part.notes = std::move(share->notes);
  part.lost = std::move(run.lost);
  part.ledger = run.ledger;
  for (size_t p = 0; p < run.processes.size(); ++p) {
    PartProcess& process = part.processes.emplace_back();
    process.collectives = CollectivesOf(run.processes[p]);
    process.facts = FactsOf(std::move(run.processes[p]));
    process.share = std::move(share->processes[p]);
  }
  part.machine = std::move(share->machine);
  part.as_root = std::move(share->as_root);
  part.late = std::move(share->late);
  part.training = std::move(share->training);
  return part;
}

Result<Lateness> LatenessOf(std::vector<MachinePart> parts) {
  Lateness lateness;
  lateness.among = KeysOf(parts);
  BreakdownOptions options;
  if (!parts.empty()) options.operations = parts.front().operations;
  const Result<CombinedRun> combined = CombineParts(std::move(parts));
  if (!combined.ok()) return combined.error();
  for (LateRank& rank : LateRanksOf(combined->run, combined->share, options)) {
    const ProcessTrace& process = combined->run.processes[rank.process];
    lateness.ranks.push_back({process.identity.pid, process.identity.start_realtime_ns,
                              process.boot_id, process.identity.host, std::move(rank)});
  }
  return lateness;
}

Result<std::vector<MachinePart>> MakeParts(const std::string& path, const std::string& host,
                                           const std::vector<std::string>& operations,
                                           const Lateness& lateness) {
  Result<std::set<std::string>> hosts = HostsIn(path);
  if (!hosts.ok()) return hosts.error();
  const auto is_wanted = [&host](const std::string& in_name) {
    return host.empty() || IsNameOfHost(in_name, host);
  };
  if (!host.empty() && std::none_of(hosts->begin(), hosts->end(), is_wanted)) {
    return Error{
        "making a part of the run", path, "no file of host " + host,
        "files of " + (hosts->empty() ? "any host" : Listed({hosts->begin(), hosts->end()})),
        "Name a host that the files here begin with, or leave --machine out."};
  }
  const Result<std::shared_ptr<const RunSums>> sums = ReadRunSums(path);
  if (!sums.ok()) return sums.error();
  if (*sums != nullptr) {
    return Error{"making a part of the run", path, "a run that was compacted", "all of its events",
                 "Make the parts before the run is compacted."};
  }
  const Result<RunInfo> launcher = ReadRunInfo(path + "/" + kRunInfoFile);
  const bool launcher_is_here = launcher.ok() && hosts->contains(launcher->host);
  const std::string teller = launcher_is_here ? launcher->host
                             : hosts->empty() ? ""
                                              : *hosts->begin();
  MachineOfRun machine;
  std::copy_if(hosts->begin(), hosts->end(), std::inserter(machine.hosts, machine.hosts.end()),
               is_wanted);
  machine.tells_run = machine.hosts.contains(teller);
  BreakdownOptions options;
  options.operations = operations;
  options.finds_lost_kernels = true;
  for (;;) {
    Result<Run> run = ReadMachine(path, machine);
    if (!run.ok()) return run.error();
    const std::vector<std::shared_ptr<const EventSource>> sources = SourcesOf(*run);
    Result<std::vector<MachinePart>> parts = PartsOf(std::move(*run), options, lateness);
    const bool failed = std::any_of(sources.begin(), sources.end(), [](const auto& source) {
      return source != nullptr && source->failed();
    });
    if (!failed || machine.loads) return parts;
    machine.loads = true;
  }
}

MachinePart AbsentPart(const std::string& name, const std::string& why) {
  MachinePart part;
  part.version = GPUBOUND_VERSION;
  part.host = name;
  part.lost.push_back({name, 0, 0});
  ++part.ledger[static_cast<size_t>(LedgerCounter::processes_missing)];
  part.problems.push_back("Nothing came from " + name + (why.empty() ? "" : ": " + why) +
                          ". What its processes did is not in this report.");
  return part;
}

Result<CombinedRun> CombineParts(std::vector<MachinePart> parts) {
  CombinedRun combined;
  std::sort(parts.begin(), parts.end(), [](const MachinePart& a, const MachinePart& b) {
    return std::tie(a.host, a.boot_id) < std::tie(b.host, b.boot_id);
  });
  for (const MachinePart& part : parts) {
    if (part.operations == parts.front().operations) continue;
    return Error{
        "putting parts of a run together", part.run,
        "--operations " + Listed(part.operations) + " for " + part.host,
        "--operations " + Listed(parts.front().operations) + ", as for " + parts.front().host,
        "Make all parts with the same --operations."};
  }
  Run& run = combined.run;
  if (!parts.empty()) combined.operations = parts.front().operations;
  run.info = LauncherOf(parts);
  const Status devices = CheckDevices(parts);
  if (!devices.ok()) return devices.error();
  SeparateParts(run.info, &parts, &run.problems);
  Numbered numbered = NumberProcesses(&parts);
  for (size_t m = 0; m < parts.size(); ++m) {
    MachinePart& part = parts[m];
    if (run.path.empty()) run.path = part.run;
    if (run.steps.empty()) run.steps = part.steps;
    AddOnce(part.problems, &run.problems);
    AddOnce(part.notes, &combined.share.notes);
    run.lost.insert(run.lost.end(), part.lost.begin(), part.lost.end());
    for (size_t i = 0; i < run.ledger.size(); ++i) run.ledger[i] += part.ledger[i];
  }
  for (PartProcess& process : numbered.processes) {
    AddCollectives(process.collectives, &process.facts);
    run.processes.push_back(std::move(process.facts));
    combined.share.processes.push_back(std::move(process.share));
  }
  AddMachines(numbered.numbers, &parts, &combined);
  NoteWhoIsMissing(&run);
  return combined;
}

}  // namespace gpubound
