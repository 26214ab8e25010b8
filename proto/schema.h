// SPDX-License-Identifier: Apache-2.0
//
// SQL schema of a segment: one SQLite file of one process. Recorder and reader share this text.
// Event bodies are chunks (proto/trace.proto); everything else is plain rows. A segment is complete
// in itself: it repeats every label, thread, device, stream and work row that its chunks refer to.
// The index holds all of a chunk's row but its body, so that the chunks of a long run can be listed
// without going through the whole file; traces of the first versions do not have it.
#ifndef GPUBOUND_PROTO_SCHEMA_H_
#define GPUBOUND_PROTO_SCHEMA_H_

namespace gpubound {

// Raised with every change that an older reader would misread. A reader refuses any other version.
inline constexpr int kTraceFormatVersion = 1;

// Stored as PRAGMA application_id ("GPBD") and PRAGMA user_version (kTraceFormatVersion).
inline constexpr int kTraceApplicationId = 0x47504244;

// `unknown.reason` of the row that stands for the time since the last delivery of device records.
// It is replaced by each later one and removed by a process that closes well.
inline constexpr char kUndeliveredReason[] = "not delivered before the end";

// Key of meta, where the shim was not in the process when the recording began; "late" where it came
// after all, through $GPUBOUND_LIBRARY.
inline constexpr char kPreloadFact[] = "preload";
inline constexpr char kPreloadReplaced[] = "replaced";
inline constexpr char kPreloadLate[] = "late";

// Key of meta, where `gpubound run` started the run: its record belongs to it.
inline constexpr char kLaunchedFact[] = "launched";

// Keys of meta, of a process whose Python stacks were looked at: how many stacks were seen, how many
// more changed while they were read or were dropped, and how many frames did not fit into the table. Or why none
// was looked at.
inline constexpr char kStackLooksFact[] = "stack_looks";
inline constexpr char kStackLooksTornFact[] = "stack_looks_torn";
inline constexpr char kFramesOverflowedFact[] = "frames_overflowed";
inline constexpr char kStacksUnavailableFact[] = "stacks_unavailable";

// How a chunk's body is stored in its row.
enum class ChunkCompression : int { kNone = 0, kLz4 = 1, kZstd = 2 };

// meta keys: host, pid, start_realtime_ns, start_monotonic_ns, parent_pid, name (basename of the
// program), command (arguments, joined by NUL), segment, sealed (0/1), chunks (how many),
// transactions (of the process so far), version, ticks (tsc|monotonic), device_kind
// (real|simulated|imported|none), main_tid, python (0/1), end_monotonic_ns and end_how
// (exit|_exit|fork-child-exit|import...) once the process has closed. boot_id (of the kernel, which
// tells machines of one name apart) and pid_namespace (inode), where /proc tells; rank, world_size
// and rank_variable, where the launcher told (proto/rank_variables.h); role, where GPUBOUND_ROLE did.
// What costs depend on:
// cpu_model, python_version (3.11, 3.14t or none), and of
// a process that uses CUDA driver_version (580.65.06) and cupti_version (as cuptiGetVersion says,
// and behind a comma what is not recorded), cuda_runtime (path of its libcudart, empty where there
// is none); nvml_unavailable: why NVML could not be used, absent where it could;
// queries_not_counted: why calls of functions that are not recorded were not counted, absent where
// all were; call_entries: how long CUPTI took to enter calls of the runtime, a line for each
// function: its name, how many of its calls were timed right behind another one and their mean
// length in ns, likewise those behind other work (cupti_hooks/cupti/entry_times.h). Where certain iterations were to be recorded: steps (A:B), and from when to
// when they lasted, so far as that is known: steps_begin_ns (absent also where they begin with the
// run), steps_end_ns. Of an imported process also imported_from, imported_pids (of all processes of
// the import, with a blank between each two; their host and start_realtime_ns are the same), and
// reporting_tid where the importer chose the thread.
inline constexpr char kSchemaSql[] = R"sql(
CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE label(id INTEGER PRIMARY KEY, kind INT, layer INT, domain TEXT, text TEXT);
CREATE TABLE thread(id INTEGER PRIMARY KEY, tid INT, name TEXT);
CREATE TABLE device(id INTEGER PRIMARY KEY, ordinal INT, uuid TEXT, name TEXT, multiprocessors INT,
  max_warps INT, max_blocks INT, max_registers INT, max_shared_bytes INT, threads_per_warp INT,
  compute_major INT, compute_minor INT, memory_bytes INT, simulated INT);
CREATE TABLE context(device INT, context INT, parent INT, multiprocessors INT, is_green INT,
  PRIMARY KEY(device, context)) WITHOUT ROWID;
CREATE TABLE stream(id INTEGER PRIMARY KEY, device INT, context INT, stream INT);
CREATE TABLE work(id INTEGER PRIMARY KEY, kind INT, copy_kind INT, name TEXT,
  grid_x INT, grid_y INT, grid_z INT, block_x INT, block_y INT, block_z INT,
  registers INT, static_shared INT, dynamic_shared INT);
CREATE TABLE graph_node(node INTEGER PRIMARY KEY, graph INT, type INT, operation INT, name TEXT);
CREATE TABLE function(id INTEGER PRIMARY KEY, file TEXT, name TEXT);
CREATE TABLE frame(id INTEGER PRIMARY KEY, caller INT, function INT, line INT);
CREATE TABLE utilization(time_ns INT, uuid TEXT, gpu_percent INT, memory_percent INT,
  memory_used_bytes INT, power_mw INT, sm_mhz INT, memory_mhz INT);
CREATE TABLE device_client(uuid TEXT, pid INT, name TEXT, through_mps INT, first_ns INT,
  last_ns INT, PRIMARY KEY(uuid, pid, first_ns)) WITHOUT ROWID;
CREATE TABLE process_tree(time_ns INT, processes INT, cpu_ns INT, resident_bytes INT,
  run_delay_ns INT);
CREATE TABLE counter_sample(device INT, begin_ns INT, end_ns INT, sm_active REAL, warps_active REAL,
  dram_throughput REAL);
CREATE TABLE clock(id INTEGER PRIMARY KEY, ticks INT, monotonic_ns INT, realtime_ns INT,
  source_ns INT, width_ns INT);
CREATE TABLE ledger(counter TEXT PRIMARY KEY, value INT) WITHOUT ROWID;
CREATE TABLE unknown(id INTEGER PRIMARY KEY, start_ns INT, end_ns INT, reason TEXT);
CREATE TABLE note(id INTEGER PRIMARY KEY, time_ns INT, text TEXT);
CREATE TABLE config(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE row_count(name TEXT PRIMARY KEY, rows INT) WITHOUT ROWID;
CREATE TABLE chunk(id INTEGER PRIMARY KEY, family INT, thread INT, first_sequence INT,
  sequence_count INT, event_count INT, min_ns INT, max_ns INT, compression INT, raw_bytes INT,
  crc INT, body BLOB);
CREATE INDEX chunk_head ON chunk(id, family, thread, first_sequence, sequence_count, event_count,
  min_ns, max_ns, compression, raw_bytes, crc);
)sql";

// Further tables of an imported process whose work was launched by operators of a framework: `op`
// the operators with their inputs (analysis/trace/run.h), `work_op` which one launched the work of a
// row of table work, and whether such work is the first of a call of it.
inline constexpr char kOpTableSql[] =
    "CREATE TABLE op(id INTEGER PRIMARY KEY, name TEXT, dims TEXT, types TEXT, input_values TEXT)";
inline constexpr char kWorkOpTableSql[] =
    "CREATE TABLE work_op(work INTEGER PRIMARY KEY, op INT, begins INT)";
inline constexpr int kCountedOpTables = 2;
inline constexpr char kCountOpRowsSql[] = R"sql(
INSERT OR REPLACE INTO row_count
  SELECT 'op', count(*) FROM op UNION ALL SELECT 'work_op', count(*) FROM work_op;
)sql";

// Says in a segment how many rows each of its tables has, but for chunk, whose number meta has:
// where it has not as many when it is read, some are lost. How many tables are counted is
// `row_counts` in meta, which has to be there first: it and the row of meta in row_count answer for
// each other. It takes more stack than the thread of a first scope may have: a recorder writes the
// same rows one by one, with each transaction (libprofiler/sqlite_sink.cc).
inline constexpr int kCountedTables = 19;
inline constexpr char kCountRowsSql[] = R"sql(
INSERT OR REPLACE INTO row_count
  SELECT 'meta', count(*) FROM meta UNION ALL SELECT 'label', count(*) FROM label
  UNION ALL SELECT 'thread', count(*) FROM thread UNION ALL SELECT 'device', count(*) FROM device
  UNION ALL SELECT 'context', count(*) FROM context UNION ALL SELECT 'stream', count(*) FROM stream
  UNION ALL SELECT 'work', count(*) FROM work
  UNION ALL SELECT 'graph_node', count(*) FROM graph_node
  UNION ALL SELECT 'function', count(*) FROM function
  UNION ALL SELECT 'frame', count(*) FROM frame
  UNION ALL SELECT 'utilization', count(*) FROM utilization
  UNION ALL SELECT 'device_client', count(*) FROM device_client
  UNION ALL SELECT 'process_tree', count(*) FROM process_tree
  UNION ALL SELECT 'counter_sample', count(*) FROM counter_sample
  UNION ALL SELECT 'clock', count(*) FROM clock UNION ALL SELECT 'ledger', count(*) FROM ledger
  UNION ALL SELECT 'unknown', count(*) FROM unknown UNION ALL SELECT 'note', count(*) FROM note
  UNION ALL SELECT 'config', count(*) FROM config;
)sql";

}  // namespace gpubound

#endif  // GPUBOUND_PROTO_SCHEMA_H_
