/* SPDX-License-Identifier: MIT */
/* Who writes a run: a process that is told from a later one with the same number, so that a run
 * whose process died is not held for one that goes on.  Any thread. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

typedef enum {
  DYNO_PROCESS_ALIVE,
  DYNO_PROCESS_GONE,
  DYNO_PROCESS_UNKNOWN, /* of another machine or container: its number says nothing here */
} DynoProcessState;

/* This process: number, start, the machine's start, the namespace of numbers, the machine's name.
 * g_free. */
char *dyno_process_describe (void);
/* text: what _describe gave in some process, or NULL. */
DynoProcessState dyno_process_find (const char *text);
/* TRUE: some process holds the lock that a run has on its folder. */
gboolean dyno_process_locks_folder (const char *folder);

G_END_DECLS
