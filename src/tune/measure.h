/* SPDX-License-Identifier: MIT */
/* What is measured of a trial: the times of its steps, without the first ones and without
 * validation.  Used by trials alone. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

#define DYNO_MEASURE_WARM_UP_STEPS 3 /* programs are loaded, caches fill, clocks rise */
#define DYNO_MEASURE_LEAST_STEPS   4

/* All zero at first. */
typedef struct {
  guint64 seen;    /* steps */
  gint64 begin_us; /* end of the last warm-up step */
  gint64 end_us;   /* of the last step */
  guint64 counted;
  double wait_ms;
  guint64 vram_bytes;
  gboolean nonfinite;
} DynoMeasure;

/* A step ended at time_us. */
void dyno_measure_step (DynoMeasure *m, gint64 time_us, double wait_ms, double loss,
                        guint64 vram_bytes);

/* The epoch's validation ended: the time since its last step is none of the training's. */
void dyno_measure_epoch (DynoMeasure *m, gint64 time_us);

gboolean dyno_measure_is_enough (const DynoMeasure *m, double seconds);

/* Of a step; 0: not known. */
double dyno_measure_step_ms (const DynoMeasure *m);

G_END_DECLS
