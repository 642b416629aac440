/* SPDX-License-Identifier: MIT */
/* Decides which signals belong to one request, only by its arguments: it reads no clock. */
#pragma once
#include <glib.h>
#include <sys/types.h>

G_BEGIN_DECLS

/* A signal that was received. */
typedef struct {
  int number;
  pid_t sender; /* 0: the kernel, as for a key on the terminal */
  gint64 at_ns; /* monotonic */
} DynoSignal;

/* TRUE: next belongs to the request that began with first; FALSE: next is a second request, which
 * ends the process at once.
 *
 * timeout(1) signals the process and then its group; mpirun and batch systems do the same, with
 * different signals: so a signal within 100 ms of the first is no second request.  SIGINT is sent
 * by users who want the process to end at once: two SIGINT are one request only within 10 ms, as
 * timeout -s INT and programs that forward a Ctrl-C send them; two Ctrl-C on the terminal are
 * always two requests.
 *
 * Called in a signal handler. */
gboolean dyno_signal_repeats (const DynoSignal *first, const DynoSignal *next);

G_END_DECLS
