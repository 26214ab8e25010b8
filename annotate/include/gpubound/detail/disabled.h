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
#define GPUBOUND_OPERATION(name) ((void)GPUBOUND_BEGIN_OPERATION(name))
#define GPUBOUND_FUNCTION() ((void)0)
#define GPUBOUND_ANNOTATION(name) ((void)GPUBOUND_BEGIN_ANNOTATION(name))
#define GPUBOUND_LAYER(layer) ((void)GPUBOUND_BEGIN_LAYER(layer))
#define GPUBOUND_PHASE(name) ((void)sizeof("" name ""))
#define GPUBOUND_STEP(iteration) gpubound_step(GPUBOUND_NARROW_(uint64_t, iteration))
#define GPUBOUND_COUNTER(name, value) gpubound_counter("" name "", GPUBOUND_NARROW_(double, value))

#endif /* GPUBOUND_DETAIL_DISABLED_H_ */
