/* SPDX-License-Identifier: MIT */
/* Signals: the first request stops the work and saves, the second ends the process at once;
 * signalrule.h defines which signals are one request. */
#pragma once
#include "cli.h"

G_BEGIN_DECLS

/* Ignores SIGPIPE from now on: for every verb. */
void dyno_signals_ignore_pipe (void);

/* Catches SIGINT, SIGTERM, SIGHUP (not under nohup) and SIGUSR1, which mpirun forwards unchanged
 * and batch systems send before the time limit.  A second request ends the process at once, with
 * its exit code; files are written atomically, so no file is left half written. */
void dyno_signals_catch (void);

/* To be called after _catch, for work that should continue without a terminal: SIGHUP then stops
 * nothing, and _take_hangup returns TRUE once after it was received. */
void dyno_signals_survive_hangup (void);
gboolean dyno_signals_take_hangup (void);

/* The signal that was received, or 0; any thread. */
int dyno_signals_get (void);

/* The exit code for a signal: 130 for SIGINT, 143 for the others. */
DynoExitCode dyno_signals_exit_code (int signal_number);

/* A cancellable for work before the session; a separate thread cancels it when a signal is
 * received.  Owned by this module. */
GCancellable *dyno_signals_get_cancellable (void);

G_END_DECLS
