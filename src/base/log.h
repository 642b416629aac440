/* SPDX-License-Identifier: MIT */
/* Log lines on standard error and, when asked, in a file.  Code logs through GLib (g_info,
 * g_warning ...) with the G_LOG_DOMAIN of its layer; this only decides where lines go. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/* Installs the writer; call once from main.  DYNO_LOG=debug|info|message|warning sets the least
 * level shown (default: message).  Never writes to standard output. */
void dyno_log_init (void);

/* Notes are no longer shown where DYNO_LOG does not ask for them: another process shows its own. */
void dyno_log_leave_notes_out (void);

/* From now on info and above also goes to path, appended; NULL ends it.  Any thread. */
void dyno_log_set_file (const char *path);

/* Called with GLib's message before GLib ends the process for want of memory.  Once from main. */
void dyno_log_set_no_memory (void (*func) (const char *message));

/* Lines from now on are kept in memory, and the next file begins with them; what is more than 64
 * KiB is lost.  Any thread. */
void dyno_log_hold (void);

G_END_DECLS
