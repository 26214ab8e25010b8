// SPDX-License-Identifier: Apache-2.0
//
// Writes tables as Parquet. No state.
#include "analysis/output/export/export_parquet.h"

#include <sys/stat.h>

#include <map>
#include <memory>
#include <set>
#include <string_view>

#include "analysis/output/export/output_file.h"
#include "analysis/output/export/parquet_file.h"
#include "analysis/output/tables/run_wide_table.h"

namespace gpubound {
namespace {

// A table of one machine, or of all.
class Part {
 public:
  static Result<std::unique_ptr<Part>> Create(const std::string& path, const RunWideTable& table) {
    Result<std::unique_ptr<OutputFile>> file = OutputFile::Create(path, /*replace=*/false);
    if (!file.ok()) return file.error();
    return std::unique_ptr<Part>(new Part(std::move(*file), table));  // NOLINT: private constructor
  }
  ParquetFile& rows() { return rows_; }
  Status Commit() {
    rows_.Finish({{"gpubound.format", kTablesFormat},
                  {"gpubound.version", GPUBOUND_VERSION},
                  {"gpubound.table", table_.table().name}});
    return file_->Commit();
  }

 private:
  Part(std::unique_ptr<OutputFile> file, const RunWideTable& table)
      : table_(table), file_(std::move(file)), rows_(table.columns(), file_.get()) {}
  const RunWideTable& table_;
  const std::unique_ptr<OutputFile> file_;
  ParquetFile rows_;
};

// |folder|/machine=HOST, with a slash; empty for all machines together.
std::string FolderOf(const std::string& host) {
  return host.empty() ? std::string() : kMachineFolder + FolderName(host) + "/";
}

class TableWriter {
 public:
  TableWriter(const TraceTable& table, const std::set<std::string>& hosts,
              const std::string& folder)
      : table_(table), is_split_(hosts.size() > 1 && table_.process_column()), folder_(folder) {
    if (!is_split_) {
      hosts_ = {""};
    } else {
      hosts_ = hosts;
    }
  }

  Status Write(TraceRun* run, const RunTimes* times) {
    // Each machine has each table, so that whoever reads all of them finds one schema.
    for (const std::string& host : hosts_) {
      const std::string name = folder_ + "/" + FolderOf(host) + table_.table().name;
      Result<std::unique_ptr<Part>> part = Part::Create(name + kParquetEnding, table_);
      if (!part.ok()) return part.error();
      parts_[host] = std::move(*part);
    }
    Part* open = nullptr;
    const std::unique_ptr<RowCursor> rows = table_.Open(run, times);
    while (rows->Next()) {
      Part* const part = parts_.at(is_split_ ? HostOf(*rows, *run) : std::string()).get();
      // Rows of a machine come together: what is held is one machine's.
      if (open != nullptr && open != part) open->rows().EndRowGroup();
      open = part;
      part->rows().AddRow(*rows);
    }
    for (const auto& [host, part] : parts_) {
      if (const Status done = part->Commit(); !done.ok()) return done;
    }
    return Ok{};
  }

 private:
  std::string HostOf(const RowCursor& row, const TraceRun& run) const {
    return run.process(ProcessOfRow(row, *table_.process_column())).identity.host;
  }
  const RunWideTable table_;
  const bool is_split_;
  const std::string& folder_;
  std::set<std::string> hosts_;
  std::map<std::string, std::unique_ptr<Part>> parts_;
};

}  // namespace

Status WriteParquetTables(TraceRun* run, const RunTimes* times, const std::string& folder) {
  std::set<std::string> hosts;
  for (size_t p = 0; p < run->processes(); ++p) hosts.insert(run->process(p).identity.host);
  for (const std::string& host : hosts) {
    if (hosts.size() > 1) mkdir((folder + "/" + FolderOf(host)).c_str(), S_IRWXU);
  }
  for (const TraceTable& table : AllTraceTables()) {
    const Status written = TableWriter(table, hosts, folder).Write(run, times);
    if (!written.ok()) return written;
  }
  return Ok{};
}

}  // namespace gpubound
