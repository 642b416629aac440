/* SPDX-License-Identifier: MIT */
/* Whether a run learns: losses that are not finite, that grow without end, and that stay where a
 * guess would be.  Private to the train layer. */
#pragma once
#include "dataset.h"

G_BEGIN_DECLS

/* A step's loss counts as bad when it is not finite, or this many times what the first step and a
 * guess gave. */
#define DYNO_HEALTH_TIMES 1000.0

typedef struct {
  double guess;       /* the loss of the best answer that is always the same; 0: not known */
  double first;       /* of the first finite loss of this part of the run; 0: none yet */
  double loss;        /* of the last step */
  guint bad_row;      /* bad steps in a row */
  guint lost_row;     /* of these, those whose loss was not finite */
  gboolean gradient;  /* of the last of them the gradient was bad, and the loss was not */
  guint idle_epochs;  /* in a row without a loss better than the guess */
  gboolean idle_told; /* once a run */
} DynoHealth;

/* The loss of the best answer that is always the same: the entropy of the classes (ln of their
 * number where they are even), or the mean square of the values around their mean, or around 0
 * where centred is FALSE; 0: not known. */
double dyno_health_guess (DynoDataset *dataset, const GArray *train, gboolean centred);

/* A mean loss, of a step or of validation, that is not finite or has grown beyond measure. */
gboolean dyno_health_is_bad (const DynoHealth *health, double loss);

/* Takes the mean loss of a step, and whether loss and gradient are finite; an overflow that a lower
 * loss scale may end counts as finite. */
void dyno_health_take_step (DynoHealth *health, double loss, gboolean finite, gboolean gradient);

/* TRUE: so many bad steps in a row that the run has diverged.  advice: what is kept, or "".  Error:
 * DIVERGED. */
gboolean dyno_health_has_diverged (const DynoHealth *health, guint limit, guint64 step,
                                   const char *advice, GError **error);

/* Takes the mean training loss of an epoch, with the steps up to its end.  TRUE, once a run: it has
 * learned nothing for some epochs. */
gboolean dyno_health_take_epoch (DynoHealth *health, double loss, guint64 steps);

G_END_DECLS
