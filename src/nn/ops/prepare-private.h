/* SPDX-License-Identifier: MIT */
/* Code shared by the preparations of images and of their masks, which have the same geometric
 * changes. */
#pragma once
#include "elementwise.h"
#include "ops.h"

G_BEGIN_DECLS

typedef struct {
  float factor[4], offset[4];
  float crop, crop_ratio, rotate, flip, flip_vertical;
  guint32 shift_x, shift_y, pad; /* DYNO_PREPARE_PAD_... */
  float brightness, contrast, saturation, hue, noise, erase, time_mask;
  guint32 mix; /* 1: samples are mixed */
} DynoPrepare;

/* TRUE: the change needs a map of the pixels and not only a flip. */
gboolean dyno_prepare_is_mapped (const DynoPrepare *prepare);

/* Sets the changes of an augmentation; FALSE: the graph failed. */
gboolean dyno_prepare_fill_changes (DynoGraph *graph, const DynoAugmentation *augmentation,
                                    guint32 width, guint32 height, guint32 channels,
                                    DynoPrepare *prepare);

/* Appends the dispatch that draws the change of each sample, a struct DynoPrepareChange, into
 * changes.  Input 1 of the node is the seeds, output 0 has the size of the image.  Equal attributes
 * and seeds give equal places in the image. */
void dyno_prepare_lower_draw (DynoLowering *lowering, DynoNode *node, const DynoPrepare *prepare,
                              DynoTensor *changes);

G_END_DECLS
