// SPDX-License-Identifier: Apache-2.0
//
// One segment of a process: its identity, its plain rows and its chunks, as far as they can be
// read. What cannot be read is its damage; it is never an error of the whole. One object, one
// thread.
#ifndef GPUBOUND_ANALYSIS_SEGMENTS_SEGMENT_H_
#define GPUBOUND_ANALYSIS_SEGMENTS_SEGMENT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/base/status.h"
#include "analysis/segments/chunk_head.h"
#include "analysis/segments/segment_damage.h"
#include "analysis/segments/sqlite.h"
#include "analysis/segments/trace_file_name.h"
#include "analysis/trace/run.h"

namespace gpubound {

// Whether |error|, of Segment::Open, says that the file holds nothing at all.
bool IsNeverWritten(const Error& error);

// Whether the file |path| has no first page, which a recorder writes last when it copies a new
// segment from another one.
bool LacksFirstPage(const std::string& path);

// Rows of table `meta`, every value as text.
using MetaRows = std::map<std::string, std::string>;

class Segment {
 public:
  // An error names why the file is no segment that this version can read.
  static Result<Segment> Open(const std::string& path, const TraceFileName& name);

  const std::string& path() const { return path_; }
  // As the file says itself, else as its name does.
  const ProcessIdentity& identity() const { return identity_; }
  uint32_t number() const { return number_; }
  const TraceFileName& name() const { return name_; }
  // The two say something else.
  bool is_misnamed() const;
  const MetaRows& meta() const { return meta_; }

  // Adds this segment's rows to |process|; a row that is there already is replaced. Segments of a
  // process are read in ascending order. `unknown` and `note` rows are replaced as a whole, since
  // each segment repeats those that still hold.
  void ReadRows(ProcessTrace* process);

  // What could not be read since ReadRows was last called.
  const SegmentDamage& damage() const { return damage_; }

  std::vector<ChunkHead> ReadChunkHeads();
  // The chunks that are not among |heads|, all that were read: between others, and up to the last
  // one as far as the recorder said how many it wrote. None where the table is known to be cut.
  std::vector<int64_t> MissingChunks(const std::vector<ChunkHead>& heads) const;
  // Damage of what was read last: how many events the others held is not known.
  void NoteMissingChunks(size_t found, size_t expected);

  // Points |head|'s body at the bytes of its chunk until the next call. False when unreadable.
  bool ReadChunkBody(ChunkHead* head);

  // Closes the file until it is read again, where the descriptors of the process run short and to
  // open it again reads the same. Bodies of chunks are gone then.
  void RestIfManyAreOpen();

 private:
  Segment(std::string path, Database database)
      : path_(std::move(path)), database_(std::move(database)) {}

  bool Wake();
  void ReadMeta();
  void ReadThreads(ProcessTrace* process);
  void ReadLabels(ProcessTrace* process);
  void ReadDevices(ProcessTrace* process);
  void ReadStreams(ProcessTrace* process);
  void ReadWorks(ProcessTrace* process);
  void ReadOps(ProcessTrace* process);
  void ReadClock(ProcessTrace* process);
  void ReadUnknownAndNotes(ProcessTrace* process);
  void ReadContexts(ProcessTrace* process);
  bool HasTable(const char* name);
  void ReadDeviceClients(ProcessTrace* process);
  void ReadUtilization(ProcessTrace* process);
  void ReadGraphNodes(ProcessTrace* process);
  void ReadProcessTree(ProcessTrace* process);
  void ReadCounters(ProcessTrace* process);
  void ReadFrames(ProcessTrace* process);
  void ReadLedger(ProcessTrace* process);
  void CheckEnd(const Query& query, const char* table);
  void CheckRowCounts();

  std::string path_;
  Database database_;
  bool rests_ = false;  // database_ is closed
  TraceFileName name_;
  ProcessIdentity identity_;
  uint32_t number_ = 0;
  MetaRows meta_;
  bool never_written_ = false;  // the transaction that makes its tables
  std::string meta_problem_;    // why it could be read in part only
  SegmentDamage damage_;
  std::optional<Query> body_query_;
  // Bytes of bodies until the database is mapped anew. Not before the first: to look for chunks
  // where there is no index of them touches all of a file, but little of it.
  size_t mapped_bytes_left_ = 0;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_SEGMENTS_SEGMENT_H_
