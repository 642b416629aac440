/* SPDX-License-Identifier: MIT */
/* Signals: the first request asks to stop and save, the second leaves at once; signalrule.h says
 * which signals are one request. */
#pragma once
#include "cli.h"

G_BEGIN_DECLS

/* Ignores SIGPIPE from now on: for every verb. */
void dyno_signals_ignore_pipe (void);

/* Catches SIGINT, SIGTERM, SIGHUP (not under nohup) and SIGUSR1, which mpirun passes on unchanged
 * and batch systems send before the time limit.  A second request ends the process at once, with
 * its exit code; files are written atomically, so no file is left half written. */
void dyno_signals_catch (void);

/* After _catch, for work that is worth going on without a terminal: SIGHUP stops nothing, and
 * _take_hangup returns TRUE once after it came. */
void dyno_signals_survive_hangup (void);
gboolean dyno_signals_take_hangup (void);

/* The signal that came, or 0; any thread. */
int dyno_signals_get (void);

/* The exit code for a signal: 130 for SIGINT, 143 for the others. */
DynoExitCode dyno_signals_exit_code (int signal_number);

/* A cancellable for work before the session; a thread of its own cancels it when a signal comes.
 * Unowned. */
GCancellable *dyno_signals_get_cancellable (void);

G_END_DECLS
