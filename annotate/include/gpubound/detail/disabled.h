/* SPDX-License-Identifier: Apache-2.0
 *
 * The surface of annotate.h with nothing behind it, for GPUBOUND_DISABLE and for platforms without
 * a collector. Arguments are still evaluated, because a program may count in them. Functions have
 * internal linkage, so that files which are not disabled keep theirs. No thread rule.
 */
#ifndef GPUBOUND_DETAIL_DISABLED_H_
#define GPUBOUND_DETAIL_DISABLED_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define GPUBOUND_DISABLED_ [[maybe_unused]] static inline
#define GPUBOUND_NOEXCEPT_ noexcept
#define GPUBOUND_NARROW_(type, value) static_cast<type>(value)
#else
#define GPUBOUND_DISABLED_ static inline
#define GPUBOUND_NOEXCEPT_
#define GPUBOUND_NARROW_(type, value) ((type)(value))
#endif

GPUBOUND_DISABLED_ void gpubound_begin(uint32_t scope) GPUBOUND_NOEXCEPT_ { (void)scope; }
GPUBOUND_DISABLED_ void gpubound_end(uint32_t scope) GPUBOUND_NOEXCEPT_ { (void)scope; }
GPUBOUND_DISABLED_ uint32_t gpubound_begin_label_(uint32_t scope) GPUBOUND_NOEXCEPT_ {
  return scope;
}
GPUBOUND_DISABLED_ void gpubound_end_label_(uint32_t scope) GPUBOUND_NOEXCEPT_ { (void)scope; }
GPUBOUND_DISABLED_ uint32_t gpubound_begin_operation(const char* name) GPUBOUND_NOEXCEPT_ {
  (void)name;
  return 0;
}
GPUBOUND_DISABLED_ uint32_t gpubound_begin_annotation(const char* name) GPUBOUND_NOEXCEPT_ {
  (void)name;
  return 0;
}
GPUBOUND_DISABLED_ void gpubound_phase(const char* name) GPUBOUND_NOEXCEPT_ { (void)name; }
GPUBOUND_DISABLED_ void gpubound_step(uint64_t iteration) GPUBOUND_NOEXCEPT_ { (void)iteration; }
GPUBOUND_DISABLED_ void gpubound_counter(const char* name, double value) GPUBOUND_NOEXCEPT_ {
  (void)name;
  (void)value;
}
GPUBOUND_DISABLED_ void gpubound_progress(double done, double total) GPUBOUND_NOEXCEPT_ {
  (void)done;
  (void)total;
}
GPUBOUND_DISABLED_ void gpubound_role(const char* name) GPUBOUND_NOEXCEPT_ { (void)name; }
GPUBOUND_DISABLED_ void gpubound_metadata(const char* name, const char* value) GPUBOUND_NOEXCEPT_ {
  (void)name;
  (void)value;
}
GPUBOUND_DISABLED_ void gpubound_pause(void) GPUBOUND_NOEXCEPT_ {}
GPUBOUND_DISABLED_ void gpubound_resume(void) GPUBOUND_NOEXCEPT_ {}
GPUBOUND_DISABLED_ uint64_t gpubound_hand_over(void) GPUBOUND_NOEXCEPT_ { return 0; }
GPUBOUND_DISABLED_ void gpubound_adopt(uint64_t token) GPUBOUND_NOEXCEPT_ { (void)token; }
GPUBOUND_DISABLED_ void gpubound_drop(uint64_t token) GPUBOUND_NOEXCEPT_ { (void)token; }
GPUBOUND_DISABLED_ void gpubound_wake(uint64_t what) GPUBOUND_NOEXCEPT_ { (void)what; }
GPUBOUND_DISABLED_ void gpubound_woken(uint64_t what) GPUBOUND_NOEXCEPT_ { (void)what; }
GPUBOUND_DISABLED_ void gpubound_found(uint64_t what) GPUBOUND_NOEXCEPT_ { (void)what; }
GPUBOUND_DISABLED_ uint32_t gpubound_name_label_(uint32_t kind, const char* text,
                                                 size_t length) GPUBOUND_NOEXCEPT_ {
  (void)kind;
  (void)text;
  (void)length;
  return 0;
}
GPUBOUND_DISABLED_ void gpubound_phase_label_(uint32_t label) GPUBOUND_NOEXCEPT_ { (void)label; }
GPUBOUND_DISABLED_ uint32_t gpubound_enter_phase_(uint32_t label) GPUBOUND_NOEXCEPT_ {
  return label;
}
GPUBOUND_DISABLED_ void gpubound_counter_label_(uint32_t label, double value) GPUBOUND_NOEXCEPT_ {
  (void)label;
  (void)value;
}

/* A misspelt layer or a name that is no literal is an error here too. */
#define GPUBOUND_BEGIN_OPERATION(name) GPUBOUND_NARROW_(uint32_t, sizeof("" name "") * 0)
#define GPUBOUND_BEGIN_ANNOTATION(name) GPUBOUND_NARROW_(uint32_t, sizeof("" name "") * 0)
#define GPUBOUND_BEGIN_FUNCTION() GPUBOUND_NARROW_(uint32_t, 0)
#define GPUBOUND_BEGIN_LAYER(layer) GPUBOUND_NARROW_(uint32_t, GPUBOUND_LAYER_##layer * 0)
#if defined(__cplusplus) && __cplusplus >= 201703L
/* As the scopes of annotate.h: not without braces. */
#define GPUBOUND_JOIN_(a, b) a##b
#define GPUBOUND_JOIN(a, b) GPUBOUND_JOIN_(a, b)
#define GPUBOUND_NO_NAMED_SCOPE_(scope, value)         \
  [[maybe_unused]] constexpr uint32_t scope = (value); \
  static_assert(sizeof(scope) != 0, "a scope stands in a block in braces")
#define GPUBOUND_NO_SCOPE_(value) \
  GPUBOUND_NO_NAMED_SCOPE_(GPUBOUND_JOIN(gpubound_scope_in_braces_, __COUNTER__), value)
#define GPUBOUND_CONVERT_(type, value) ::gpubound::detail::Convert<type>(value)
#else
#define GPUBOUND_NO_SCOPE_(value) ((void)(value))
#define GPUBOUND_CONVERT_(type, value) GPUBOUND_NARROW_(type, value)
#endif
#define GPUBOUND_OPERATION(name) GPUBOUND_NO_SCOPE_(GPUBOUND_BEGIN_OPERATION(name))
#define GPUBOUND_FUNCTION() GPUBOUND_NO_SCOPE_(0u)
#define GPUBOUND_ANNOTATION(name) GPUBOUND_NO_SCOPE_(GPUBOUND_BEGIN_ANNOTATION(name))
#define GPUBOUND_LAYER(layer) \
  GPUBOUND_NO_SCOPE_(GPUBOUND_NARROW_(uint32_t, GPUBOUND_LAYER_##layer * 0))
#define GPUBOUND_PHASE(name) ((void)sizeof("" name ""))
#define GPUBOUND_STEP(iteration) ((void)GPUBOUND_CONVERT_(uint64_t, iteration))
#define GPUBOUND_COUNTER(name, value) \
  ((void)sizeof("" name ""), (void)GPUBOUND_CONVERT_(double, value))

#endif /* GPUBOUND_DETAIL_DISABLED_H_ */
