/* SPDX-License-Identifier: MIT */
/* Checks that training with AMP is numerically sound for a network on this device, by some dozens
 * of steps from the same start weights on the same batches in fp32 and in AMP, side by side. */
#pragma once
#include "job.h"
#include <gio/gio.h>

G_BEGIN_DECLS

#define DYNO_NUMERICS_STEPS 48
#define DYNO_NUMERICS_LEAST 8 /* least number of steps of both runs for a verdict */

typedef enum {
  DYNO_NUMERICS_GOOD,  /* the curves are equal up to rounding */
  DYNO_NUMERICS_WATCH, /* AMP trains, with a remark */
  DYNO_NUMERICS_BAD,   /* fp32 trains here, and AMP does not train, or trains worse */
} DynoNumericsVerdict;

const char *dyno_numerics_verdict_name (DynoNumericsVerdict verdict); /* "good", ...: for --json */

typedef struct {
  guint n_steps;                         /* steps of both runs */
  double loss_fp32[DYNO_NUMERICS_STEPS]; /* NaN: not finite */
  double loss_amp[DYNO_NUMERICS_STEPS];
  double loss_scale[DYNO_NUMERICS_STEPS]; /* AMP's scale, after each step */
  gboolean skipped[DYNO_NUMERICS_STEPS];  /* gradients overflowed: AMP did not take the step */
  gint64 batch_size;                      /* batch of both runs */
  /* by dyno_numerics_judge */
  DynoNumericsVerdict verdict;
  guint n_skipped;
  double difference; /* AMP's mean loss over the later half, relative to fp32's; NaN: not finite */
  char *text;        /* a sentence */
} DynoNumerics;

void dyno_numerics_clear (DynoNumerics *numerics);

/* Fills the verdict from the curves; it uses no clock and no device. */
void dyno_numerics_judge (DynoNumerics *numerics);

/* Makes both runs and the verdict, with the settings' batch or the largest batch that fits in fp32
 * too.  device: NULL, or one that is open.  Where the deadline (monotonic) comes after at least
 * LEAST steps of both runs, the steps so far count.  Errors: UNSUPPORTED where the device has no
 * fp16; those of a session but DIVERGED, which is a result; CANCELLED, TIMED_OUT. */
gboolean dyno_numerics_compare (const DynoJob *job, DynoDataset *dataset, DynoDevice *device,
                                const DynoDeviceInfo *info, const DynoSettings *settings,
                                gint64 deadline_us, GCancellable *cancellable,
                                DynoNumerics *numerics, GError **error);

G_END_DECLS
