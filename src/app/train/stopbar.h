/* SPDX-License-Identifier: MIT */
/* Asks how a run is to be stopped.  The question blocks nothing: the run goes on until it is
 * answered.  Signal "answered" (DynoStopAnswer, gboolean: the answer is for all runs from now
 * on). */
#pragma once
#include <gtk/gtk.h>

G_BEGIN_DECLS

typedef enum {
  DYNO_STOP_ANSWER_KEEP_TRAINING,
  DYNO_STOP_ANSWER_DISCARD,
  DYNO_STOP_ANSWER_SAVE
} DynoStopAnswer;

#define DYNO_TYPE_STOP_BAR (dyno_stop_bar_get_type ())
G_DECLARE_FINAL_TYPE (DynoStopBar, dyno_stop_bar, DYNO, STOP_BAR, GtkInfoBar)

/* Asks, with the focus on the answer that loses nothing. */
void dyno_stop_bar_ask (DynoStopBar *self);
void dyno_stop_bar_dismiss (DynoStopBar *self);

G_END_DECLS
