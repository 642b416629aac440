/* SPDX-License-Identifier: MIT */
/* Log lines on standard error and, when asked, in a file.  Code logs through GLib (g_info,
 * g_warning ...) with the G_LOG_DOMAIN of its layer; this module only decides where lines go. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/* Installs the writer; call once from main.  DYNO_LOG=debug|info|message|warning sets the least
 * level shown (default: message).  Never writes to standard output. */
void dyno_log_init (void);

/* From now on messages of level message are shown only where DYNO_LOG asks for them, since another
 * process shows its own messages. */
void dyno_log_leave_notes_out (void);

/* From now on messages of level info and above are also appended to the file at path; NULL ends
 * this.  Any thread. */
void dyno_log_set_file (const char *path);

/* Sets the function that is called with GLib's message before GLib ends the process for want of
 * memory.  Call once from main. */
void dyno_log_set_no_memory (void (*func) (const char *message));

/* From now on lines go to memory instead of the file; dyno_log_set_file writes them to the next
 * file.  Lines past 64 KiB are lost.  Any thread. */
void dyno_log_hold (void);

G_END_DECLS
