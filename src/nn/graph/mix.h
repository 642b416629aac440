/* SPDX-License-Identifier: MIT */
/* Mixing each sample of a training batch with the sample before it, images and targets alike: MixUp
 * (Zhang et al., arXiv:1710.09412) and CutMix (Yun et al., arXiv:1905.04899) as in torchvision's
 * transforms (v2).  One share is drawn per batch, on the host; the preparation of the input and the
 * loss read it from the step's input, so that no pass over the batch is added. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

struct DynoStepInput;

/* The share of the sample is drawn from Beta (a, a), where a is mixup or cutmix; 0: off.  Where
 * both are on, each is applied to half of the batches. */
typedef struct {
  double mixup, cutmix;
  guint32 height, width; /* of the images */
} DynoMix;

gboolean dyno_mix_is_on (const DynoMix *mix);

/* Draws the mix from the seed, step and micro step of the step's input, and writes it there. */
void dyno_mix_draw (const DynoMix *mix, struct DynoStepInput *input);

G_END_DECLS
