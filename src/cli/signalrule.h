/* SPDX-License-Identifier: MIT */
/* Decides which signals are one request, only by its arguments: no clock is read here. */
#pragma once
#include <glib.h>
#include <sys/types.h>

G_BEGIN_DECLS

/* A signal that was received. */
typedef struct {
  int number;
  pid_t sender; /* 0: the kernel, as for a key of the terminal */
  gint64 at_ns; /* monotonic */
} DynoSignal;

/* TRUE: next belongs to the request that first has begun; FALSE: next is a second request, which
 * ends the process at once.
 *
 * timeout(1) signals the process and then its group; mpirun and batch systems do the same, with
 * different signals: so a signal within 100 ms of the first is no second request.  SIGINT is sent
 * by people who want the process to end now: two SIGINT are one request only within 10 ms, as
 * timeout -s INT and programs that pass on a Ctrl-C send them; two Ctrl-C of the terminal are
 * always two requests.
 *
 * Called in a signal handler. */
gboolean dyno_signal_repeats (const DynoSignal *first, const DynoSignal *next);

G_END_DECLS
