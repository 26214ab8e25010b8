// SPDX-License-Identifier: Apache-2.0
//
// The collector's C table as the extension calls it: every entry is there, whatever the collector's
// age, so that no caller tests for null. Looked up once, when the module is first imported; after
// that any thread reads it.
#ifndef GPUBOUND_ANNOTATE_PYTHON_TABLE_H_
#define GPUBOUND_ANNOTATE_PYTHON_TABLE_H_

#include "annotate/include/gpubound/api.h"

namespace gpubound {

// All entries do nothing until LoadTable has found a collector.
extern gpubound_api g_table;

// False where the collector cannot list open scopes: none may then be opened on behalf of a
// coroutine, because none could be closed.
bool CanSuspend();

// Looks for the collector: dlsym, else $GPUBOUND_LIBRARY. True when one records.
bool LoadTable();

}  // namespace gpubound

#endif  // GPUBOUND_ANNOTATE_PYTHON_TABLE_H_
