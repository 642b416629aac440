/* SPDX-License-Identifier: MIT */
/* Rows of a loss and the samples that they belong to: with PER_SAMPLE=n, n > 1, n rows (steps of a
 * sequence) form a sample, whose loss and metrics are their mean; else each row is a sample. */
#ifndef DYNO_LOSS_SAMPLES_GLSL
#define DYNO_LOSS_SAMPLES_GLSL
#ifdef PER_SAMPLE
#define SAMPLE_OF(row) ((row) / PER_SAMPLE)
#define SHARE_OF(x)    ((x) / float (PER_SAMPLE))
#else
#define SAMPLE_OF(row) (row)
#define SHARE_OF(x)    (x)
#endif
#endif
