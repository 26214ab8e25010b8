// SPDX-License-Identifier: Apache-2.0
//
// Scopes as C++ objects, for names that are known at run time only:
//
//   gpubound::Operation scope(environment.name());
//
// The name is copied when it is new; the object holds a label, not the string. A short name seen
// before costs a hash and a comparison in a table of 256 entries that belongs to the module, others
// a look-up in the collector. A scope closes on the thread that opened it; it can be neither copied
// nor moved. Everything is noexcept and needs neither exceptions nor RTTI.
#ifndef GPUBOUND_SCOPE_HPP_
#define GPUBOUND_SCOPE_HPP_

#include <cstdint>
#include <string_view>

#include "annotate.h"

// From C++20 on a destructor may be constexpr; before, a block in a constexpr function closes by an
// attribute.
#if __cplusplus >= 202002L
#define GPUBOUND_CONSTEXPR_SCOPE_ constexpr
#define GPUBOUND_BLOCK_CLEANUP_
#else
#define GPUBOUND_CONSTEXPR_SCOPE_
#define GPUBOUND_BLOCK_CLEANUP_ __attribute__((cleanup(gpubound_end_block_), unused))
#endif

// What runs is hidden in its module, as everything else of ours. The classes are not: g++ would
// warn of every class and coroutine of the program that holds one.
#ifdef GPUBOUND_DISABLE
#define GPUBOUND_SCOPE_NAMESPACE_ disabled
#define GPUBOUND_SCOPE_VISIBILITY_
#else
#define GPUBOUND_SCOPE_NAMESPACE_ enabled
#define GPUBOUND_SCOPE_VISIBILITY_ GPUBOUND_HIDDEN_
#endif

namespace gpubound {
// Files of one program may differ in GPUBOUND_DISABLE: the classes are then different ones.
inline namespace GPUBOUND_SCOPE_NAMESPACE_ {
namespace detail {

#ifndef GPUBOUND_DISABLE
// How many scopes are open where |scope| has begun; 0 for one of a function, which ends in order.
GPUBOUND_HIDDEN_ inline uint32_t DepthOf(const void* scope) noexcept {
  return GPUBOUND_UNLIKELY_(!gpubound_is_on_stack_(scope)) ? gpubound_open_count_() : 0;
}

// Ends what began on |thread|, at |depth|. What ends out of order is counted, and ends what is open
// under its label.
GPUBOUND_HIDDEN_ inline void EndBegun(uint32_t label, uint32_t depth, uintptr_t thread) noexcept {
  if (GPUBOUND_UNLIKELY_(thread != gpubound_this_thread_())) return gpubound_end_elsewhere_();
  if (GPUBOUND_UNLIKELY_(depth != 0)) {
    const uint32_t open = gpubound_open_count_();
    if (open != 0 && open != depth) gpubound_end_elsewhere_();
  }
  gpubound_end_label_(label);
}
#endif

// Closes what was opened, at the end of the block.
class Scope {
 public:
#ifdef GPUBOUND_DISABLE
  explicit Scope(uint32_t) noexcept {}
  ~Scope() {}
#else
  GPUBOUND_HIDDEN_ GPUBOUND_CONSTEXPR_SCOPE_ explicit Scope(uint32_t label) noexcept
      : label_(label),
        depth_(label == 0 ? 0 : DepthOf(this)),
        thread_(label == 0 ? 0 : gpubound_this_thread_()) {}
  GPUBOUND_HIDDEN_ GPUBOUND_CONSTEXPR_SCOPE_ ~Scope() {
    if (label_ != 0) EndBegun(label_, depth_, thread_);
  }
#endif
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

#ifndef GPUBOUND_DISABLE
 private:
  const uint32_t label_;
  const uint32_t depth_;
  const uintptr_t thread_;  // on which it began
#endif
};

#ifndef GPUBOUND_DISABLE
// What GPUBOUND_OPERATION and its like declare.
#if __cplusplus >= 202002L
using BlockScope = Scope;
#else
struct BlockScope {
  GPUBOUND_HIDDEN_ constexpr explicit BlockScope(uint32_t begun) noexcept
      : label(begun),
        depth(begun == 0 ? 0 : DepthOf(this)),
        thread(begun == 0 ? 0 : gpubound_this_thread_()) {}
  uint32_t label;
  uint32_t depth;
  uintptr_t thread;  // on which it began
};
#endif
#endif

// As a cast, which a compiler may find useless where it changes nothing.
template <typename To, typename From>
GPUBOUND_SCOPE_VISIBILITY_ constexpr To Convert(const From& from) noexcept {
  return static_cast<To>(from);
}

// What may be null: an empty name then, as in C.
GPUBOUND_SCOPE_VISIBILITY_ inline std::string_view NameOf(const char* text) noexcept {
  return text == nullptr ? std::string_view() : std::string_view(text);
}

GPUBOUND_SCOPE_VISIBILITY_ inline uint32_t BeginNamed(uint32_t kind,
                                                      std::string_view name) noexcept {
  return gpubound_begin_label_(gpubound_name_label_(kind, name.data(), name.size()));
}

}  // namespace detail

// The rest of the block is the operation |name|.
class Operation : private detail::Scope {
 public:
  [[nodiscard]] GPUBOUND_SCOPE_VISIBILITY_ explicit Operation(std::string_view name) noexcept
      : Scope(detail::BeginNamed(GPUBOUND_LABEL_OPERATION, name)) {}
  [[nodiscard]] GPUBOUND_SCOPE_VISIBILITY_ explicit Operation(const char* name) noexcept
      : Operation(detail::NameOf(name)) {}
};

// The rest of the block is the detail |name| inside the current operation.
class Annotation : private detail::Scope {
 public:
  [[nodiscard]] GPUBOUND_SCOPE_VISIBILITY_ explicit Annotation(std::string_view name) noexcept
      : Scope(detail::BeginNamed(GPUBOUND_LABEL_ANNOTATION, name)) {}
  [[nodiscard]] GPUBOUND_SCOPE_VISIBILITY_ explicit Annotation(const char* name) noexcept
      : Annotation(detail::NameOf(name)) {}
};

// Adopts, on another thread, the operation that gpubound_hand_over() offered.
class AdoptedOperation {
 public:
  [[nodiscard]] GPUBOUND_SCOPE_VISIBILITY_ explicit AdoptedOperation(uint64_t token) noexcept
      : token_(token) {
    gpubound_adopt(token_);
  }
  GPUBOUND_SCOPE_VISIBILITY_ ~AdoptedOperation() { gpubound_drop(token_); }
  AdoptedOperation(const AdoptedOperation&) = delete;
  AdoptedOperation& operator=(const AdoptedOperation&) = delete;

 private:
  const uint64_t token_;
};

// As gpubound_phase.
GPUBOUND_SCOPE_VISIBILITY_ inline void Phase(std::string_view name) noexcept {
  const uint32_t label = gpubound_name_label_(GPUBOUND_LABEL_PHASE, name.data(), name.size());
  gpubound_phase_label_(label);
}
GPUBOUND_SCOPE_VISIBILITY_ inline void Phase(const char* name) noexcept {
  Phase(detail::NameOf(name));
}

// The whole process is in the phase |name| for the rest of the block, then in the one before again:
//
//   const gpubound::ScopedPhase phase("evaluation");
//
// Any thread; where two threads use it at the same time, the last one to end restores what it found.
class GPUBOUND_SCOPE_VISIBILITY_ ScopedPhase {
 public:
  [[nodiscard]] explicit ScopedPhase(std::string_view name) noexcept
      : before_(gpubound_enter_phase_(
            gpubound_name_label_(GPUBOUND_LABEL_PHASE, name.data(), name.size()))) {}
  [[nodiscard]] explicit ScopedPhase(const char* name) noexcept
      : ScopedPhase(detail::NameOf(name)) {}
  ~ScopedPhase() { gpubound_phase_label_(before_); }
  ScopedPhase(const ScopedPhase&) = delete;
  ScopedPhase& operator=(const ScopedPhase&) = delete;

 private:
  const uint32_t before_;
};

// As gpubound_progress, gpubound_role, gpubound_metadata, gpubound_pause and gpubound_resume.
GPUBOUND_SCOPE_VISIBILITY_ inline void Progress(double done, double total) noexcept {
  gpubound_progress(done, total);
}
GPUBOUND_SCOPE_VISIBILITY_ inline void Role(const char* name) noexcept { gpubound_role(name); }
GPUBOUND_SCOPE_VISIBILITY_ inline void Metadata(const char* name, const char* value) noexcept {
  gpubound_metadata(name, value);
}
GPUBOUND_SCOPE_VISIBILITY_ inline void Pause() noexcept { gpubound_pause(); }
GPUBOUND_SCOPE_VISIBILITY_ inline void Resume() noexcept { gpubound_resume(); }

// As gpubound_counter.
GPUBOUND_SCOPE_VISIBILITY_ inline void Counter(std::string_view name, double value) noexcept {
  const uint32_t label = gpubound_name_label_(GPUBOUND_LABEL_COUNTER, name.data(), name.size());
  gpubound_counter_label_(label, value);
}
GPUBOUND_SCOPE_VISIBILITY_ inline void Counter(const char* name, double value) noexcept {
  Counter(detail::NameOf(name), value);
}

}  // namespace GPUBOUND_SCOPE_NAMESPACE_
}  // namespace gpubound

#if !defined(GPUBOUND_DISABLE) && __cplusplus < 202002L
// The attribute takes a plain name.
GPUBOUND_HIDDEN_ constexpr void gpubound_end_block_(
    const ::gpubound::detail::BlockScope* block) noexcept {
  if (block->label != 0) ::gpubound::detail::EndBegun(block->label, block->depth, block->thread);
}
#endif

#endif  // GPUBOUND_SCOPE_HPP_
