// SPDX-License-Identifier: Apache-2.0
//
// Lists again until every mapping that is there was opened before. No state.
#include "analysis/reader/run_files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <system_error>
#include <tuple>

#include "analysis/base/folder_entries.h"
#include "analysis/base/in_parallel.h"
#include "analysis/base/plain_file.h"
#include "analysis/reader/process_presence.h"
#include "analysis/segments/run_info.h"
#include "analysis/segments/segment.h"
#include "proto/run_path.h"

namespace gpubound {
namespace {

namespace fs = std::filesystem;

constexpr char kRunDirectory[] = "a run directory (NAME-TIME-PID.gpubound)";
constexpr char kGiveDirectory[] = "Give the directory that `gpubound run` named when it ended.";

// Processes that begin all the time are not to keep the reader for ever.
constexpr int kMostListings = 8;

constexpr size_t kLongestReason = 512;

using FileNames = std::vector<std::pair<std::string, TraceFileName>>;

struct FileList {
  FileNames files;  // by name
  bool has_run_json = false;
  std::map<ProcessIdentity, std::string> unrecorded;  // paths
};

// One of the first three.
struct OpenedFile {
  std::optional<Segment> segment;
  std::optional<LiveFile> live;
  std::optional<Error> error;
  bool again = false;  // tried twice
};

// By path.
using OpenedFiles = std::map<std::string, OpenedFile>;

Error RunError(const std::string& path, const std::string& found, const std::string& remedy) {
  return {"reading the run", path, found, kRunDirectory, remedy};
}

// Of what is there and no directory.
Error NoDirectory(const fs::path& path, const fs::file_status& status) {
  const std::string name = path.filename().string();
  if (name == kRunInfoFile || ParseTraceFileName(name)) {
    const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
    return RunError(path.string(), "a file of a run",
                    "Give the directory that contains it, " + folder.string() + ".");
  }
  if (!fs::is_regular_file(status)) {
    return RunError(path.string(), "something that is neither file nor directory", kGiveDirectory);
  }
  std::error_code ignored;
  if (fs::file_size(path, ignored) == 0) {
    return RunError(path.string(), "an empty file", kGiveDirectory);
  }
  if (BeginsAsPart(path.string())) {
    return RunError(path.string(), "a part of a run, which holds no events",
                    "Give the run's directory. Reports, checks and comparisons take parts.");
  }
  return RunError(
      path.string(), "a file",
      std::string(kGiveDirectory) + " `gpubound import FILE` makes a run of another tool's trace.");
}

Result<FileList> ListFiles(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) return RunError(path, "nothing there", kGiveDirectory);
  if (!fs::is_directory(status)) return NoDirectory(path, status);
  FileList list;
  const std::vector<fs::directory_entry> entries = EntriesOf(path, &error);
  if (error) {
    return RunError(path, "a directory that cannot be listed (" + error.message() + ")",
                    "Check its permissions: a run is readable by its owner only.");
  }
  for (const fs::directory_entry& entry : entries) {
    const std::string name = entry.path().filename().string();
    if (name == kRunInfoFile) list.has_run_json = true;
    const std::optional<TraceFileName> parsed = ParseTraceFileName(name);
    if (parsed) list.files.emplace_back(entry.path().string(), *parsed);
    const std::optional<ProcessIdentity> unrecorded = ParseUnrecordedName(name);
    if (unrecorded) list.unrecorded.emplace(*unrecorded, entry.path().string());
  }
  std::sort(list.files.begin(), list.files.end(), [](const auto& a, const auto& b) {
    return std::tie(a.second.identity, a.second.segment, a.first) <
           std::tie(b.second.identity, b.second.segment, b.first);
  });
  if (list.files.empty() && list.unrecorded.empty() && !list.has_run_json) {
    return RunError(path, "a directory without a trace (no HOST.PID.START.SEGMENT.db)",
                    kGiveDirectory);
  }
  return list;
}

OpenedFile OpenFile(const std::string& path, const TraceFileName& name) {
  OpenedFile opened;
  if (name.live) {
    Result<LiveFile> live = LiveFile::Open(path);
    if (live.ok()) {
      opened.live = std::move(*live);
    } else {
      opened.error = live.error();
    }
  } else {
    Result<Segment> segment = Segment::Open(path, name);
    if (segment.ok()) {
      opened.segment = std::move(*segment);
    } else {
      opened.error = segment.error();
    }
  }
  return opened;
}

// Of |files| the mappings, or the databases, that were not opened yet; false: there is none. A
// mapping that cannot be read may be one that is being made: it is tried twice. Side by side.
bool OpenNew(const FileNames& files, bool live, OpenedFiles* opened) {
  FileNames fresh;
  for (const auto& [path, name] : files) {
    const auto before = opened->find(path);
    const bool is_new = before == opened->end();
    const bool again = live && !is_new && before->second.error && !before->second.again;
    if (name.live == live && (is_new || again)) fresh.emplace_back(path, name);
  }
  std::vector<OpenedFile> results(fresh.size());
  ForEachInParallel(fresh.size(),
                    [&](size_t f) { results[f] = OpenFile(fresh[f].first, fresh[f].second); });
  for (size_t f = 0; f < fresh.size(); ++f) {
    const auto before = opened->find(fresh[f].first);
    results[f].again = before != opened->end();
    opened->insert_or_assign(fresh[f].first, std::move(results[f]));
  }
  return !fresh.empty();
}

void KeepHosts(const std::set<std::string>& hosts, FileList* list) {
  std::erase_if(list->files,
                [&](const auto& file) { return !hosts.contains(file.second.identity.host); });
  std::erase_if(list->unrecorded, [&](const auto& of) { return !hosts.contains(of.first.host); });
}

// Lists until no mapping is there that was not opened before the listing, then opens the databases
// of that listing; where one of these has gone, as another command makes them smaller, once more.
Result<FileList> OpenAll(const std::string& path, const std::function<void()>& meanwhile,
                         const std::set<std::string>& hosts, OpenedFiles* opened) {
  for (int listing = 1;; ++listing) {
    Result<FileList> list = ListFiles(path);
    if (!list.ok()) return list;
    if (!hosts.empty()) KeepHosts(hosts, &*list);
    if (meanwhile) meanwhile();
    const bool last = listing >= kMostListings;
    if (OpenNew(list->files, /*live=*/true, opened) && !last) continue;
    OpenNew(list->files, /*live=*/false, opened);
    const auto has_gone = [&](const auto& file) {
      std::error_code ignored;
      return (*opened)[file.first].error.has_value() &&
             fs::symlink_status(file.first, ignored).type() == fs::file_type::not_found;
    };
    if (!last && std::any_of(list->files.begin(), list->files.end(), has_gone)) continue;
    std::erase_if(list->files, has_gone);
    return list;
  }
}

// Of processes that are only setting up their recording, or ended while they did: their mapping has
// not begun, so whatever their database lacks was never there.
std::set<ProcessIdentity> Beginning(const FileNames& files, const OpenedFiles& opened) {
  std::set<ProcessIdentity> beginning;
  for (const auto& [path, name] : files) {
    const OpenedFile& file = opened.at(path);
    const bool begun = !file.live || file.live->begun();
    if (begun || (!file.live->made() && PresenceOf(name.identity) != Presence::kThere)) continue;
    beginning.insert(name.identity);
  }
  return beginning;
}

// A process may be killed while it begins the file |name|. What it had recorded is in the files
// before it and in its mapping, which says how much that is.
bool WasBegun(const TraceFileName& name, const Error& error, const GroupedFiles& grouped) {
  if (!IsNeverWritten(error)) return false;
  const auto found = grouped.processes.find(name.identity);
  if (found == grouped.processes.end() || found->second.segments.empty()) return false;
  const std::optional<LiveFile>& live = found->second.live;
  return live && live->whole() && live->transactions() != 0 &&
         name.segment > found->second.segments.back().number();
}

GroupedFiles Group(const FileNames& files, OpenedFiles* opened) {
  std::vector<Segment> segments;
  for (const auto& [path, name] : files) {
    OpenedFile& file = (*opened)[path];
    if (file.segment) segments.push_back(std::move(*file.segment));
  }
  GroupedFiles grouped = GroupByProcess(std::move(segments));
  for (const auto& [path, name] : files) {
    std::optional<LiveFile>& live = (*opened)[path].live;
    // One that has not begun is of use only beside a database: it says that nothing else was there.
    const bool is_useful =
        live && live->made() && (live->begun() || grouped.processes.contains(name.identity));
    if (is_useful) AddLive(path, name, std::move(*live), &grouped);
    const auto of_process = grouped.processes.find(name.identity);
    if (name.live && of_process != grouped.processes.end()) of_process->second.live_path = path;
  }
  return grouped;
}

// One line, as far as it can be read.
std::string ReasonIn(const std::string& path) {
  if (IsNoPlainFile(path)) return {};
  std::ifstream file(path, std::ios::binary);
  std::string reason(kLongestReason, '\0');
  file.read(reason.data(), static_cast<std::streamsize>(reason.size()));
  reason.resize(static_cast<size_t>(std::max<std::streamsize>(0, file.gcount())));
  return reason.substr(0, reason.find('\n'));
}

bool ModeSaysUnrecorded(const std::string& path) {
  std::error_code error;
  const fs::perms mode = fs::status(path, error).permissions();
  return !error && mode == static_cast<fs::perms>(kUnrecordedMode);
}

}  // namespace

bool BeginsAsPart(const std::string& path) {
  if (IsNoPlainFile(path)) return false;
  std::ifstream file(path, std::ios::binary);
  std::string begin(kPartMagic.size(), '\0');
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return begin == kPartMagic;
}

Result<std::set<std::string>> HostsIn(const std::string& path) {
  const Result<FileList> list = ListFiles(path);
  if (!list.ok()) return list.error();
  std::set<std::string> hosts;
  for (const auto& [file, name] : list->files) hosts.insert(name.identity.host);
  for (const auto& [identity, file] : list->unrecorded) hosts.insert(identity.host);
  return hosts;
}

Result<RunFiles> OpenRunFiles(const std::string& path, const std::function<void()>& meanwhile,
                              const std::set<std::string>& hosts) {
  OpenedFiles opened;
  const Result<FileList> list = OpenAll(path, meanwhile, hosts, &opened);
  if (!list.ok()) return list.error();
  RunFiles files;
  files.has_run_json = list->has_run_json;
  files.has_silent_unrecorded = ModeSaysUnrecorded(path);
  for (const auto& [identity, file] : list->unrecorded) {
    files.unrecorded.emplace_back(identity, ReasonIn(file));
  }
  const std::set<ProcessIdentity> beginning = Beginning(list->files, opened);
  files.grouped = Group(list->files, &opened);
  for (const auto& [file, name] : list->files) {
    files.names.push_back(name);
    const std::optional<Error>& error = opened[file].error;
    if (!error || beginning.contains(name.identity)) continue;
    if (!WasBegun(name, *error, files.grouped)) files.unreadable.emplace_back(name, *error);
  }
  return files;
}

std::optional<ProcessFiles> FilesOf(const std::string& folder, const ProcessIdentity& identity) {
  Result<FileList> list = ListFiles(folder);
  if (!list.ok()) return std::nullopt;
  std::erase_if(list->files, [&](const auto& file) {
    const ProcessIdentity& named = file.second.identity;
    return named.pid != identity.pid || named.start_realtime_ns != identity.start_realtime_ns;
  });
  OpenedFiles opened;
  OpenNew(list->files, /*live=*/false, &opened);
  GroupedFiles grouped = Group(list->files, &opened);
  const auto again = grouped.processes.find(identity);
  if (again == grouped.processes.end()) return std::nullopt;
  return std::move(again->second);
}

std::optional<ProcessFiles> FilesIfClosedMeanwhile(const std::string& folder,
                                                   const ProcessIdentity& identity,
                                                   const ProcessFiles& files) {
  std::error_code ignored;
  if (files.live_path.empty() || fs::exists(files.live_path, ignored)) return std::nullopt;
  return FilesOf(folder, identity);
}

}  // namespace gpubound
