// SPDX-License-Identifier: Apache-2.0
//
// Follows brackets and strings through a sliding buffer. One object, one thread.
#include "analysis/import/import_splitter.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "analysis/import/import_hints.h"

namespace gpubound {
namespace {

constexpr size_t kFirstCapacity = size_t{4} << 20;
constexpr size_t kShownBytes = 24;
constexpr size_t kHeadBytes = 512;  // the first block of an archive

// After so much text that was passed over again the rest is given up: a few values of the greatest
// length, some seconds. Text may be made so that every event seems to reach to its end.
constexpr uint64_t kMostSeenAgain = uint64_t{4} << 30;

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

bool EndsScalar(char c) { return c == ',' || c == ']' || c == '}' || IsSpace(c); }

bool IsBetweenEvents(char c) { return c == ',' || c == '[' || c == ']' || c == '}'; }

// The first character from |at| on that matters outside a string: a quote or a bracket.
const char* FindStructure(const char* at, const char* end) {
  while (at != end && *at != '"' && *at != '{' && *at != '}' && *at != '[' && *at != ']') ++at;
  return at;
}

// The first quote or backslash from |at| on.
const char* FindStringEnd(const char* at, const char* end) {
  while (at != end && *at != '"' && *at != '\\') ++at;
  return at;
}

struct FoundEvent {
  size_t at = 0;
  bool whole = false;  // the first member's name is there too
};

// The first place at or behind |from| in |text| where an event begins, or may begin as far as
// |text| goes; its end where there is none.
FoundEvent FindEvent(std::string_view text, size_t from) {
  for (size_t at = text.find('{', from); at != text.npos; at = text.find('{', at + 1)) {
    size_t member = at + 1;
    while (member < text.size() && IsSpace(text[member])) ++member;
    const std::string_view there = text.substr(member, JsonSplitter::kFirstMember.size());
    if (there == JsonSplitter::kFirstMember) return {at, true};
    if (JsonSplitter::kFirstMember.starts_with(there) && member + there.size() == text.size())
      return {at, false};
  }
  return {text.size(), false};
}

// |text| as it may be shown: its beginning, on one line.
std::string Shown(std::string_view text) {
  std::string shown(text.substr(0, kShownBytes));
  for (char& c : shown) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return "'" + shown + (text.size() > kShownBytes ? "...'" : "'");
}

}  // namespace

JsonSplitter::JsonSplitter(ByteSource* source, std::string path)
    : source_(source),
      path_(std::move(path)),
      buffer_(std::make_unique_for_overwrite<char[]>(kFirstCapacity + kPadding)),
      capacity_(kFirstCapacity) {}

Error JsonSplitter::Wrong(const std::string& found, const std::string& expected) const {
  return {"reading the trace to import", path_, found + " at byte " + std::to_string(base_ + at_),
          expected,
          "Check that it is the whole file: a profiler that was killed leaves a part of it."};
}

Result<bool> JsonSplitter::More() {
  if (value_ > 0) {
    std::memmove(buffer_.get(), buffer_.get() + value_, filled_ - value_);
    base_ += value_;
    filled_ -= value_;
    at_ -= value_;
    value_ = 0;
  }
  if (filled_ == capacity_) {
    if (capacity_ >= kLongestValue) {
      return Wrong("a value of more than " + std::to_string(kLongestValue >> 20) + " MiB",
                   "a Chrome trace, whose events are small");
    }
    auto larger = std::make_unique_for_overwrite<char[]>(2 * capacity_ + kPadding);
    std::memcpy(larger.get(), buffer_.get(), filled_);
    buffer_ = std::move(larger);
    capacity_ *= 2;
  }
  const Result<size_t> count = source_->Read(buffer_.get() + filled_, capacity_ - filled_);
  ended_ = !count.ok() || *count == 0;
  if (!count.ok()) return count.error();
  filled_ += *count;
  return *count > 0;
}

Result<char> JsonSplitter::Peek() {
  while (true) {
    while (at_ < filled_ && IsSpace(buffer_[at_])) ++at_;
    if (at_ < filled_) return buffer_[at_];
    value_ = at_;  // nothing before is needed any more
    const Result<bool> more = More();
    if (!more.ok()) return more.error();
    if (!*more) return '\0';
  }
}

Result<bool> JsonSplitter::ScanValue() {
  value_ = at_;
  in_value_ = true;
  size_t depth = 0;
  bool in_string = false;
  while (true) {
    while (at_ < filled_) {
      const char* const begin = buffer_.get() + at_;
      const char* const end = buffer_.get() + filled_;
      const char c = *begin;
      if (in_string) {
        const char* const found = FindStringEnd(begin, end);
        at_ += static_cast<size_t>(found - begin);
        if (found == end) break;
        if (*found == '\\') {
          if (found + 1 == end) break;  // the escaped character is yet to be read
          at_ += 2;
          continue;
        }
        ++at_;
        in_string = false;
        if (depth == 0) return ValueEnds();
      } else if (depth == 0 && at_ != value_) {  // a number or a word
        if (EndsScalar(c)) return ValueEnds();
        ++at_;
      } else if (c == '"') {
        ++at_;
        in_string = true;
      } else if (c == '{' || c == '[') {
        ++at_;
        ++depth;
      } else if (c == '}' || c == ']') {
        if (depth == 0) return Wrong("'" + std::string(1, c) + "'", "a JSON value");
        ++at_;
        if (--depth == 0) return ValueEnds();
      } else if (depth == 0) {
        if (EndsScalar(c)) return Wrong("'" + std::string(1, c) + "'", "a JSON value");
        ++at_;
      } else {
        at_ += static_cast<size_t>(FindStructure(begin, end) - begin);
      }
    }
    const Result<bool> more = More();
    if (!more.ok()) return more.error();
    if (!*more) return false;
  }
}

Result<JsonSplitter::Value> JsonSplitter::Next() {
  while (true) {
    Result<Value> value = Step();
    if (!value.ok() || value->kind != Kind::kMember || value->key != "traceEvents") return value;
    // Step() has moved into the array instead of returning it.
  }
}

Result<JsonSplitter::Value> JsonSplitter::Step() {
  switch (place_) {
    case Place::kStart:
      return FirstValue();
    case Place::kObject:
      return MemberOf();
    case Place::kEvents:
      return ElementOf();
    case Place::kDone:
      break;
  }
  return Value{};
}

Status JsonSplitter::SkipMark() {
  while (filled_ < kByteOrderMark.size()) {
    const Result<bool> more = More();
    if (!more.ok()) return more.error();
    if (!*more) break;
  }
  if (std::string_view(buffer_.get(), filled_).starts_with(kByteOrderMark)) {
    at_ = kByteOrderMark.size();
  }
  return Ok{};
}

Result<JsonSplitter::Value> JsonSplitter::FirstValue() {
  const Status skipped = SkipMark();
  if (!skipped.ok()) return skipped.error();
  const Result<char> c = Peek();
  if (!c.ok()) return c.error();
  if (*c != '{' && *c != '[') {
    std::string found = at_ == filled_ ? "an empty file" : "a file that begins with a zero byte";
    if (*c != '\0') {
      value_ = at_;
      Result<bool> more = true;
      while (more.ok() && *more && filled_ - at_ <= kShownBytes) more = More();
      found = "text that begins with " +
              Shown({buffer_.get() + at_, std::min(filled_ - at_, kShownBytes + 1)});
    }
    Result<bool> more = true;
    while (more.ok() && *more && filled_ < kHeadBytes) more = More();
    if (const ToolHint* hint = HintOfFile(path_, {buffer_.get(), std::min(filled_, kHeadBytes)})) {
      return Error{"reading the trace to import", path_, hint->found,
                   "a Chrome trace (JSON, plain or gzip) or an Nsight Systems SQLite export",
                   hint->remedy};
    }
    return Error{"reading the trace to import", path_, found,
                 "a Chrome trace (JSON, plain or gzip) or an Nsight Systems SQLite export",
                 "Export the profile as one of these: torch.profiler's export_chrome_trace, or "
                 "`nsys export --type sqlite`."};
  }
  ++at_;
  bare_ = *c == '[';
  place_ = bare_ ? Place::kEvents : Place::kObject;
  first_ = true;
  return Step();
}

Result<JsonSplitter::Value> JsonSplitter::EndOfTrace() {
  place_ = Place::kDone;
  const Result<char> rest = Peek();
  if (!rest.ok()) return rest.error();
  if (*rest != '\0') return Wrong("more text after the trace", "the end of the file");
  return Value{};
}

Result<JsonSplitter::Value> JsonSplitter::MemberOf() {
  Result<char> c = Peek();
  if (!c.ok()) return c.error();
  if (*c == '}') {
    ++at_;
    return EndOfTrace();
  }
  if (!first_) {
    if (*c != ',') {
      if (*c == '\0') return Wrong("the end of the file", "the '}' that closes the trace");
      return Wrong("'" + std::string(1, *c) + "'", "',' or '}'");
    }
    ++at_;
    c = Peek();
    if (!c.ok()) return c.error();
  }
  first_ = false;
  if (*c != '"') {
    if (*c == '\0') return Wrong("the end of the file", "the name of a member");
    return Wrong("'" + std::string(1, *c) + "'", "the name of a member");
  }
  Result<bool> whole = ScanValue();
  if (!whole.ok()) return whole.error();
  if (!*whole) return Wrong("the end of the file", "the name of a member");
  Value member;
  member.kind = Kind::kMember;
  member.key = TextOfValue().substr(1, TextOfValue().size() - 2);
  c = Peek();
  if (!c.ok()) return c.error();
  if (*c == '\0') return Wrong("the end of the file", "':'");
  if (*c != ':') return Wrong("no ':' after the name of a member", "':'");
  ++at_;
  c = Peek();
  if (!c.ok()) return c.error();
  if (*c == '\0') return Wrong("the end of the file", "the value of a member");
  if (member.key == "traceEvents") {
    if (*c != '[') return Wrong("no array in \"traceEvents\"", "'['");
    ++at_;
    place_ = Place::kEvents;
    first_ = true;
    return member;
  }
  whole = ScanValue();
  if (!whole.ok()) return whole.error();
  if (!*whole) return Wrong("the end of the file", "the value of \"" + member.key + "\"");
  member.text = TextOfValue();
  return member;
}

Result<JsonSplitter::Value> JsonSplitter::ElementOf() {
  Result<char> c = Peek();
  if (!c.ok()) return c.error();
  if (*c == ',' && !first_) {
    ++at_;
    c = Peek();
    if (!c.ok()) return c.error();
  } else if (!first_ && *c != ']' && *c != '\0') {
    return Wrong("'" + std::string(1, *c) + "'", "',' or ']' after an event");
  }
  if (*c == '\0') {
    if (at_ < filled_) return Wrong("a zero byte", "an event");
    // A writer of the bare form may stop at any time; between two events nothing is missing.
    if (!bare_) return Wrong("the end of the file", "the ']' that closes \"traceEvents\"");
    place_ = Place::kDone;
    return Value{};
  }
  if (*c == ']') {
    ++at_;
    events_closed_ = true;
    if (bare_) return EndOfTrace();
    place_ = Place::kObject;
    first_ = false;
    return Step();
  }
  first_ = false;
  const Result<bool> whole = ScanValue();
  if (!whole.ok()) return whole.error();
  if (!*whole) return Wrong("the end of the file", "the rest of an event");
  Value event;
  event.kind = Kind::kEvent;
  event.text = TextOfValue();
  return event;
}

bool JsonSplitter::MayLookAgain(size_t bytes) {
  seen_again_ += bytes;
  return seen_again_ <= kMostSeenAgain;
}

bool JsonSplitter::ReopenEvents() {
  if (!events_closed_ || in_value_) return false;
  while (true) {
    while (at_ < filled_ && (IsSpace(buffer_[at_]) || IsBetweenEvents(buffer_[at_]))) ++at_;
    value_ = at_;
    if (at_ < filled_) {
      const FoundEvent found = FindEvent({buffer_.get(), filled_}, at_);
      if (found.at != at_) return false;
      if (found.whole) break;
    }
    const Result<bool> more = More();
    if (!more.ok() || !*more) return false;
  }
  place_ = Place::kEvents;
  events_closed_ = false;
  first_ = true;
  return true;
}

bool JsonSplitter::SkipToEvent() {
  if (place_ != Place::kEvents) return ReopenEvents();
  if (in_value_ && !MayLookAgain(filled_ - value_)) return false;
  at_ = std::min(in_value_ ? value_ + 1 : at_, filled_);
  in_value_ = false;
  first_ = true;  // whatever is before it
  while (true) {
    const FoundEvent found = FindEvent({buffer_.get(), filled_}, at_);
    value_ = at_ = found.at;
    if (found.whole) return true;
    const Result<bool> more = More();
    if (!more.ok() || !*more) return false;
  }
}

void JsonSplitter::LookInside() {
  const FoundEvent found = FindEvent({buffer_.get(), at_}, value_ + 1);
  if (!found.whole || !MayLookAgain(at_ - found.at)) return;
  at_ = found.at;
  first_ = true;
}

}  // namespace gpubound
