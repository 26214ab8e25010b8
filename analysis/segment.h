// SPDX-License-Identifier: Apache-2.0
//
// One segment of a process: its identity, its plain rows and its chunks, as far as they can be
// read. What cannot be read is named in a list of problems; it is never an error of the whole. One
// object, one thread.
#ifndef GPUBOUND_ANALYSIS_SEGMENT_H_
#define GPUBOUND_ANALYSIS_SEGMENT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/run.h"
#include "analysis/sqlite.h"
#include "analysis/status.h"
#include "proto/chunk_row.h"

namespace gpubound {

// Who wrote a file, from its name <host>.<pid>.<start>.<segment>.db or <host>.<pid>.<start>.live.
struct TraceFileName {
  ProcessIdentity identity;
  uint32_t segment = 0;
  bool live = false;
};
std::optional<TraceFileName> ParseTraceFileName(const std::string& file_name);

// Rows of table `meta`, every value as text.
using MetaRows = std::map<std::string, std::string>;

class Segment {
 public:
  // An error names why the file is no segment that this version can read.
  static Result<Segment> Open(const std::string& path, const TraceFileName& name);

  const std::string& path() const { return path_; }
  const ProcessIdentity& identity() const { return identity_; }
  uint32_t number() const { return number_; }
  const MetaRows& meta() const { return meta_; }

  // Adds this segment's rows to |process|; a row that is there already is replaced. Segments of a
  // process are read in ascending order. `unknown` and `note` rows are replaced as a whole, since
  // each segment repeats those that still hold.
  void ReadRows(ProcessTrace* process, std::vector<std::string>* problems);

  // Tables of which ReadRows met a part that cannot be read.
  const std::vector<std::string>& cut_tables() const { return cut_tables_; }

  // A chunk without its body. |body| of row is empty.
  struct ChunkHead {
    int64_t id = 0;
    ChunkRow row;
  };
  std::vector<ChunkHead> ReadChunkHeads(std::vector<std::string>* problems);

  // Points |head|'s body at the bytes of its chunk until the next call. False when unreadable.
  bool ReadChunkBody(ChunkHead* head);

 private:
  Segment(std::string path, Database database)
      : path_(std::move(path)), database_(std::move(database)) {}

  void ReadMeta();
  void ReadThreads(ProcessTrace* process, std::vector<std::string>* problems);
  void ReadLabels(ProcessTrace* process, std::vector<std::string>* problems);
  void ReadDevices(ProcessTrace* process, std::vector<std::string>* problems);
  void ReadStreams(ProcessTrace* process, std::vector<std::string>* problems);
  void ReadWorks(ProcessTrace* process, std::vector<std::string>* problems);
  void ReadClock(ProcessTrace* process, std::vector<std::string>* problems);
  void ReadUnknownAndNotes(ProcessTrace* process, std::vector<std::string>* problems);
  void ReadContexts(ProcessTrace* process, std::vector<std::string>* problems);
  bool HasTable(const char* name);
  void ReadDeviceClients(ProcessTrace* process, std::vector<std::string>* problems);
  void ReadUtilization(ProcessTrace* process, std::vector<std::string>* problems);
  void ReadGraphNodes(ProcessTrace* process, std::vector<std::string>* problems);
  void ReadProcessTree(ProcessTrace* process, std::vector<std::string>* problems);
  void ReadCounters(ProcessTrace* process, std::vector<std::string>* problems);
  void ReadLedger(ProcessTrace* process, std::vector<std::string>* problems);
  void CheckEnd(const Query& query, const char* table, std::vector<std::string>* problems);
  void NameCut(const char* table, const std::string& why, std::vector<std::string>* problems);

  std::string path_;
  Database database_;
  ProcessIdentity identity_;
  uint32_t number_ = 0;
  MetaRows meta_;
  std::string meta_problem_;  // why it could be read in part only
  std::vector<std::string> cut_tables_;
  std::optional<Query> body_query_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_SEGMENT_H_
