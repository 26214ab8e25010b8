// SPDX-License-Identifier: Apache-2.0
//
// Layout of the live mapping: the file `<host>.<pid>.<start>.live` beside a process's database, in
// which threads write their events before the background thread moves them into the database. A
// process that was killed leaves it behind, and the reader recovers from it what the database does
// not hold yet. A process that ends well removes it.
//
//   +---------------------+ 0
//   | LiveHeader          |  identity, clock samples, ledger counters
//   +---------------------+ header.threads_offset
//   | LiveThread[]        |  one per registered thread
//   +---------------------+ header.labels_offset
//   | label heap          |  LiveLabel records, append only
//   +---------------------+ header.pages_offset  (page aligned)
//   | page 0 | page 1 ... |  kLivePageSize each: LivePageHeader, then slots or records
//   +---------------------+ header.file_size
//
// Writers are threads of one process; the reader opens it only after that process has ended (or
// maps it read-only and copies, for a live view). All integers are little endian, explicit width.
//
// Salvage without double counting: what one (thread, family) wrote carries consecutive sequence
// numbers, one per slot (payload slots included) or per record. A page says the number of its first
// one; the database's chunk rows say which numbers are already stored; the reader takes the rest.
#ifndef GPUBOUND_PROTO_LIVE_FORMAT_H_
#define GPUBOUND_PROTO_LIVE_FORMAT_H_

#include <cstddef>
#include <cstdint>

#include "proto/event_model.h"
#include "proto/ledger_counters.h"

namespace gpubound {

inline constexpr uint64_t kLiveMagic = 0x314556494c425047;  // "GPBLIVE1" as little-endian bytes
inline constexpr uint32_t kLiveVersion = 1;
inline constexpr uint32_t kLivePageSize = 64 * 1024;
inline constexpr uint32_t kLiveDefaultPages = 256;  // where GPUBOUND_LIVE_PAGES says nothing
inline constexpr uint32_t kLiveMaxThreads = 4096;
inline constexpr uint32_t kLiveLabelHeapBytes = 2 * 1024 * 1024;
inline constexpr uint32_t kLiveClockSamples = 64;
inline constexpr uint32_t kLiveMaxLedger = 64;
inline constexpr uint32_t kMaxOpenScopes = 64;  // open scopes that a thread's stack can name
static_assert(kRecordedCounters <= static_cast<int>(kLiveMaxLedger));

// The same instant read from every clock, bracketed: the true value of each lies within width_ns.
struct ClockSample {
  uint64_t ticks;        // the clock of thread slots: TSC, or CLOCK_MONOTONIC in ns
  int64_t monotonic_ns;  // CLOCK_MONOTONIC, the timeline of a trace
  int64_t realtime_ns;   // CLOCK_REALTIME
  int64_t source_ns;     // the device source's clock (CUPTI); 0 before it runs
  uint64_t width_ns;     // width of the bracket
};
static_assert(sizeof(ClockSample) == 40);

struct LiveThread {
  uint32_t tid;  // 0 = unused entry
  uint32_t ordinal;
  char name[24];  // NUL terminated
  int64_t reserved;
};
static_assert(sizeof(LiveThread) == 40);

// A label in the heap: this head, then `domain` and `text` without terminators, padded to 4 bytes.
// `size` is stored last; zero marks the end of the heap.
struct LiveLabel {
  uint32_t size;  // bytes of the whole record, multiple of 4
  uint32_t id;
  uint8_t kind;   // LabelKind
  uint8_t layer;  // Layer
  uint16_t domain_bytes;
  uint32_t text_bytes;
};
static_assert(sizeof(LiveLabel) == 16);

struct LiveHeader {
  uint64_t magic;  // stored last, when the rest is valid
  uint32_t version;
  uint32_t header_bytes;
  uint64_t file_size;
  uint64_t pid;
  int64_t start_realtime_ns;   // with host and pid, the identity of the process
  int64_t start_monotonic_ns;  // begin of the span
  uint32_t threads_offset;
  uint32_t labels_offset;
  uint32_t pages_offset;
  uint32_t page_count;
  uint32_t ticks_are_tsc;  // 1: TSC; 0: CLOCK_MONOTONIC ns
  uint32_t
      clock_sample_count;  // samples ever taken; the newest is at (count - 1) % kLiveClockSamples
  // Device work before this instant (CLOCK_MONOTONIC) has been delivered and is in a page or in the
  // database; 0 while no device source records. What follows it is unknown after a kill.
  int64_t delivered_until_ns;
  ClockSample clock_samples[kLiveClockSamples];
  uint64_t ledger[kLiveMaxLedger];  // indexed by LedgerCounter, up to kRecordedCounters
  // That the database holds at least, in all its segments (meta `transactions`). Behind the header
  // of recorders that did not know it: header_bytes says.
  uint64_t transactions;
};
static_assert(offsetof(LiveHeader, clock_samples) == 80);

// State of a page, for the reader: only kOwned and kFull hold events.
enum class PageState : uint32_t { kFree = 0, kOwned = 1, kFull = 2 };

struct LivePageHeader {
  uint32_t state;           // PageState
  uint32_t family;          // EventFamily
  uint32_t thread;          // ordinal of the writer
  uint32_t open_depth;      // scopes open at the page's first slot
  uint64_t base_ticks;      // thread pages: slots count from here
  uint64_t first_sequence;  // sequence number of the page's first event
  uint64_t dropped_before;  // events of this writer and family dropped just before this page
  uint32_t record_count;    // record pages only (thread pages end at the first zero slot)
  uint32_t reserved;
  uint32_t open_labels[kMaxOpenScopes];  // outermost first
};
// No mapping is longer: what GPUBOUND_LIVE_PAGES may say, what threads add, and 4 MiB for the rest.
inline constexpr uint64_t kLiveMostBytes = uint64_t{16384 + 4096 + 64} * kLivePageSize;
inline constexpr uint32_t kLivePageHeaderBytes = 320;
static_assert(sizeof(LivePageHeader) <= kLivePageHeaderBytes);
inline constexpr uint32_t kPageBodyBytes = kLivePageSize - kLivePageHeaderBytes;
inline constexpr uint32_t kSlotsPerPage = kPageBodyBytes / sizeof(Slot);

}  // namespace gpubound

#endif  // GPUBOUND_PROTO_LIVE_FORMAT_H_
