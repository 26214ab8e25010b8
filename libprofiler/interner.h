// SPDX-License-Identifier: Apache-2.0
//
// Names to small numbers: (kind, layer, domain, text) -> LabelId, for the life of the process. The
// labels themselves are rows of the live mapping's heap, so that events that survive a kill keep
// their names, and are read there without a lock. Any thread; one lock, first in rank.
//
// Bounded: beyond max_labels, or once the heap is full, a name becomes `(other names)` of its kind
// and is counted. The ids 1 to 7 are those labels, id = kind.
#ifndef GPUBOUND_LIBPROFILER_INTERNER_H_
#define GPUBOUND_LIBPROFILER_INTERNER_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "libprofiler/ledger.h"
#include "libprofiler/live_mapping.h"
#include "proto/event_model.h"
#include "proto/given_names.h"

namespace gpubound {

inline constexpr size_t kMaxNameBytes = 4096;
inline constexpr size_t kMaxDomainBytes = 255;

struct LabelRow {
  LabelId id;
  LabelKind kind;
  Layer layer;
  std::string domain;
  std::string text;
};

// Lets a map of strings be searched by a view.
struct StringHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};
template <typename Value>
using StringMap = std::unordered_map<std::string, Value, StringHash, std::equal_to<>>;

class Interner {
 public:
  Interner(uint32_t max_labels, LiveMapping* mapping, Ledger* ledger);

  // The label's id, new or known. Strings are copied; too long ones are cut and counted.
  LabelId Intern(LabelKind kind, Layer layer, std::string_view domain, std::string_view text);

  // The label's id; 0 where there is no such label, or the calling thread is in the middle of
  // adding one.
  LabelId Find(LabelKind kind, Layer layer, std::string_view domain, std::string_view text);

  // Kind of a label; kNone for an id that was never given out. No lock.
  LabelKind KindOf(LabelId id) const;
  // What a label of kind kLayer switches to; kUnset for any other. No lock.
  Layer LayerOf(LabelId id) const;

  // Appends the labels added since |*position| (0: all) and moves it on. No lock: who adds one may
  // have been interrupted for good.
  void CopyRowsSince(size_t* position, std::vector<LabelRow>* out) const;

  // For a process record that begins in a fork child: the same ids and names in a new mapping. The
  // parent's lock must have been held across the fork (mutex()).
  void MoveTo(LiveMapping* mapping, Ledger* ledger);
  std::mutex& mutex() { return mutex_; }

 private:
  LabelId AddLocked(LabelKind kind, Layer layer, std::string_view domain, std::string_view text,
                    std::string key);
  bool AppendToHeapLocked(LabelId id, LabelKind kind, Layer layer, std::string_view domain,
                          std::string_view text);

  const uint32_t max_labels_;
  LiveMapping* mapping_;
  Ledger* ledger_;
  std::mutex mutex_;
  StringMap<LabelId> ids_;
  uint32_t label_count_ = 0;
  std::unique_ptr<std::atomic<uint8_t>[]> kinds_;  // and layers, by id
  uint32_t heap_used_ = 0;
};

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_INTERNER_H_
