// SPDX-License-Identifier: Apache-2.0
//
// Looks up what rows refer to, and notes what is not there. One object, one thread.
#include "analysis/import/nsys_export.h"

#include <utility>

namespace gpubound {

NsysExport::NsysExport(std::string path, Database database, ForeignTrace* trace)
    : path_(std::move(path)), database_(std::move(database)), trace_(*trace) {}

Status NsysExport::ReadStrings() {
  NsysTable table(&database_, "StringIds", {"id", "value"});
  if (!CanRead(table, 2, /*hides_work=*/false)) return Ok{};
  while (table.Step()) strings_[table.Int(0).value_or(0)] = table.Text(1);
  return Checked(table);
}

const std::string& NsysExport::StringOf(std::optional<int64_t> id) const {
  static const std::string none;
  const auto found = strings_.find(id.value_or(-1));
  return found == strings_.end() ? none : found->second;
}

void NsysExport::LoseName(const NsysTable& table) {
  ++names_lost_;
  tables_with_lost_names_.insert(table.name());
}

uint32_t NsysExport::ProcessOf(int64_t global) {
  const uint32_t process = trace_.names.Process(std::to_string(NsysPid(global)));
  trace_.names.processes()[process].only_python = false;
  return process;
}

uint32_t NsysExport::ThreadOf(int64_t global) {
  const auto [entry, added] = thread_of_.try_emplace(global, kNoIndex);
  if (added) {
    entry->second = trace_.names.Thread(ProcessOf(global), std::to_string(NsysTid(global)));
  }
  return entry->second;
}

bool NsysExport::CanRead(const NsysTable& table, int required, bool hides_work) {
  if (table.HasFirst(required)) return true;
  if (!table.HasRows(&database_)) return false;
  const std::string what =
      "table " + table.name() + " of the export has no column " + table.MissingOfFirst(required);
  ForeignGap gap;
  gap.counter = LedgerCounter::import_tables_incomplete;
  gap.note = what + ", so nothing of it was read";
  if (hides_work) {
    gap.note += " and GPU time of all processes is unknown where nothing else ran";
    gap.why_hidden = what;
  }
  gap.note += ". Export the report again, with `nsys export --type sqlite`.";
  trace_.gaps.push_back(std::move(gap));
  return false;
}

Status NsysExport::Checked(const NsysTable& table) const {
  if (!table.failed()) return Ok{};
  return Error{"importing the trace", path_,
               "table " + table.name() + " that cannot be read (" +
                   database_.LastErrorOf(table.name()) + ")",
               "a complete export of Nsight Systems", "Export the report again."};
}

void NsysExport::NoteLostNames() {
  if (names_lost_ == 0) return;
  std::string tables;
  for (const std::string& table : tables_with_lost_names_) {
    tables += (tables.empty() ? "" : ", ") + table;
  }
  ForeignGap gap;
  gap.counter = LedgerCounter::import_names_missing;
  gap.count = names_lost_;
  gap.note = "rows of " + tables +
             " have names that are not in the export: no column says which, "
             "or table StringIds does not hold them.";
  trace_.gaps.push_back(std::move(gap));
}

}  // namespace gpubound
