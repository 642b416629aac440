/* SPDX-License-Identifier: MIT */
/* What dynoctl watch shows: a frame of lines for a terminal of any size, or plain lines. */
#pragma once
#include "watchrun.h"

G_BEGIN_DECLS

typedef struct {
  const DynoWatchStatus *run; /* NULL: the machine alone */
  const DynoSensorReading *machine;
  const char *device;    /* of the machine; NULL: no GPU */
  DynoSeries *gpu, *cpu; /* of the machine, over seconds */
  guint width, height;   /* of a frame */
  gboolean colour;
} DynoWatchView;

/* Exactly height lines, each at most width columns; colours and nothing else of the terminal's
 * orders are in them.  Element type char*. */
GPtrArray *dyno_watch_frame (const DynoWatchView *view);

/* The same in some lines of any width, without colours. */
GPtrArray *dyno_watch_lines (const DynoWatchView *view);

/* The values that are shown: the run's own where they are of now, else those of this machine. */
const double *dyno_watch_values (const DynoWatchView *view, guint *throttle_reasons,
                                 gboolean *of_run);
/* "running", "no news for 0:42", "finished".  g_free. */
char *dyno_watch_state_words (const DynoWatchStatus *run);

G_END_DECLS
