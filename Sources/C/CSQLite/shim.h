#pragma once
#include <sqlite3.h>

/// Has SQLite keep no count of its memory, for which each allocation would take a lock that all connections share. Before its
/// first use, else without effect. `sqlite3_config` takes any arguments, and so cannot be called from Swift.
static inline int csqlite_count_no_memory(void) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }
