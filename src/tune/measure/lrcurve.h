/* SPDX-License-Identifier: MIT */
/* The curve of a learning-rate range test, and the learning rate that it suggests (L. N. Smith
 * 2015, "Cyclical Learning Rates for Training Neural Networks", section 3.3): the rate grows from
 * step to step, the loss falls, and then rises.  No clock and no device: only numbers. */
#pragma once
#include "record.h"

G_BEGIN_DECLS

#define DYNO_LR_LEAST_STEPS 10
/* the test ends where the smoothed loss exceeds its least value by this factor */
#define DYNO_LR_DIVERGED 4.0

typedef struct {
  guint step;       /* from 1 */
  double lr;        /* of the step's update */
  double loss;      /* mean over the step's samples, before its update; NaN: not finite */
  double smoothed;  /* see dyno_lr_curve_add; NaN: the loss is NaN too */
  gboolean skipped; /* the gradients overflowed, and the weights did not change */
} DynoLrPoint;

/* The fields of a point in files. */
const DynoRecordField *dyno_lr_point_list_fields (guint *n);

typedef enum {
  DYNO_LR_END_WHOLE,    /* the last rate was reached */
  DYNO_LR_END_DIVERGED, /* the smoothed loss rose to DIVERGED times its least, or was not finite */
  DYNO_LR_END_TIME,     /* the time was over */
  DYNO_LR_END_STOPPED,  /* by request */
} DynoLrEnd;

const char *dyno_lr_end_name (DynoLrEnd end); /* "whole", "diverged", ...: for --json */

typedef struct {
  double from, to;
  guint steps;    /* number of steps of a whole test */
  gboolean fewer; /* the steps are fewer than by default, as many as fitted into the time */
  GArray *points; /* DynoLrPoint, by step; rates rise */
  DynoLrEnd end;
  double least;       /* least of the smoothed losses that count so far; INFINITY: none */
  double sum, weight; /* state of the smoothing */
  guint n_lost;       /* number of losses in a row that were not finite, up to the last step */
  double seconds;     /* duration of the whole test; 0: not measured */
} DynoLrCurve;

/* 0 < from < to, steps >= DYNO_LR_LEAST_STEPS. */
DynoLrCurve *dyno_lr_curve_new (double from, double to, guint steps);
void dyno_lr_curve_free (DynoLrCurve *curve);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoLrCurve, dyno_lr_curve_free)

/* Adds the next step.  The smoothed loss is the exponential mean with a window of a tenth of the
 * curve's steps (for 100 steps each mean is 0.9 of the mean before plus 0.1 of the loss), corrected
 * for its start at 0 as Adam's moments are; smoothed losses of the first window, or of the first
 * LEAST_STEPS, are means of few steps, and no loss is compared with them.  A loss that is not
 * finite does not count where the step was skipped, such as for a sample which fp16 cannot hold,
 * unless it is the third in a row.  FALSE: the loss has diverged, and end is set: no step may
 * follow. */
gboolean dyno_lr_curve_add (DynoLrCurve *curve, double lr, double loss, gboolean skipped);

typedef enum {
  DYNO_LR_STEEPEST,  /* where the smoothed loss falls fastest over the logarithm of the rate */
  DYNO_LR_TENTH,     /* a tenth of the rate at the least smoothed loss, if that is less */
  DYNO_LR_TOO_SHORT, /* no suggestion: there are too few points */
  DYNO_LR_NO_FALL,   /* no suggestion: the smoothed loss never fell beyond its noise */
} DynoLrVerdict;

const char *dyno_lr_verdict_name (DynoLrVerdict verdict); /* "steepest", ...: for --json */

typedef struct {
  DynoLrVerdict verdict;
  double lr;       /* suggested, to two digits; NaN: none */
  double steepest; /* rate at the steepest fall; NaN: not known */
  double tenth;    /* a tenth of minimum, the rate at the least smoothed loss; NaN: not known */
  double minimum;
  double fall;  /* of the smoothed loss, from its start to its least; NaN: not known */
  double noise; /* the fall that is possible by chance */
  char *text;   /* the suggestion and its reason, or the reason why there is none; translated */
  char *note;   /* a further remark on it, translated; or NULL */
} DynoLrSuggestion;

/* Of equal slopes, and of equal losses, the one at the lower rate is taken. */
void dyno_lr_suggest (const DynoLrCurve *curve, DynoLrSuggestion *suggestion);
void dyno_lr_suggestion_clear (DynoLrSuggestion *suggestion);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (DynoLrSuggestion, dyno_lr_suggestion_clear)

G_END_DECLS
