/* SPDX-License-Identifier: Apache-2.0
 *
 * How functions in headers are declared, in C11 and in C++17. Not for inclusion by users.
 */
#ifndef GPUBOUND_DETAIL_FUNCTION_MACROS_H_
#define GPUBOUND_DETAIL_FUNCTION_MACROS_H_

#define GPUBOUND_HIDDEN_ __attribute__((visibility("hidden")))

#ifdef __cplusplus
#define GPUBOUND_INLINE_ GPUBOUND_HIDDEN_ inline
#define GPUBOUND_SLOW_PATH_ GPUBOUND_INLINE_ __attribute__((noinline, cold))
#define GPUBOUND_HIDDEN_TYPE_ GPUBOUND_HIDDEN_
#define GPUBOUND_NULL_ nullptr
#define GPUBOUND_NOEXCEPT_ noexcept
#define GPUBOUND_CAST_(type, value) reinterpret_cast<type>(value)
#define GPUBOUND_NARROW_(type, value) static_cast<type>(value)
#else
#define GPUBOUND_INLINE_ static inline
#define GPUBOUND_SLOW_PATH_ static __attribute__((noinline, cold, unused))
#define GPUBOUND_HIDDEN_TYPE_
#define GPUBOUND_NULL_ NULL
#define GPUBOUND_NOEXCEPT_
#define GPUBOUND_CAST_(type, value) ((type)(value))
#define GPUBOUND_NARROW_(type, value) ((type)(value))
#endif

#endif /* GPUBOUND_DETAIL_FUNCTION_MACROS_H_ */
