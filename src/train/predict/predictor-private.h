/* SPDX-License-Identifier: MIT */
/* The members of a predictor, for the two files that run it: over a data set (predictor-run.c), and
 * on samples that the caller provides (feeder.c). */
#pragma once
#include "build.h"
#include "pipe.h"
#include "predictor.h"

G_BEGIN_DECLS

#define DYNO_PREDICTOR_MOST_BUILDS 4

struct _DynoPredictor {
  DynoPredictorParams params; /* strings are not kept */
  DynoDataset *dataset;       /* NULL: a feeder provides the samples */
  DynoWeightsInfo *info;
  DynoDevice *device;
  DynoChoices *choices;
  guint n_builds; /* more than one only for a feeder; the builds share weights and memory */
  guint32 batches[DYNO_PREDICTOR_MOST_BUILDS]; /* largest first */
  DynoBuild *builds[DYNO_PREDICTOR_MOST_BUILDS];
  DynoReadback *readbacks[DYNO_PREDICTOR_MOST_BUILDS];
  DynoBatchSchema schema; /* of the network's samples */
  guint32 width, height;
  float *logits, *shares; /* buffers for one sample */
  /* With mirror: the samples that are read, and the logits of an image while its mirror image is
   * taken.  Else NULL. */
  DynoDataset *mirrored;
  float *logits_before;
  guint64 slot_use[DYNO_PIPE_SLOTS];
};

/* Reads a row of a build's batch in a slot, whose copy has finished, into logits and, for classes
 * and labels, shares. */
void dyno_predictor_take_row (DynoPredictor *predictor, guint build, guint slot, guint32 row);

G_END_DECLS
