// SPDX-License-Identifier: Apache-2.0
//
// Cuts a Chrome trace into its events without holding it: a JSON text of any length, of which one
// value at a time is in memory. The two forms are an object with the events in "traceEvents", and
// the bare array, whose closing bracket may be missing as the format allows.
//
//     {"schemaVersion": 1, "deviceProperties": [...], "traceEvents": [{...}, {...}, ...], ...}
//                                               '- kMember     kEvent -'
//
// Only brackets and strings are followed here; whoever gets a value parses it. Where a byte of an
// event is damaged, its end may be found too late or never; an object whose first member is "ph"
// begins another event, so there the text can be taken up again. One object, one thread.
#ifndef GPUBOUND_ANALYSIS_IMPORT_IMPORT_SPLITTER_H_
#define GPUBOUND_ANALYSIS_IMPORT_IMPORT_SPLITTER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "analysis/base/status.h"
#include "analysis/import/import_source.h"

namespace gpubound {

class JsonSplitter {
 public:
  // Bytes behind every value that may be read, whatever they hold: what a vectorised parser wants.
  static constexpr size_t kPadding = 64;

  // A value longer than this is refused.
  static constexpr size_t kLongestValue = size_t{256} << 20;

  // The name of an event's first member, as it is written.
  static constexpr std::string_view kFirstMember = "\"ph\"";

  // |source| outlives the object; |path| is for errors.
  JsonSplitter(ByteSource* source, std::string path);

  enum class Kind : uint8_t { kEvent, kMember, kEnd };
  struct Value {
    Kind kind = Kind::kEnd;
    std::string key;        // of a member of the top-level object
    std::string_view text;  // the value itself, without white space around it
  };

  // The next event, or the next member other than "traceEvents". `text` is valid until the next
  // call.
  Result<Value> Next();

  // Where the last value began in the (uncompressed) text.
  uint64_t offset() const { return base_ + value_; }

  // How much of the (uncompressed) text was taken: to the end of the last value, or to the begin of
  // the one that Next() failed in.
  uint64_t taken() const { return base_ + (in_value_ ? value_ : at_); }

  // After Next() failed: whether the text ends there, and the list of events is closed before.
  bool EndsBehindEvents() const { return ended_ && events_closed_; }

  // After Next() failed among the events: goes on with the next that begins behind the place. Where
  // it failed behind their list, and nothing but brackets and commas is before an event, one of
  // these ended the list too early: it goes on with that event. False where none does.
  bool SkipToEvent();

  // After an event that cannot be parsed: goes on with the first that begins inside it, if one
  // does.
  void LookInside();

 private:
  enum class Place : uint8_t { kStart, kObject, kEvents, kDone };

  Result<Value> Step();
  Result<bool> More();       // reads on behind what is there; false at the end of the text
  Result<char> Peek();       // skips white space; 0 at the end of the text
  Status SkipMark();         // the byte order mark that some tools put first
  Result<bool> ScanValue();  // moves at_ behind the value at value_
  Result<Value> FirstValue();
  Result<Value> MemberOf();
  Result<Value> ElementOf();
  Result<Value> EndOfTrace();
  bool MayLookAgain(size_t bytes);
  bool ReopenEvents();
  bool ValueEnds() {
    in_value_ = false;
    return true;
  }
  Error Wrong(const std::string& found, const std::string& expected) const;
  std::string_view TextOfValue() const { return {buffer_.get() + value_, at_ - value_}; }

  ByteSource* source_;
  const std::string path_;
  std::unique_ptr<char[]> buffer_;
  size_t capacity_ = 0;
  size_t filled_ = 0;  // bytes in buffer_
  size_t value_ = 0;   // where the value that is being cut begins; nothing before it is needed
  size_t at_ = 0;      // where the text is read next
  uint64_t base_ = 0;  // offset of buffer_[0] in the text
  Place place_ = Place::kStart;
  bool bare_ = false;           // the text is the list of events
  bool ended_ = false;          // the source has no more, or none that can be read
  bool events_closed_ = false;  // the end of the list of events was seen
  bool first_ = true;           // no comma before the next element
  bool in_value_ = false;       // the end of the value at value_ is not found yet
  uint64_t seen_again_ = 0;     // bytes that were passed over twice
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_IMPORT_IMPORT_SPLITTER_H_
