/* SPDX-License-Identifier: MIT */
/* Copies of runs of channels, by which the ops concat and channels are implemented. */
#pragma once
#include "op.h"

G_BEGIN_DECLS

/* target[pixel][start + i] = source[pixel][offset + i] for i from 0 to end - start */
typedef struct {
  DynoTensor *source;
  guint32 start, end; /* channels of the target */
  guint32 offset;     /* channel of the source */
} DynoChannelRun;

/* Writes all channels of the target, where channels before and after the runs become zero, or with
 * accumulate adds only to the channels of the runs.  The runs follow one another without gaps, and
 * all but the first one are whole sources.  All tensors have the pixels of the target. */
void dyno_channels_lower (DynoLowering *lowering, DynoNode *node, const char *pass,
                          const DynoChannelRun *runs, guint n_runs, DynoTensor *target,
                          gboolean accumulate);

/* `flops` of the ops that only copy: none. */
guint64 dyno_channels_flops (const DynoNode *node);

G_END_DECLS
