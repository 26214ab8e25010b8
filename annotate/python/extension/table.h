// SPDX-License-Identifier: Apache-2.0
//
// The collector's C table as the extension calls it: every entry is there, whatever the collector's
// age, so that no caller tests for null. Looked up once, when the module is first imported; after
// that any thread reads it.
#ifndef GPUBOUND_ANNOTATE_PYTHON_TABLE_H_
#define GPUBOUND_ANNOTATE_PYTHON_TABLE_H_

#include "annotate/include/gpubound/api.h"

namespace gpubound {

// All entries do nothing until LoadTable has found a collector. For scopes there is g_scopes.
extern gpubound_api g_table;

// The collector's own table, which exchanges its begin and end at any time; never null.
extern const gpubound_api* g_scopes;

inline void BeginScope(uint32_t label) {
  __atomic_load_n(&g_scopes->begin, __ATOMIC_RELAXED)(label);
}
inline void EndScope(uint32_t label) { __atomic_load_n(&g_scopes->end, __ATOMIC_RELAXED)(label); }

// False where the collector cannot list open scopes: none may then be opened on behalf of a
// coroutine, because none could be closed.
bool CanSuspend();

// Looks for the collector: dlsym, else $GPUBOUND_LIBRARY. True when one records. Only the first
// call of the process looks, though each interpreter in it makes one.
bool LoadTable();

// Looks once more where there was none, for a notebook that decides late to be recorded. No other
// thread may use the table meanwhile, and scopes from before stay without effect.
bool LoadTableAgain();

}  // namespace gpubound

#endif  // GPUBOUND_ANNOTATE_PYTHON_TABLE_H_
