/* SPDX-License-Identifier: MIT */
/* Detects whether a run learns: losses that are not finite, that grow without bound, or that stay
 * at the level of a constant guess.  Private to the train layer. */
#pragma once
#include "dataset.h"

G_BEGIN_DECLS

/* A loss counts as bad when it is not finite, or exceeds this many times the larger of the first
 * loss and the guess. */
#define DYNO_HEALTH_TIMES 1000.0

typedef struct {
  double guess;           /* loss of the best constant answer; 0: not known */
  double first;           /* first finite loss of this part of the run; 0: none yet */
  double loss;            /* loss of the last step; NaN: it was not finite */
  guint bad_row;          /* number of bad steps in a row */
  guint lost_row;         /* number of steps of bad_row whose loss was not finite */
  gboolean gradient;      /* TRUE: in the last step the gradient was bad, but the loss was finite */
  guint idle_epochs;      /* number of epochs in a row without a loss better than the guess */
  gboolean idle_reported; /* TRUE: it was reported that the run learns nothing */
} DynoHealth;

/* The loss of the best constant answer: the entropy of the classes (ln of their number where they
 * are balanced), or the mean square of the values around their mean, or around 0 where centred is
 * FALSE, or the mean of the entropies of labels; 0: not known.  weighted: the loss has weights,
 * with which the loss of labels has another scale. */
double dyno_health_guess (DynoDataset *dataset, const GArray *train, gboolean centred,
                          gboolean weighted);

/* TRUE: a mean loss, of a step or of a validation, is not finite or has grown beyond the limit. */
gboolean dyno_health_is_bad (const DynoHealth *health, double loss);

/* Takes the mean loss of a step, and whether loss and gradient are finite; an overflow that a lower
 * loss scale may end counts as finite. */
void dyno_health_take_step (DynoHealth *health, double loss, gboolean finite, gboolean gradient);

/* TRUE: the run has diverged after `limit` bad steps in a row.  advice: what is kept, or "".
 * Error: DIVERGED. */
gboolean dyno_health_has_diverged (const DynoHealth *health, guint limit, guint64 step,
                                   const char *advice, GError **error);

/* Takes the mean training loss of an epoch, and the number of steps up to its end.  TRUE, once per
 * run: the run has learned nothing for some epochs. */
gboolean dyno_health_take_epoch (DynoHealth *health, double loss, guint64 steps);

G_END_DECLS
