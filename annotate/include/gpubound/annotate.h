/* SPDX-License-Identifier: Apache-2.0
 *
 * gpubound annotations for C and C++ (C11, C++17 and later). Header-only, nothing to link, and
 * without an injected collector every one of them costs a load and a compare and does nothing.
 *
 *   GPUBOUND_OPERATION("inference");     the rest of the block is this operation
 *   GPUBOUND_FUNCTION();                 the same, named after the function
 *   GPUBOUND_LAYER(simulator);           the rest of the block executes this layer:
 *                                        python, wait, native, simulator or backend
 *   GPUBOUND_ANNOTATION("rollout 7");    a detail inside the current operation
 *   GPUBOUND_PHASE("self-play");         from here on, process-wide, until the next phase (for the
 *                                        rest of the block: gpubound::ScopedPhase of scope.hpp)
 *   GPUBOUND_STEP(n);                    iteration number n of the training loop ends here
 *   GPUBOUND_COUNTER("env_steps", n);    the value of a counter, now; a result of the training, such
 *                                        as "return", is one that `report --target` looks for
 *
 * gpubound_progress, gpubound_role, gpubound_metadata, gpubound_pause and gpubound_resume are below.
 *
 * The names are string literals; each call site asks for its label once. For names known at run
 * time C++ has gpubound::Operation and its like (scope.hpp), C the functions below. Each distinct
 * name becomes a label for the life of the process: give a scope the name of what it does, not of
 * which turn it is.
 *
 * Where a block is not the right extent, C and C++ alike:
 *
 *   uint32_t scope = GPUBOUND_BEGIN_OPERATION("simulation");
 *   ...
 *   gpubound_end(scope);                 on the same thread, innermost first
 *
 * A block that longjmp leaves stays open until the block around it ends, and counts as unbalanced
 * then. A scope must end on the thread on which it began, and not span a co_await: what the thread
 * does while the coroutine is suspended would be its. One that ends on another thread, or out of
 * order, is counted as unbalanced, and the report says "incomplete". Close it before the co_await, hand the operation over
 * (gpubound_hand_over below), or use the scopes of coroutine.hpp.
 *
 * A scope lasts for a block in braces. In C++ one that is itself the branch of an `if`, or the body
 * of a loop, does not compile: it would end before the next statement begins. All macros but
 * GPUBOUND_BEGIN_... may stand in constexpr functions; they do nothing where the compiler evaluates
 * these.
 *
 * Every annotation may be used on any thread, in destructors and in noexcept functions, in a
 * process that forks and in a library that is unloaded; none throws, fails or touches errno. A null
 * name is an empty one. In a signal handler, use names that were used before: a new one needs
 * memory. The handler may cost the trace the event that it interrupts.
 * Arguments are evaluated exactly once, with or without a collector, so that profiling never
 * changes what a program computes. With GPUBOUND_DISABLE defined before inclusion nothing is left
 * but that evaluation; all files of one program need not agree.
 *
 * Linking: dlsym is in libc from glibc 2.34 on; add -ldl for an older one. Static executables have
 * no dlsym to speak of: define GPUBOUND_DISABLE for them.
 */
#ifndef GPUBOUND_ANNOTATE_H_
#define GPUBOUND_ANNOTATE_H_

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "api.h"

/* One error, and not one for every line that uses what an older language lacks. */
#if defined(__cplusplus) && __cplusplus < 201703L
#error "gpubound/annotate.h needs C++17: compile with -std=c++17 or later, or from C"
#define GPUBOUND_DISABLE
#endif

#if !defined(GPUBOUND_DISABLE) && !(defined(__linux__) && defined(__GNUC__))
#define GPUBOUND_DISABLE
#endif

#ifdef GPUBOUND_DISABLE
#include "detail/disabled.h"
#else
#include "detail/lookup.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Opens and closes scopes by label; 0 is "nobody records". `gpubound_end` closes the innermost open
 * scope with that label on the calling thread. */
GPUBOUND_INLINE_ void gpubound_begin(uint32_t scope) GPUBOUND_NOEXCEPT_ {
  const struct gpubound_api* table = scope == 0 ? GPUBOUND_NULL_ : gpubound_table_();
  if (table != GPUBOUND_NULL_) GPUBOUND_TABLE_BEGIN_(table)(scope);
}
GPUBOUND_INLINE_ void gpubound_end(uint32_t scope) GPUBOUND_NOEXCEPT_ {
  const struct gpubound_api* table = scope == 0 ? GPUBOUND_NULL_ : gpubound_table_();
  if (table != GPUBOUND_NULL_) GPUBOUND_TABLE_END_(table)(scope);
}

/* The same for labels that a look-up in this file returned. */
GPUBOUND_INLINE_ uint32_t gpubound_begin_label_(uint32_t scope) GPUBOUND_NOEXCEPT_ {
  if (scope != 0) GPUBOUND_TABLE_BEGIN_(gpubound_table_of_labels_())(scope);
  return scope;
}
GPUBOUND_INLINE_ void gpubound_end_label_(uint32_t scope) GPUBOUND_NOEXCEPT_ {
  if (scope != 0) GPUBOUND_TABLE_END_(gpubound_table_of_labels_())(scope);
}

#ifdef __cplusplus
/* How many scopes are open on this thread, 0 where nobody knows. */
GPUBOUND_SLOW_PATH_ uint32_t gpubound_open_count_(void) GPUBOUND_NOEXCEPT_ {
  const struct gpubound_api* table = gpubound_table_();
  return table != GPUBOUND_NULL_ && GPUBOUND_TABLE_HAS_(table, open_scopes)
             ? table->open_scopes(GPUBOUND_NULL_, 0)
             : 0;
}
/* A scope that began on another thread than the calling one ends: to close what is open here under
 * its name would be wrong, so that it is counted only. */
GPUBOUND_SLOW_PATH_ void gpubound_end_elsewhere_(void) GPUBOUND_NOEXCEPT_ {
  const struct gpubound_api* table = gpubound_table_();
  if (table != GPUBOUND_NULL_ && GPUBOUND_TABLE_HAS_(table, ledger)) {
    table->ledger("unbalanced_scopes", 1, GPUBOUND_NULL_, 0);
  }
}
/* What is another number on every thread of the process; volatile, since a coroutine may be on
 * another one after a co_await. */
GPUBOUND_INLINE_ uintptr_t gpubound_this_thread_(void) GPUBOUND_NOEXCEPT_ {
  uintptr_t self = 0;
#if defined(__x86_64__) && defined(__LP64__)
  __asm__ volatile("movq %%fs:0, %0" : "=r"(self));
#endif
  return self;
}
/* Whether |object| lies in a frame of the stack that this thread runs on, as the scopes of functions
 * do. Those of coroutines do not: other coroutines may run between their begin and their end. */
GPUBOUND_INLINE_ int gpubound_is_on_stack_(const void* object) GPUBOUND_NOEXCEPT_ {
#if defined(__x86_64__) && defined(__LP64__)
  uintptr_t top = 0;
  __asm__ volatile("movq %%rsp, %0" : "=r"(top));
  return GPUBOUND_CAST_(uintptr_t, object) - top < (uintptr_t{1} << 20);
#else
  return object != GPUBOUND_NULL_;
#endif
}
#endif

/* Opens a scope whose name is known at run time; returns what gpubound_end closes it with. |name|
 * is copied. A name seen before costs a hash of it, not a look-up in the collector. */
GPUBOUND_INLINE_ uint32_t gpubound_begin_operation(const char* name) GPUBOUND_NOEXCEPT_ {
  return gpubound_begin_label_(gpubound_text_label_(GPUBOUND_LABEL_OPERATION, name));
}
/* Likewise for a detail inside the current operation. */
GPUBOUND_INLINE_ uint32_t gpubound_begin_annotation(const char* name) GPUBOUND_NOEXCEPT_ {
  return gpubound_begin_label_(gpubound_text_label_(GPUBOUND_LABEL_ANNOTATION, name));
}

/* From here on the whole process is in the phase |name|, which is copied, until the next one. */
GPUBOUND_INLINE_ void gpubound_phase(const char* name) GPUBOUND_NOEXCEPT_ {
  gpubound_phase_label_(gpubound_text_label_(GPUBOUND_LABEL_PHASE, name));
}
/* Ends an iteration of the training loop: |iteration| is the number of the one that ends here. */
GPUBOUND_INLINE_ void gpubound_step(uint64_t iteration) GPUBOUND_NOEXCEPT_ {
  const struct gpubound_api* table = gpubound_table_();
  if (table != GPUBOUND_NULL_ && GPUBOUND_TABLE_HAS_(table, step)) table->step(iteration);
}
/* The counter |name|, which is copied, has |value| now. It has no unit but what its name says. Any
 * value is recorded, NaN and infinity too; formats without a number for them leave them out. */
GPUBOUND_INLINE_ void gpubound_counter(const char* name, double value) GPUBOUND_NOEXCEPT_ {
  gpubound_counter_label_(gpubound_text_label_(GPUBOUND_LABEL_COUNTER, name), value);
}

/* Says how far the training is: |done| of |total|, in the same unit (time steps, epochs). Recorded as
 * the counters progress_done and progress_total. */
GPUBOUND_INLINE_ void gpubound_progress(double done, double total) GPUBOUND_NOEXCEPT_ {
  gpubound_counter("progress_done", done);
  gpubound_counter("progress_total", total);
}
/* Says what this process does in the training from here on, until it says something else: |name| is
 * environment, rollout, reward, data or train. The first holds for the time before it too. Recorded as
 * the counter role:NAME; any other name is in the report's notes, and longer ones are cut. */
GPUBOUND_INLINE_ void gpubound_role(const char* name) GPUBOUND_NOEXCEPT_ {
  char counter[24] = "role:";
  size_t length = 5;
  for (; *name != '\0' && length + 1 < sizeof(counter); ++name) counter[length++] = *name;
  counter[length] = '\0';
  gpubound_counter(counter, 1);
}
/* A fact about the run that its report shows (algorithm, environment, seed). Both texts are UTF-8 and
 * copied. A process keeps at most 1000 of them, each of at most 4096 bytes; with a name or a value
 * beyond 1000 bytes it is cut. */
GPUBOUND_INLINE_ void gpubound_metadata(const char* name, const char* value) GPUBOUND_NOEXCEPT_ {
  const struct gpubound_api* table = gpubound_table_();
  if (table != GPUBOUND_NULL_ && GPUBOUND_TABLE_HAS_(table, ledger)) {
    gpubound_note_metadata_(table, name, value);
  }
}
/* From gpubound_pause to gpubound_resume, or to the end, GPU time of this process is unknown in its
 * report: for work that shall not be counted, as an evaluation. Scopes go on being recorded. */
GPUBOUND_INLINE_ void gpubound_pause(void) GPUBOUND_NOEXCEPT_ {
  const struct gpubound_api* table = gpubound_table_();
  if (table != GPUBOUND_NULL_ && GPUBOUND_TABLE_HAS_(table, resume)) table->pause();
}
GPUBOUND_INLINE_ void gpubound_resume(void) GPUBOUND_NOEXCEPT_ {
  const struct gpubound_api* table = gpubound_table_();
  if (table != GPUBOUND_NULL_ && GPUBOUND_TABLE_HAS_(table, resume)) table->resume();
}

/* Hands the innermost open operation of this thread to another one: pass the token there, adopt it
 * around the work, drop it after. 0 when there is nothing to hand over. */
GPUBOUND_INLINE_ uint64_t gpubound_hand_over(void) GPUBOUND_NOEXCEPT_ {
  const struct gpubound_api* table = gpubound_table_();
  return table != GPUBOUND_NULL_ && GPUBOUND_TABLE_HAS_(table, drop) ? table->hand_over() : 0;
}
GPUBOUND_INLINE_ void gpubound_adopt(uint64_t token) GPUBOUND_NOEXCEPT_ {
  const struct gpubound_api* table = token == 0 ? GPUBOUND_NULL_ : gpubound_table_();
  if (table != GPUBOUND_NULL_ && GPUBOUND_TABLE_HAS_(table, drop)) table->adopt(token);
}
GPUBOUND_INLINE_ void gpubound_drop(uint64_t token) GPUBOUND_NOEXCEPT_ {
  const struct gpubound_api* table = token == 0 ? GPUBOUND_NULL_ : gpubound_table_();
  if (table != GPUBOUND_NULL_ && GPUBOUND_TABLE_HAS_(table, drop)) table->drop(token);
}

/* Between threads of a process that wait for each other, so that predictions and the corrected
 * timeline know what a wait is for: one calls gpubound_wake before it wakes those that wait for
 * |what|, any number that both know, as the address of a condition variable; each of these
 * gpubound_woken once it goes on, inside its GPUBOUND_LAYER(wait). Where it was the time that ran
 * out, it does not. Who comes for what may have been there already, as an item of a queue (each a
 * |what| of its own), calls gpubound_found when it has it: faster, it would have to wait.
 * A timer is a |what| too, GPUBOUND_AT_TIME | ns of CLOCK_MONOTONIC: gpubound_wake where it is set,
 * gpubound_woken or gpubound_found by whom it lets go on; what is done beside it, it does not wait
 * for. Other numbers stay below GPUBOUND_AT_TIME. */
GPUBOUND_INLINE_ void gpubound_wake(uint64_t what) GPUBOUND_NOEXCEPT_ {
  const struct gpubound_api* table = gpubound_table_();
  if (table != GPUBOUND_NULL_ && GPUBOUND_TABLE_HAS_(table, woken)) table->wake(what);
}
GPUBOUND_INLINE_ void gpubound_woken(uint64_t what) GPUBOUND_NOEXCEPT_ {
  const struct gpubound_api* table = gpubound_table_();
  if (table != GPUBOUND_NULL_ && GPUBOUND_TABLE_HAS_(table, woken)) table->woken(what);
}
GPUBOUND_INLINE_ void gpubound_found(uint64_t what) GPUBOUND_NOEXCEPT_ {
  const struct gpubound_api* table = gpubound_table_();
  if (table != GPUBOUND_NULL_ && GPUBOUND_TABLE_HAS_(table, found)) table->found(what);
}

/* What the macros are made of. */
GPUBOUND_INLINE_ uint32_t gpubound_begin_at_(struct gpubound_site_* site, uint32_t kind,
                                             uint32_t layer, const char* name) GPUBOUND_NOEXCEPT_ {
  return gpubound_begin_label_(gpubound_site_label_(site, kind, layer, name));
}
#ifndef __cplusplus
GPUBOUND_INLINE_ void gpubound_end_at_(const uint32_t* scope) GPUBOUND_NOEXCEPT_ {
  gpubound_end_label_(*scope);
}
#endif
GPUBOUND_INLINE_ void gpubound_phase_at_(struct gpubound_site_* site,
                                         const char* name) GPUBOUND_NOEXCEPT_ {
  gpubound_phase_label_(
      gpubound_site_label_(site, GPUBOUND_LABEL_PHASE, GPUBOUND_LAYER_unset, name));
}
GPUBOUND_INLINE_ void gpubound_counter_at_(struct gpubound_site_* site, const char* name,
                                           double value) GPUBOUND_NOEXCEPT_ {
  gpubound_counter_label_(
      gpubound_site_label_(site, GPUBOUND_LABEL_COUNTER, GPUBOUND_LAYER_unset, name), value);
}

#ifdef __cplusplus
} /* extern "C" */
#endif

#define GPUBOUND_JOIN_(a, b) a##b
#define GPUBOUND_JOIN(a, b) GPUBOUND_JOIN_(a, b)

#ifdef __cplusplus
  /* A lambda may hold what a constexpr function may not. */
#define GPUBOUND_SITE_()                                                         \
  ([]() noexcept -> struct gpubound_site_* {                                     \
    static struct gpubound_site_ gpubound_site_word_ = {GPUBOUND_SITE_UNKNOWN_}; \
    return &gpubound_site_word_;                                                 \
  }())
#define GPUBOUND_CONVERT_(type, value) ::gpubound::detail::Convert<type>(value)
#define GPUBOUND_AT_RUN_TIME_(at_run_time, else_) \
  (__builtin_is_constant_evaluated() ? (else_) : (at_run_time))
#else
#define GPUBOUND_SITE_()                                                         \
  (__extension__({                                                               \
    static struct gpubound_site_ gpubound_site_word_ = {GPUBOUND_SITE_UNKNOWN_}; \
    &gpubound_site_word_;                                                        \
  }))
#define GPUBOUND_CONVERT_(type, value) ((type)(value))
#define GPUBOUND_AT_RUN_TIME_(at_run_time, else_) (at_run_time)
#endif

/* Only a literal can stand between literals: a name that changes does not belong to a call site. */
#define GPUBOUND_BEGIN_OPERATION(name) \
  gpubound_begin_at_(GPUBOUND_SITE_(), GPUBOUND_LABEL_OPERATION, GPUBOUND_LAYER_unset, "" name "")
#define GPUBOUND_BEGIN_ANNOTATION(name) \
  gpubound_begin_at_(GPUBOUND_SITE_(), GPUBOUND_LABEL_ANNOTATION, GPUBOUND_LAYER_unset, "" name "")
#define GPUBOUND_BEGIN_FUNCTION() \
  gpubound_begin_at_(GPUBOUND_SITE_(), GPUBOUND_LABEL_OPERATION, GPUBOUND_LAYER_unset, __func__)
#define GPUBOUND_BEGIN_LAYER(layer) \
  gpubound_begin_at_(GPUBOUND_SITE_(), GPUBOUND_LABEL_LAYER, GPUBOUND_LAYER_##layer, #layer)

#define GPUBOUND_BEGIN_BLOCK_(kind, layer, name) \
  gpubound_begin_at_(GPUBOUND_SITE_(), (kind) | GPUBOUND_BLOCK_SITE_, layer, name)
#ifdef __cplusplus
/* The second declaration sees the first one only where both stand in one block. */
#define GPUBOUND_NAMED_SCOPE_(scope, kind, layer, name)                     \
  ::gpubound::detail::BlockScope scope GPUBOUND_BLOCK_CLEANUP_{             \
      GPUBOUND_AT_RUN_TIME_(GPUBOUND_BEGIN_BLOCK_(kind, layer, name), 0u)}; \
  static_assert(sizeof(scope) != 0, "a scope stands in a block in braces")
#define GPUBOUND_SCOPE_(kind, layer, name) \
  GPUBOUND_NAMED_SCOPE_(GPUBOUND_JOIN(gpubound_scope_in_braces_, __COUNTER__), kind, layer, name)
#else
#define GPUBOUND_SCOPE_(kind, layer, name)                   \
  const uint32_t GPUBOUND_JOIN(gpubound_scope_, __COUNTER__) \
      __attribute__((cleanup(gpubound_end_at_), unused)) =   \
          GPUBOUND_BEGIN_BLOCK_(kind, layer, name)
#endif

#define GPUBOUND_OPERATION(name) \
  GPUBOUND_SCOPE_(GPUBOUND_LABEL_OPERATION, GPUBOUND_LAYER_unset, "" name "")
#define GPUBOUND_FUNCTION() \
  GPUBOUND_SCOPE_(GPUBOUND_LABEL_OPERATION, GPUBOUND_LAYER_unset, __func__)
#define GPUBOUND_ANNOTATION(name) \
  GPUBOUND_SCOPE_(GPUBOUND_LABEL_ANNOTATION, GPUBOUND_LAYER_unset, "" name "")
#define GPUBOUND_LAYER(layer) GPUBOUND_SCOPE_(GPUBOUND_LABEL_LAYER, GPUBOUND_LAYER_##layer, #layer)
#define GPUBOUND_PHASE(name) \
  GPUBOUND_AT_RUN_TIME_(gpubound_phase_at_(GPUBOUND_SITE_(), "" name ""), (void)0)
#define GPUBOUND_STEP(iteration)                                               \
  GPUBOUND_AT_RUN_TIME_(gpubound_step(GPUBOUND_CONVERT_(uint64_t, iteration)), \
                        GPUBOUND_CONVERT_(void, iteration))
#define GPUBOUND_COUNTER(name, value)                                                       \
  GPUBOUND_AT_RUN_TIME_(                                                                    \
      gpubound_counter_at_(GPUBOUND_SITE_(), "" name "", GPUBOUND_CONVERT_(double, value)), \
      GPUBOUND_CONVERT_(void, value))

#endif /* GPUBOUND_DISABLE */

#if defined(__cplusplus) && __cplusplus >= 201703L
#include "scope.hpp"
#endif

#endif /* GPUBOUND_ANNOTATE_H_ */
