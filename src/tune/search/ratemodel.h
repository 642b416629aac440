/* SPDX-License-Identifier: MIT */
/* The rate of settings that were not tried, from what was measured.
 *
 * Two ceilings give the physics: the time of a sample is the longer of the loader's and the
 * device's, plus a share of the shorter that does not overlap, plus a constant for each step.  The
 * share (one without workers, one with) and the constant are fitted to the trials.  What they leave
 * is a Gaussian process over the settings: near what was tried the prediction is what was
 * measured, far from it the physics with its doubt.
 *
 * No clock and no device.  Rates are samples/s of training alone.  One thread. */
#pragma once
#include "settings.h"

G_BEGIN_DECLS

typedef struct _DynoRateModel DynoRateModel;

DynoRateModel *dyno_rate_model_new (void);
void dyno_rate_model_free (DynoRateModel *model);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoRateModel, dyno_rate_model_free)

/* What the loader alone gives with these workers, cache and prefetch. */
void dyno_rate_model_add_loader (DynoRateModel *model, const DynoSettings *settings, double rate);
/* What the device alone gives with this batch, precision, checkpointing and accumulation. */
void dyno_rate_model_add_gpu (DynoRateModel *model, const DynoSettings *settings, double rate);
/* What a trial gave; sd: of its logarithm. */
void dyno_rate_model_add_trial (DynoRateModel *model, const DynoSettings *settings, double rate,
                                double sd);

/* The ceilings stay. */
void dyno_rate_model_forget_trials (DynoRateModel *model);

/* The ceilings at any settings, between and beyond what was measured; INFINITY: none was. */
double dyno_rate_model_loader (const DynoRateModel *model, const DynoSettings *settings);
double dyno_rate_model_gpu (const DynoRateModel *model, const DynoSettings *settings);

/* The rate expected; 0: nothing was measured at all.  *sd (may be NULL): of its logarithm. */
double dyno_rate_model_predict (DynoRateModel *model, const DynoSettings *settings, double *sd);

G_END_DECLS
