/* SPDX-License-Identifier: Apache-2.0
 *
 * How a program that compiled annotate.h in finds the collector, and how a name becomes a label.
 * Not for inclusion by users. C11 and C++17.
 *
 * State per module (executable or shared library), shared by its C and C++ files: one word that
 * holds the table, and a small table of names that are not literals. State per call site: one word,
 *
 *   UINT32_MAX  the collector has not been asked yet     (constant-initialised to this)
 *   0           there is nobody to record                (every later use: one load, one compare)
 *   else        the label id
 *
 * Labels mean the same in a fork child, so nothing here cares about fork. Everything is hidden in
 * its module, so that two modules never share code of different versions of this file, and dlclose
 * works. Any thread may call anything; no lock is taken here.
 */
#ifndef GPUBOUND_DETAIL_LOOKUP_H_
#define GPUBOUND_DETAIL_LOOKUP_H_

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "../api.h"
#include "function_macros.h"
#include "unrecorded.h"

#define GPUBOUND_UNLIKELY_(condition) __builtin_expect(!!(condition), 0)
#define GPUBOUND_SITE_UNKNOWN_ UINT32_MAX
#define GPUBOUND_TABLE_UNKNOWN_ 1u

#ifdef __cplusplus
extern "C" {
#endif

/* Whether a table of |size| bytes has the field: one of an older collector may be shorter. */
#define GPUBOUND_TABLE_HAS_(table, field) \
  ((table)->size >= offsetof(struct gpubound_api, field) + sizeof((table)->field))

/* The collector may exchange these two at any time. */
#define GPUBOUND_TABLE_BEGIN_(table) __atomic_load_n(&(table)->begin, __ATOMIC_RELAXED)
#define GPUBOUND_TABLE_END_(table) __atomic_load_n(&(table)->end, __ATOMIC_RELAXED)

/* Address of the table, 0 when there is none, GPUBOUND_TABLE_UNKNOWN_ before the first look. */
extern uintptr_t gpubound_table_word_;
GPUBOUND_HIDDEN_ __attribute__((weak)) uintptr_t gpubound_table_word_ = GPUBOUND_TABLE_UNKNOWN_;

typedef const struct gpubound_api* (*gpubound_api_function_)(void);

/* A table that cannot open scopes is of no use; every other field is checked where it is used. */
GPUBOUND_SLOW_PATH_ const struct gpubound_api* gpubound_find_table_(void) GPUBOUND_NOEXCEPT_ {
  const int saved_errno = errno;
  gpubound_api_function_ get_table = GPUBOUND_NULL_;
  const struct gpubound_api* table = GPUBOUND_NULL_;
  void* symbol =
      dlsym(GPUBOUND_NULL_, "gpubound_api_v1"); /* null is RTLD_DEFAULT, hidden by strict C11 */
  if (symbol == GPUBOUND_NULL_ && getauxval(AT_SECURE) == 0) {
    const char* path = getenv("GPUBOUND_LIBRARY");
    void* library = path == GPUBOUND_NULL_ || *path == '\0' ? GPUBOUND_NULL_
                                                            : dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library != GPUBOUND_NULL_) symbol = dlsym(library, "gpubound_api_v1");
  }
  memcpy(&get_table, &symbol, sizeof(get_table));
  if (get_table != GPUBOUND_NULL_) table = get_table();
  if (table == GPUBOUND_NULL_ || table->version != GPUBOUND_API_VERSION ||
      !GPUBOUND_TABLE_HAS_(table, end)) {
    if (get_table == GPUBOUND_NULL_) {
      gpubound_leave_unrecorded_(
          "libgpubound.so is not in it: it is linked statically, or LD_PRELOAD was set anew on the "
          "way");
    } else if (table != GPUBOUND_NULL_) {
      gpubound_leave_unrecorded_("its annotations are of another version than libgpubound.so");
    }
    table = GPUBOUND_NULL_;
  }
  /* Threads that look at the same time find the same. */
  __atomic_store_n(&gpubound_table_word_, GPUBOUND_CAST_(uintptr_t, table), __ATOMIC_RELEASE);
  errno = saved_errno;
  return table;
}

GPUBOUND_INLINE_ const struct gpubound_api* gpubound_table_(void) GPUBOUND_NOEXCEPT_ {
  const uintptr_t word = __atomic_load_n(&gpubound_table_word_, __ATOMIC_ACQUIRE);
  if (GPUBOUND_UNLIKELY_(word == GPUBOUND_TABLE_UNKNOWN_)) return gpubound_find_table_();
  return GPUBOUND_CAST_(const struct gpubound_api*, word);
}

/* The same for who holds a label other than 0: it came from a table, so there is one. */
GPUBOUND_INLINE_ const struct gpubound_api* gpubound_table_of_labels_(void) GPUBOUND_NOEXCEPT_ {
  return GPUBOUND_CAST_(const struct gpubound_api*,
                        __atomic_load_n(&gpubound_table_word_, __ATOMIC_RELAXED));
}

/* Added to the kind of a call site whose scope is a block. */
#define GPUBOUND_BLOCK_SITE_ 0x100u

/* The state of one call site. Its type is hidden, so that g++ does not make the one inside an
 * inline function a STB_GNU_UNIQUE symbol, which would keep its library from ever being unloaded.
 */
struct GPUBOUND_HIDDEN_TYPE_ gpubound_site_ {
  uint32_t label;
};

/* A call site asks here once; racing threads are given the same label. */
GPUBOUND_SLOW_PATH_ uint32_t gpubound_resolve_site_(struct gpubound_site_* site, uint32_t kind,
                                                    uint32_t layer,
                                                    const char* text) GPUBOUND_NOEXCEPT_ {
  const struct gpubound_api* table = gpubound_table_();
  uint32_t label = 0;
  if (table != GPUBOUND_NULL_) {
    label = table->label(kind & ~GPUBOUND_BLOCK_SITE_, layer, GPUBOUND_NULL_, text, strlen(text));
  }
  if (label != 0 && (kind & GPUBOUND_BLOCK_SITE_) != 0) label |= GPUBOUND_LABEL_BLOCK;
  __atomic_store_n(&site->label, label, __ATOMIC_RELEASE);
  return label;
}

GPUBOUND_INLINE_ uint32_t gpubound_site_label_(struct gpubound_site_* site, uint32_t kind,
                                               uint32_t layer,
                                               const char* text) GPUBOUND_NOEXCEPT_ {
  const uint32_t label = __atomic_load_n(&site->label, __ATOMIC_ACQUIRE);
  if (label == 0) return 0; /* first, so that nothing else is done where nobody records */
  if (GPUBOUND_UNLIKELY_(label == GPUBOUND_SITE_UNKNOWN_)) {
    return gpubound_resolve_site_(site, kind, layer, text);
  }
  return label;
}

/* The cache of names that are not literals: an entry is claimed once, filled, published and never
 * changed, so that a reader needs no lock. What does not fit, because the name is long or its
 * places are taken, is asked for each time, which costs a look-up in the collector. */
enum {
  GPUBOUND_NAME_ENTRIES_ = 256,
  GPUBOUND_NAME_PROBES_ = 4,
  GPUBOUND_NAME_BYTES_ = 56,
  GPUBOUND_NAME_FREE_ = 0,
  GPUBOUND_NAME_CLAIMED_ = 1,
  GPUBOUND_NAME_READY_ = 2
};
struct gpubound_name_entry_ {
  uint32_t label;
  uint8_t state;
  uint8_t kind;
  uint8_t length;
  uint8_t reserved;
  char text[GPUBOUND_NAME_BYTES_];
};
extern struct gpubound_name_entry_ gpubound_names_[GPUBOUND_NAME_ENTRIES_];
GPUBOUND_HIDDEN_
__attribute__((weak)) struct gpubound_name_entry_ gpubound_names_[GPUBOUND_NAME_ENTRIES_];

GPUBOUND_INLINE_ uint32_t gpubound_hash_name_(uint32_t kind, const char* text,
                                              size_t length) GPUBOUND_NOEXCEPT_ {
  uint32_t hash = 2166136261u ^ kind; /* FNV-1a */
  for (size_t i = 0; i < length; ++i)
    hash = (hash ^ GPUBOUND_NARROW_(unsigned char, text[i])) * 16777619u;
  return hash ^ hash >> 16;
}

GPUBOUND_INLINE_ uint32_t gpubound_cached_name_(const struct gpubound_api* table, uint32_t kind,
                                                const char* text,
                                                size_t length) GPUBOUND_NOEXCEPT_ {
  const uint32_t hash = gpubound_hash_name_(kind, text, length);
  for (uint32_t probe = 0; probe < GPUBOUND_NAME_PROBES_; ++probe) {
    struct gpubound_name_entry_* entry = &gpubound_names_[(hash + probe) % GPUBOUND_NAME_ENTRIES_];
    uint8_t state = __atomic_load_n(&entry->state, __ATOMIC_ACQUIRE);
    if (state == GPUBOUND_NAME_READY_) {
      if (entry->kind == kind && entry->length == length &&
          memcmp(entry->text, text, length) == 0) {
        return entry->label;
      }
    } else if (state == GPUBOUND_NAME_FREE_ &&
               __atomic_compare_exchange_n(&entry->state, &state, GPUBOUND_NAME_CLAIMED_, 0,
                                           __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
      entry->label = table->label(kind, GPUBOUND_LAYER_unset, GPUBOUND_NULL_, text, length);
      entry->kind = GPUBOUND_NARROW_(uint8_t, kind);
      entry->length = GPUBOUND_NARROW_(uint8_t, length);
      memcpy(entry->text, text, length);
      __atomic_store_n(&entry->state, GPUBOUND_NAME_READY_, __ATOMIC_RELEASE);
      return entry->label;
    }
  }
  return table->label(kind, GPUBOUND_LAYER_unset, GPUBOUND_NULL_, text, length);
}

/* The label of a name known at run time only; 0 when there is nobody to record. */
GPUBOUND_INLINE_ uint32_t gpubound_name_label_(uint32_t kind, const char* text,
                                               size_t length) GPUBOUND_NOEXCEPT_ {
  const struct gpubound_api* table = gpubound_table_();
  if (table == GPUBOUND_NULL_) return 0;
  if (text == GPUBOUND_NULL_)
    return table->label(kind, GPUBOUND_LAYER_unset, GPUBOUND_NULL_, "", 0);
  if (length <= GPUBOUND_NAME_BYTES_) return gpubound_cached_name_(table, kind, text, length);
  return table->label(kind, GPUBOUND_LAYER_unset, GPUBOUND_NULL_, text, length);
}

/* The same for a name that ends with a zero, or null for an empty one. */
GPUBOUND_INLINE_ uint32_t gpubound_text_label_(uint32_t kind, const char* text) GPUBOUND_NOEXCEPT_ {
  if (gpubound_table_() == GPUBOUND_NULL_) return 0;
  return gpubound_name_label_(kind, text, text == GPUBOUND_NULL_ ? 0 : strlen(text));
}

GPUBOUND_INLINE_ void gpubound_phase_label_(uint32_t label) GPUBOUND_NOEXCEPT_ {
  const struct gpubound_api* table = label == 0 ? GPUBOUND_NULL_ : gpubound_table_();
  if (table != GPUBOUND_NULL_ && GPUBOUND_TABLE_HAS_(table, phase)) table->phase(label);
}

/* Begins the phase of the label and returns what gpubound_phase_label_ restores the one before with;
 * 0 where there is nobody to record, or a collector that is too old to know it. The name is that of
 * reports for time before the first phase. */
GPUBOUND_INLINE_ uint32_t gpubound_enter_phase_(uint32_t label) GPUBOUND_NOEXCEPT_ {
  const struct gpubound_api* table = label == 0 ? GPUBOUND_NULL_ : gpubound_table_();
  uint32_t before = 0;
  if (table != GPUBOUND_NULL_ && GPUBOUND_TABLE_HAS_(table, current_phase)) {
    before = table->current_phase();
    if (before == 0) before = gpubound_text_label_(GPUBOUND_LABEL_PHASE, "(no phase)");
  }
  gpubound_phase_label_(label);
  return before;
}

GPUBOUND_INLINE_ void gpubound_counter_label_(uint32_t label, double value) GPUBOUND_NOEXCEPT_ {
  const struct gpubound_api* table = label == 0 ? GPUBOUND_NULL_ : gpubound_table_();
  if (table != GPUBOUND_NULL_ && GPUBOUND_TABLE_HAS_(table, counter)) table->counter(label, value);
}

/* Appends |text| as the inside of a JSON string, as much of it as fits into |room| bytes. */
GPUBOUND_SLOW_PATH_ size_t gpubound_put_json_(char* to, size_t room,
                                              const char* text) GPUBOUND_NOEXCEPT_ {
  static const char digits[] = "0123456789abcdef";
  size_t put = 0;
  for (; text != GPUBOUND_NULL_ && *text != '\0'; ++text) {
    const unsigned char c = GPUBOUND_NARROW_(unsigned char, *text);
    if (room - put < 6) break;
    if (c < 0x20) {
      memcpy(to + put, "\\u00", 4);
      to[put + 4] = digits[c >> 4];
      to[put + 5] = digits[c & 15];
      put += 6;
      continue;
    }
    if (c == '"' || c == '\\') to[put++] = '\\';
    to[put++] = *text;
  }
  return put;
}

/* The note that analysis/trace/run_metadata.cc reads, as annotate/python/gpubound/_api.py writes it. */
GPUBOUND_SLOW_PATH_ void gpubound_note_metadata_(const struct gpubound_api* table, const char* name,
                                                 const char* value) GPUBOUND_NOEXCEPT_ {
  enum { GPUBOUND_METADATA_TEXT_ = 1000 };
  char note[2 * GPUBOUND_METADATA_TEXT_ + 16];
  size_t length = 9;
  memcpy(note, "metadata ", 9);
  length += gpubound_put_json_(note + length, GPUBOUND_METADATA_TEXT_, name);
  memcpy(note + length, " = \"", 4);
  length += 4;
  length += gpubound_put_json_(note + length, GPUBOUND_METADATA_TEXT_, value);
  note[length++] = '"';
  table->ledger(GPUBOUND_NULL_, 0, note, length);
}

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* GPUBOUND_DETAIL_LOOKUP_H_ */
