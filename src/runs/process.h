/* SPDX-License-Identifier: MIT */
/* The identity of the process that writes a run.  A later process with the same number has another
 * identity, so that a run whose process died is not taken for a running one.  Any thread. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

typedef enum {
  DYNO_PROCESS_ALIVE,
  DYNO_PROCESS_GONE,
  DYNO_PROCESS_UNKNOWN, /* on another machine or in a container, where the number has no meaning */
} DynoProcessState;

/* Describes this process: its number and start, the machine's start, the namespace of numbers, the
 * machine's name.  g_free. */
char *dyno_process_describe (void);
/* text: the result of _describe in some process, or NULL. */
DynoProcessState dyno_process_find (const char *text);
/* Sends the signal to the process, if that is alive; FALSE: it is not, or may not be signalled. */
gboolean dyno_process_signal (const char *text, int signal_number);
/* Whether a process holds the lock of a run on this folder. */
gboolean dyno_process_locks_folder (const char *folder);

G_END_DECLS
