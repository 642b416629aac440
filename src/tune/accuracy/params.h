/* SPDX-License-Identifier: MIT */
/* The settings that a search for the best validation tries, in one table (params.c), and the
 * conversion between settings and the points of the search.  A setting that has no effect with this
 * model and data set, or that they do not accept, is not searched.  A user may choose others.
 *
 * The learning rate of a point is a factor on the job's own rate, scaled by the ratio of the usual
 * rate of the point's optimizer to that of the job's optimizer, so that a factor means the same
 * with each optimizer.  Values are rounded to three digits, as a person would write them. */
#pragma once
#include "job.h"
#include "tpe.h"

G_BEGIN_DECLS

#define DYNO_PARAMS_MOST        16
#define DYNO_PARAM_MOST_CHOICES 8
#define DYNO_PARAM_MOST_CHANGES 12

typedef enum {
  DYNO_PARAM_LINEAR,
  DYNO_PARAM_LOG,      /* uniform in the logarithm */
  DYNO_PARAM_FROM_ONE, /* uniform in the logarithm of 1 - value, as for momentum */
  DYNO_PARAM_CHOICE,
} DynoParamKind;

typedef struct {
  /* The key of a setting; or "augment": the strength of all random changes of a sample; or
   * "augment.mix": mixup, cutmix or neither. */
  const char *key;
  DynoParamKind kind;
  double low,
      high; /* of a number's value; lr: of the factor; warmup_epochs: of the share of epochs */
  guint n_choices;
  const char *choices[DYNO_PARAM_MOST_CHOICES]; /* interned */
} DynoParam;

/* A random change of the samples that the strength scales, and its value at strength 0.5. */
typedef struct {
  const char *key;
  double usual;
} DynoParamChange;

typedef struct {
  DynoSettings own; /* the job's: the start of the search, and the values of other settings */
  guint n;
  DynoParam params[DYNO_PARAMS_MOST];
  DynoTpeDimension dimensions[DYNO_PARAMS_MOST];
  guint n_changes;
  DynoParamChange changes[DYNO_PARAM_MOST_CHANGES];
  double own_strength; /* 0.5: the changes have the job's values; 0: the job has none */
} DynoParamSpace;

/* Makes the space around a job's settings on a data set. */
void dyno_param_space_init (DynoParamSpace *space, const DynoJob *job, const DynoDatasetInfo *info);

/* Replaces the parameters by these, one each: the key of a setting, "augment" or "augment.mix";
 * KEY=LOW..HIGH, the range of a number; or KEY=VALUE|VALUE, the values to choose from.  A key
 * without a range has the usual one, or all values of a setting with names.  The job's own value of
 * a choice is added.  Errors: SETTING, which names the text and what to write. */
gboolean dyno_param_space_choose (DynoParamSpace *space, const DynoJob *job,
                                  const DynoDatasetInfo *info, const char *const *texts,
                                  GError **error);

/* The range of a number in the unit of its setting: of lr, with the job's own optimizer. */
void dyno_param_space_get_range (const DynoParamSpace *space, guint index, double *low,
                                 double *high);
/* The text from which _choose makes the parameter again, to three digits: "lr=0.00167..1.5",
 * "optimizer=sgd|adamw", "augment".  g_free. */
char *dyno_param_space_write (const DynoParamSpace *space, guint index);
/* Further settings that have an effect with this model and data set, as such texts, with ranges
 * that are usual for them.  g_strfreev. */
char **dyno_param_space_suggest (const DynoJob *job, const DynoDatasetInfo *info);

/* The estimator of the space; it refers to the space, which may not move while the estimator is
 * used. */
DynoTpe dyno_param_space_get_tpe (const DynoParamSpace *space);

/* FALSE: the parameter has no effect at the point; the values of the parameters before it are
 * given. */
gboolean dyno_param_space_counts (const DynoParamSpace *space, const double *point, guint param);

/* Where a value is NaN, the job's own setting stays.  Errors: SETTING, for a point outside of the
 * space. */
gboolean dyno_param_space_get_settings (const DynoParamSpace *space, const double *point,
                                        DynoSettings *settings, GError **error);

/* The point nearest to the settings; NaN where the parameter has no effect. */
void dyno_param_space_get_point (const DynoParamSpace *space, const DynoSettings *settings,
                                 double *point);

/* "lr=0.1 optimizer=adamw": the settings that differ from the job's own and have an effect; ""
 * where none does.  g_free. */
char *dyno_param_space_describe (const DynoParamSpace *space, const DynoSettings *settings);

G_END_DECLS
