/* SPDX-License-Identifier: MIT */
/* When the next checkpoint of a run is due: on request, or when an interval has passed since a
 * state was taken.  Times are those of the run's clock in microseconds.  Pure; one thread, the
 * session's.  Private to the train layer. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  gboolean due;
  guint64 step; /* updates in the state that was taken last, or with which the run began */
  gint64 us;    /* when that state was taken; best weights that are kept in memory do not count */
} DynoSaveInterval;

void dyno_save_interval_begin (DynoSaveInterval *interval, guint64 step, gint64 now_us);
/* Returns whether a checkpoint is due after so many updates; once due, it stays so until a state is
 * taken.  minutes 0: only on request.  The interval by itself makes no checkpoint due for a state
 * that is saved already, such as the run's initial state. */
gboolean dyno_save_interval_check (DynoSaveInterval *interval, double minutes, guint64 step,
                                   gint64 now_us);
/* Begins the next interval. */
void dyno_save_interval_take (DynoSaveInterval *interval, guint64 step, gint64 now_us);
/* Notes a state that stands for no checkpoint: the interval goes on. */
void dyno_save_interval_keep (DynoSaveInterval *interval, guint64 step);

G_END_DECLS
