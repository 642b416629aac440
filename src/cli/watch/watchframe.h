/* SPDX-License-Identifier: MIT */
/* The output of dynoctl watch: a frame of lines for a terminal of any size, or plain lines. */
#pragma once
#include "watchrun.h"

G_BEGIN_DECLS

typedef struct {
  const DynoWatchStatus *run; /* NULL: only the machine */
  const DynoSensorReading *machine;
  const char *device;    /* of the machine; NULL: no GPU */
  DynoSeries *gpu, *cpu; /* of the machine, over seconds */
  guint width, height;   /* of a frame */
  gboolean colour;
} DynoWatchView;

/* Exactly `height` lines, each of at most `width` columns; the only control sequences in them are
 * colours.  Element type char*. */
GPtrArray *dyno_watch_frame (const DynoWatchView *view);

/* The same content in lines of any width, without colours. */
GPtrArray *dyno_watch_lines (const DynoWatchView *view);

/* The sensor values to show: the run's where they are recent, else this machine's. */
const double *dyno_watch_values (const DynoWatchView *view, guint *throttle_reasons,
                                 gboolean *of_run);
/* "running", "no news for 0:42", "finished".  g_free. */
char *dyno_watch_state_words (const DynoWatchStatus *run);

G_END_DECLS
