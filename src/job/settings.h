/* SPDX-License-Identifier: MIT */
/* The settings of a run.  One table (settings-table.c) has all facts about a key: its type, range,
 * default value and texts, its group, whether and how it changes in a run, the values that the
 * tuner may try, its dependencies.  The command line, files, exporters, the session, the tuner and
 * the window use it; tests compare the manual with it.  A new setting is a row of the table and a
 * member here.
 *
 * DynoSettings is a plain struct, copied by assignment.  The engine reads its fields; values from
 * outside are set only through the functions below. */
#pragma once
#include "optimizers.h"
#include "train-error.h"

G_BEGIN_DECLS

typedef enum { DYNO_SCHEDULE_CONSTANT, DYNO_SCHEDULE_COSINE, DYNO_SCHEDULE_STEP } DynoSchedule;

#define DYNO_MOST_FOLDS 100

typedef struct {
  gint64 batch_size;
  gboolean amp;
  gint64 workers;
  gint64 threads;     /* cores that the run uses; 0: all */
  gint64 loader_nice; /* nice value of the loader's workers; 0: that of the process */
  gint64 prefetch;
  gboolean pinned;
  gboolean persistent_workers;
  gboolean cache;
  gint64 accumulate;      /* micro-batches per step; batch_size is the micro-batch, as in PyTorch */
  double clip_norm;       /* 0: off */
  double clip_value;      /* 0: off; applied after clip_norm */
  double ema_decay;       /* decay of the moving averages; 0: off */
  gboolean checkpointing; /* activation checkpointing */
  gboolean memory_shrink; /* micro-batches where the device refuses memory */
  gboolean exchange_half; /* gradients are sent between ranks in fp16 */
  gint64 exchange_bucket; /* bytes of gradients that are sent at once; 0: by the size of the net */
  gboolean autotune;
  gboolean deterministic;
  gint optimizer; /* DynoOptimizer */
  double lr;
  double momentum; /* of optimizers that use it */
  double weight_decay;
  gint schedule; /* DynoSchedule */
  double warmup_epochs;
  gint64 schedule_epochs; /* epochs that the schedule spans; 0: all */
  double label_smoothing;
  gint64 epochs;
  gboolean log_trackio, log_mlflow;
  double checkpoint_minutes;  /* 0: at the ends of epochs only */
  gint64 early_stop_patience; /* epochs; 0: off */
  double early_stop_delta;
  GQuark best_metric; /* quark of its name; 0: the metric that the loss declares */
  gint64 seed;
  gint64 vram_budget; /* bytes; 0: the device's own memory (or the preset's) */
  gint64 image_size;  /* height and width after resizing; 0: the data set's own */
  gboolean augment_flip;
  gboolean augment_flip_vertical;
  gint64 augment_shift; /* pixels */
  gint augment_pad;     /* DynoPadMode */
  double augment_crop;  /* least share of the area; 0: off */
  double augment_crop_ratio;
  gint augment_crop_from; /* DynoCropFrom */
  double augment_rotate;  /* degrees */
  double augment_brightness;
  double augment_contrast;
  double augment_saturation;
  double augment_hue;
  double augment_erase; /* probability */
  double augment_noise;
  double augment_time_mask; /* shares of the steps */
  double augment_time_shift;
  double augment_mixup, augment_cutmix; /* parameter of the Beta distribution; 0: off */
  gboolean data_shuffle;
  gint data_balance;        /* DynoBalance */
  double data_val_split;    /* of the samples that are not in the test part */
  double data_test_split;   /* 0: there is no test part */
  gint64 data_folds;        /* 0: off */
  gint64 data_fold;         /* the fold for validation, from 1 */
  GQuark data_group_column; /* quark of the column's name; 0: samples have no groups */
  gint data_normalise;      /* DynoNormalise */
  gint data_layout;         /* DynoAxes */
  gint data_task;           /* DynoTask */
  double data_max_bad;      /* share of samples that may be unreadable; 0: none */
  gboolean data_links;
  gboolean data_one_class;
  double model_width;
  double model_dropout;
  double model_stochastic_depth;
  GQuark model_freeze;          /* quark of the text; 0: none */
  double head_lr_factor;        /* 1: the rate of the other layers */
  double layer_decay;           /* 1: all layers have the same rate */
  gboolean weight_decay_norms;  /* weight decay applies to vectors too */
  double loss_focal, loss_dice; /* exponent; share of the loss */
  gboolean loss_smooth_l1;
  gint loss_class_weights; /* DynoClassWeights */
  GQuark loss_weights;     /* quark of the text (classweights.h); 0: none */
} DynoSettings;

/* Normalises not at all; as the data set advises; as the start weights were trained. */
typedef enum { DYNO_NORMALISE_NO, DYNO_NORMALISE_DATA, DYNO_NORMALISE_WEIGHTS } DynoNormalise;
/* The image from which random resized crops are taken. */
typedef enum { DYNO_CROP_FROM_SAMPLE, DYNO_CROP_FROM_SOURCE } DynoCropFrom;
typedef enum { DYNO_BALANCE_NONE, DYNO_BALANCE_SAMPLING } DynoBalance;
typedef enum { DYNO_CLASS_WEIGHTS_NONE, DYNO_CLASS_WEIGHTS_BALANCED } DynoClassWeights;

typedef enum {
  DYNO_SETTING_BOOL,
  DYNO_SETTING_INT,
  DYNO_SETTING_DOUBLE,
  DYNO_SETTING_ENUM,
  /* "12GB", "8 GiB", "512MiB" or a number of bytes; GB and GiB both mean 2^30 bytes, as card makers
   * count VRAM */
  DYNO_SETTING_BYTES,
  /* one line, with no blanks at its ends; as a number it is its GQuark, 0 for none: equal texts are
   * equal numbers within one process */
  DYNO_SETTING_TEXT,
} DynoSettingType;

/* The group of a setting, which the window folds as a whole, in this order. */
typedef enum {
  DYNO_SETTING_GROUP_MODEL,
  DYNO_SETTING_GROUP_TRAINING,
  DYNO_SETTING_GROUP_PIPELINE,
  DYNO_SETTING_GROUP_AUGMENTATION,
  DYNO_SETTING_GROUP_MEMORY,
  DYNO_SETTING_GROUP_ADVANCED,
  DYNO_SETTING_GROUP_ARRAYS, /* how an array is read: the window shows it with the data set */
  DYNO_SETTING_N_GROUPS
} DynoSettingGroup;

/* How a change during a run is applied. */
typedef enum {
  DYNO_SETTING_LIVE_NO,   /* not at all: the change applies to the next run */
  DYNO_SETTING_LIVE_STEP, /* from the next step on: users of the setting read it each time */
  /* from the next batch on: dyno_engine_renew_loaders informs the loaders */
  DYNO_SETTING_LIVE_LOADER,
} DynoSettingLive;

/* The rates in samples/s that a setting changes. */
typedef enum {
  DYNO_SETTING_RATE_DEVICE, /* of the step on the device, once the batch is there */
  DYNO_SETTING_RATE_LOADER, /* of the loader */
  DYNO_SETTING_RATE_BOTH,
  DYNO_SETTING_RATE_NONE,
} DynoSettingRate;

/* The values that the tuner may try, in rising order. */
typedef enum {
  DYNO_TUNABLE_NO,
  DYNO_TUNABLE_EACH,    /* every value of a switch or a choice */
  DYNO_TUNABLE_DOUBLED, /* the least value, doubled repeatedly; 1 follows 0 */
} DynoTunableSteps;

typedef struct {
  DynoTunableSteps steps;
  double minimum, maximum; /* within the setting's own range */
  double baseline;         /* value of a typical first script */
} DynoTunable;

/* The property of model or data set without which a setting has no effect. */
typedef enum {
  DYNO_SETTING_NEEDS_NOTHING,
  DYNO_SETTING_NEEDS_DROPOUT,          /* a model with a dropout layer */
  DYNO_SETTING_NEEDS_STOCHASTIC_DEPTH, /* a model with residual blocks that are skipped */
  DYNO_SETTING_NEEDS_CLASSES,          /* samples that have a class */
  DYNO_SETTING_NEEDS_VALUES,           /* samples that have values */
  DYNO_SETTING_NEEDS_MASKS,            /* samples that have a class for each pixel */
} DynoSettingNeed;

typedef struct {
  const char *key;   /* "batch_size", "data.val_split" */
  const char *title; /* N_(): for the window: "Batch size" */
  const char *help;  /* N_(): one sentence */
  const char *zero;  /* N_(): meaning of 0 where it is not an amount: "Off"; or NULL */
  DynoSettingType type;
  double minimum, maximum;   /* INT, DOUBLE, BYTES */
  const char *const *values; /* ENUM: NULL-terminated names, index = value */
  const char *default_value; /* the default, as text */
  DynoSettingGroup group;
  DynoSettingLive live;
  DynoSettingRate rate;
  DynoTunable tunable;
  /* "optimizer=sgd", or several values separated by commas: the setting has an effect only with
   * these; or NULL */
  const char *depends_on;
  DynoSettingNeed needs;   /* without it the setting has no effect either */
  gboolean by_preset;      /* a GPU preset advises it */
  gboolean opens_data;     /* it affects how a data set is opened, which has to be opened again */
  gboolean same_weights;   /* trained weights do not, or hardly, depend on it */
  gboolean same_on_resume; /* changing it in a resumed run causes a warning: results differ */
  gsize offset;            /* in DynoSettings */
} DynoSettingInfo;

/* The table; n entries, static. */
const DynoSettingInfo *dyno_setting_list (guint *n);
const DynoSettingInfo *dyno_setting_find (const char *key); /* NULL: unknown */

/* TRUE: an enum whose values begin with "false" and "true", which are read and shown like those of
 * a BOOL. */
gboolean dyno_setting_has_switch (const DynoSettingInfo *info);

/* N_(): the title of a group. */
const char *dyno_setting_group_title (DynoSettingGroup group);

/* The setting that depends_on names, a switch or a choice, and its possible values, with bit v for
 * value v; NULL: it depends on no setting. */
const DynoSettingInfo *dyno_setting_get_dependency (const DynoSettingInfo *info, guint *values);
/* FALSE: the dependency is not met, so that the setting has no effect. */
gboolean dyno_setting_counts (const DynoSettingInfo *info, const DynoSettings *settings);

void dyno_settings_init (DynoSettings *settings); /* all defaults */

/* Convert between text and value, locale-independent ('.' decimals).  _set: on the error SETTING
 * the struct is unchanged.  _get: g_free. */
gboolean dyno_settings_set (DynoSettings *settings, const char *key, const char *value,
                            GError **error);
char *dyno_settings_get (const DynoSettings *settings, const char *key);
gboolean dyno_settings_equal (const DynoSettings *a, const DynoSettings *b);

/* Copies live settings that differ between before and now.  Returns the ways in which they have to
 * be applied, as bits 1 << DynoSettingLive; 0: nothing differs. */
guint dyno_settings_follow (DynoSettings *settings, const DynoSettings *before,
                            const DynoSettings *now);

/* Values as numbers by key, for widgets (bool 0/1, enum index). */
double dyno_settings_get_number (const DynoSettings *settings, const char *key);
gboolean dyno_settings_set_number (DynoSettings *settings, const char *key, double value,
                                   GError **error);

G_END_DECLS
