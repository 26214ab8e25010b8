// SPDX-License-Identifier: Apache-2.0
//
// SQLite's functions as a file sees them that is compiled both into the command and into the
// loadable extension. In the extension they are those of the program that loads it, by a table that
// its entry point stores (sqlite_extension.cc). No state but that table.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_TABLES_SQLITE_API_H_
#define GPUBOUND_ANALYSIS_OUTPUT_TABLES_SQLITE_API_H_

#ifndef GPUBOUND_SQLITE_EXTENSION
#define SQLITE_CORE 1
#endif
#include <sqlite3ext.h>

SQLITE_EXTENSION_INIT3

#endif  // GPUBOUND_ANALYSIS_OUTPUT_TABLES_SQLITE_API_H_
