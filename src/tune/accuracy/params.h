/* SPDX-License-Identifier: MIT */
/* The settings that a search for the best validation tries, in one table (params.c), and the
 * conversion between settings and the points of the search.  A setting that has no effect on this
 * model and data set, or that these refuse, is not searched.
 *
 * The learning rate of a point is a factor: times the job's own, times the ratio of what is usual
 * for its optimizer to what is usual for the job's, so that a rate means the same with each
 * optimizer.  Values are rounded to three digits, as a person would write them. */
#pragma once
#include "job.h"
#include "tpe.h"

G_BEGIN_DECLS

#define DYNO_PARAMS_MOST        16
#define DYNO_PARAM_MOST_CHOICES 8
#define DYNO_PARAM_MOST_CHANGES 12

typedef enum {
  DYNO_PARAM_LINEAR,
  DYNO_PARAM_LOG,      /* even over the logarithm */
  DYNO_PARAM_FROM_ONE, /* even over the logarithm of 1 - value, as momentum */
  DYNO_PARAM_CHOICE,
} DynoParamKind;

typedef struct {
  /* Of a setting; or "augment": the strength of all random changes of a sample, and "augment.mix":
   * mixup, cutmix, none of both. */
  const char *key;
  DynoParamKind kind;
  double low,
      high; /* of a number's value; of lr the factor; of warmup_epochs the share of epochs */
  guint n_choices;
  const char *choices[DYNO_PARAM_MOST_CHOICES]; /* interned */
} DynoParam;

/* A random change of the samples that the strength moves, and its value at the strength 0.5. */
typedef struct {
  const char *key;
  double usual;
} DynoParamChange;

typedef struct {
  DynoSettings own; /* the job's: where the search begins, and what it does not change */
  guint n;
  DynoParam params[DYNO_PARAMS_MOST];
  DynoTpeDimension dimensions[DYNO_PARAMS_MOST];
  guint n_changes;
  DynoParamChange changes[DYNO_PARAM_MOST_CHANGES];
  double own_strength; /* 0.5: the changes are those of the job; 0: it has none */
} DynoParamSpace;

/* The space around a job's settings on a data set. */
void dyno_param_space_init (DynoParamSpace *space, const DynoJob *job, const DynoDatasetInfo *info);

/* The estimator of the space, which has to stay where it is as long as it is used. */
DynoTpe dyno_param_space_get_tpe (const DynoParamSpace *space);

/* FALSE: the parameter has no effect at the point, of which those before it are known. */
gboolean dyno_param_space_counts (const DynoParamSpace *space, const double *point, guint param);

/* A value that is NaN stays as in the job's own settings.  Errors: SETTING, of a point outside of
 * the space. */
gboolean dyno_param_space_get_settings (const DynoParamSpace *space, const double *point,
                                        DynoSettings *settings, GError **error);

/* The nearest point of settings; NaN: the parameter has no effect there. */
void dyno_param_space_get_point (const DynoParamSpace *space, const DynoSettings *settings,
                                 double *point);

/* "lr=0.1 optimizer=adamw": the settings that differ from the job's own and count, "" where none does; g_free. */
char *dyno_param_space_describe (const DynoParamSpace *space, const DynoSettings *settings);

G_END_DECLS
