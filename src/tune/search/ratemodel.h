/* SPDX-License-Identifier: MIT */
/* Predicts the rate of settings that were not tried from measurements.
 *
 * Two ceilings give the physics: the time of a sample is the longer of the loader's and the
 * device's, plus a share of the shorter that does not overlap, plus a constant for each step.  The
 * share (one without workers, one with) and the constant are fitted to the trials.  A Gaussian
 * process over the settings models the residuals: near tried settings the prediction is the
 * measurement, far from them it is the physics with its uncertainty.
 *
 * No clock and no device.  Rates are samples/s of training only.  One thread. */
#pragma once
#include "settings.h"

G_BEGIN_DECLS

typedef struct _DynoRateModel DynoRateModel;

DynoRateModel *dyno_rate_model_new (void);
void dyno_rate_model_free (DynoRateModel *model);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoRateModel, dyno_rate_model_free)

/* Adds a rate of the loader by itself with these workers, cache and prefetch. */
void dyno_rate_model_add_loader (DynoRateModel *model, const DynoSettings *settings, double rate);
/* Adds a rate of the device by itself with this batch, precision, checkpointing and
 * accumulation. */
void dyno_rate_model_add_gpu (DynoRateModel *model, const DynoSettings *settings, double rate);
/* Adds the rate of a trial; sd: standard deviation of its logarithm. */
void dyno_rate_model_add_trial (DynoRateModel *model, const DynoSettings *settings, double rate,
                                double sd);

/* Removes the trials; the ceilings stay. */
void dyno_rate_model_forget_trials (DynoRateModel *model);

/* The ceilings at any settings, interpolated and extrapolated; INFINITY: nothing was measured. */
double dyno_rate_model_loader (const DynoRateModel *model, const DynoSettings *settings);
double dyno_rate_model_gpu (const DynoRateModel *model, const DynoSettings *settings);

/* The expected rate; 0: nothing was measured at all.  *sd (may be NULL): standard deviation of its
 * logarithm. */
double dyno_rate_model_predict (DynoRateModel *model, const DynoSettings *settings, double *sd);

G_END_DECLS
