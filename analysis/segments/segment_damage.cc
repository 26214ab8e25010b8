// SPDX-License-Identifier: Apache-2.0
//
// Puts the note together. No state.
#include "analysis/segments/segment_damage.h"

#include "analysis/base/text_table.h"

#include <algorithm>

namespace gpubound {
namespace {

const char* FamilyName(EventFamily family) {
  switch (family) {
    case EventFamily::kThread:
      return "thread events";
    case EventFamily::kApi:
      return "API calls";
    case EventFamily::kDevice:
      return "device work";
    case EventFamily::kSync:
      return "synchronisations";
    case EventFamily::kOverhead:
      return "overheads";
    case EventFamily::kCpuTime:
      return "times on a CPU";
    case EventFamily::kStack:
      return "looks at stacks";
    case EventFamily::kNone:
      break;
  }
  return "events of no known family";
}

// "tables work, chunk can be read in part only (no such table: work)"; no table, no text.
std::string TablesText(const std::vector<SegmentDamage::Table>& tables) {
  if (tables.empty()) return {};
  std::string text = tables.size() == 1 ? "table " : "tables ";
  for (const SegmentDamage::Table& table : tables) {
    if (&table != &tables.front()) text += ", ";
    text += table.name;
  }
  return text + " can be read in part only (" + tables.front().why + ")";
}

// Chunks that are listed say how many events they hold; of those that no row tells of any more only
// what was recorded after them does.
std::string LossText(const SegmentDamage& damage, uint64_t known_lost) {
  if (damage.Has("chunk")) {
    return known_lost == 0 ? "How many events are lost is not known."
                           : "At least " + Counted(known_lost, "event") +
                                 " of the process are lost; how many more is not known.";
  }
  if (damage.chunks == 0) return "No events are lost.";
  return Counted(damage.events, "event") + " in " + Counted(damage.chunks, "chunk") + " are lost.";
}

}  // namespace

bool SegmentDamage::Has(const std::string& table) const {
  return std::any_of(tables.begin(), tables.end(),
                     [&table](const Table& cut) { return cut.name == table; });
}

bool SegmentDamage::HidesDeviceWork() const {
  return Has("device") || Has("stream") || Has("work") || Has("unknown");
}

bool SegmentDamage::IsCut() const {
  if (!extent || !extent->IsCut()) return false;
  return !extent->has_log || !tables.empty() || chunks != 0;
}

std::string NoteOn(const std::string& path, const SegmentDamage& damage, uint64_t known_lost) {
  if (damage.never_written) {
    return path +
           ": found no table, expected those of a segment: the disk was full, or the process "
           "ended, "
           "when its first transaction was to be written, so nothing that the process recorded is "
           "there. Record again where there is room.";
  }
  std::string what = TablesText(damage.tables);
  if (damage.IsCut()) {
    what = "the file is cut: found " + std::to_string(damage.extent->found) + " bytes, expected " +
           std::to_string(damage.extent->expected) + " as its header says" +
           (what.empty() ? "" : "; " + what);
  } else if (what.empty()) {
    what = "pages of the file are damaged";
  }
  std::string note = path + ": " + what + ". " + LossText(damage, known_lost);
  if (damage.IsCut()) {
    note += " If it was copied, copy it again from where it was recorded.";
  }
  return note;
}

void CountDamage(const SegmentDamage& damage, ProcessTrace* process) {
  if (damage.never_written) {
    uint64_t& errors = process->Count(LedgerCounter::sink_write_errors);
    errors = std::max<uint64_t>(errors, 1);
    return;
  }
  // Where bodies of chunks are gone, their table is one of them.
  const bool bodies = damage.chunks != 0 && !damage.Has("chunk");
  const size_t tables = damage.tables.size() + (bodies ? 1 : 0);
  process->Count(LedgerCounter::tables_cut) += std::max<size_t>(tables, 1);
}

std::string NoteOnChunk(const std::string& path, int64_t id, const ChunkRow& row,
                        const std::string& why) {
  return path + ": chunk " + std::to_string(id) + " (" + FamilyName(row.family) + " of writer " +
         std::to_string(row.thread) + ") is lost with " + Counted(row.event_count, "event") + ": " +
         why + ".";
}

}  // namespace gpubound
