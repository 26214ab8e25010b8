// SPDX-License-Identifier: Apache-2.0
//
// How the reading half reports failure: a value, or an error that a user can act on. Nothing here
// throws and nothing aborts; input is never asserted on. Plain values, no thread rule.
#ifndef GPUBOUND_ANALYSIS_BASE_STATUS_H_
#define GPUBOUND_ANALYSIS_BASE_STATUS_H_

#include <string>
#include <utility>
#include <variant>

namespace gpubound {

// What went wrong, in the order in which a user asks: what was being done, on what, what was there,
// what should have been, and what to do about it. `object` and `doing` are never empty; the rest
// may be.
struct Error {
  std::string doing;     // "reading the trace"
  std::string object;    // "/tmp/x.gpubound/a.12.34.0.db"
  std::string found;     // "format version 9"
  std::string expected;  // "format version 1"
  std::string remedy;    // "Read it with the gpubound that wrote it, or upgrade this one."

  // One line, and the remedy on a second one where there is a remedy. No trailing newline.
  std::string ToString() const;
};

// Either a T or an Error. value() and error() may only be called on the matching state; ask ok().
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & { return *std::get_if<0>(&state_); }
  const T& value() const& { return *std::get_if<0>(&state_); }
  T&& value() && { return std::move(*std::get_if<0>(&state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const { return *std::get_if<1>(&state_); }

 private:
  std::variant<T, Error> state_;
};

// For steps that yield nothing.
struct Ok {};
using Status = Result<Ok>;

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_BASE_STATUS_H_
