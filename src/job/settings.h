/* SPDX-License-Identifier: MIT */
/* The settings of a run.  One table (settings-table.c) says all that is known of a key: its type,
 * range, default value and words, its group, whether and how it changes in a run, what the tuner
 * may try, what it depends on.  The command line, files, exporters, the session, the tuner and the
 * window follow it; the manual is compared with it.  A new setting is a row and a member here.
 *
 * DynoSettings is a plain struct: copy it by assignment.  Its fields are read by the engine; they
 * are changed through the functions below where the value comes from outside. */
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
  gint64 threads;     /* cores that the run takes; 0: all */
  gint64 loader_nice; /* of its workers; 0: as the process */
  gint64 prefetch;
  gboolean pinned;
  gboolean persistent_workers;
  gboolean cache;
  gint64 accumulate;      /* micro-batches per step; batch_size is the micro-batch, as in PyTorch */
  double clip_norm;       /* 0: off */
  double ema_decay;       /* of the moving averages; 0: off */
  gboolean checkpointing; /* activation checkpointing */
  gboolean memory_shrink; /* micro-batches where the device refuses memory */
  gboolean exchange_half; /* gradients travel between ranks in fp16 */
  gint64 exchange_bucket; /* bytes of gradients that travel at once; 0: by the size of the net */
  gboolean autotune;
  gboolean deterministic;
  gint optimizer; /* DynoOptimizer */
  double lr;
  double momentum; /* of optimizers that have it */
  double weight_decay;
  gint schedule; /* DynoSchedule */
  double warmup_epochs;
  gint64 schedule_epochs; /* that the schedule spans; 0: all */
  double label_smoothing;
  gint64 epochs;
  gboolean log_trackio, log_mlflow;
  double checkpoint_minutes;  /* 0: at the ends of epochs only */
  gint64 early_stop_patience; /* epochs; 0: off */
  double early_stop_delta;
  GQuark best_metric; /* of its name; 0: the one that the loss says */
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
  double augment_mixup, augment_cutmix; /* of Beta; 0: off */
  gboolean data_shuffle;
  gint data_balance; /* DynoBalance */
  double data_val_split;
  gint64 data_folds;   /* 0: off */
  gint64 data_fold;    /* the one that validates, from 1 */
  gint data_normalise; /* DynoNormalise */
  gint data_layout;    /* DynoAxes */
  gint data_task;      /* DynoTask */
  double data_max_bad; /* 0: none may fail */
  gboolean data_links;
  gboolean data_one_class;
  double model_width;
  double model_dropout;
  double model_stochastic_depth;
  GQuark model_freeze;          /* of the text; 0: none */
  double head_lr_factor;        /* 1: as the others */
  gboolean weight_decay_norms;  /* weight decay takes vectors too */
  double loss_focal, loss_dice; /* exponent; share of the loss */
  gboolean loss_smooth_l1;
  gint loss_class_weights; /* DynoClassWeights */
  GQuark loss_weights;     /* of the text, classweights.h; 0: none */
} DynoSettings;

/* Not at all; as the data set advises; as the weights that are started from were. */
typedef enum { DYNO_NORMALISE_NO, DYNO_NORMALISE_DATA, DYNO_NORMALISE_WEIGHTS } DynoNormalise;
/* The image that random resized crops are cut from. */
typedef enum { DYNO_CROP_FROM_SAMPLE, DYNO_CROP_FROM_SOURCE } DynoCropFrom;
typedef enum { DYNO_BALANCE_NONE, DYNO_BALANCE_SAMPLING } DynoBalance;
typedef enum { DYNO_CLASS_WEIGHTS_NONE, DYNO_CLASS_WEIGHTS_BALANCED } DynoClassWeights;

typedef enum {
  DYNO_SETTING_BOOL,
  DYNO_SETTING_INT,
  DYNO_SETTING_DOUBLE,
  DYNO_SETTING_ENUM,
  /* "12GB", "8 GiB", "512MiB" or a number of bytes; GB and GiB both read as 2^30 as card makers
   * count VRAM */
  DYNO_SETTING_BYTES,
  /* one line, with no blanks at its ends; as a number its GQuark, 0 for none: texts that are equal
   * are equal as numbers, in one process */
  DYNO_SETTING_TEXT,
} DynoSettingType;

/* Where a setting stands: what the window folds away together, in this order. */
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

/* How a change in the middle of a run is applied. */
typedef enum {
  DYNO_SETTING_LIVE_NO,   /* not at all: it counts from the next run on */
  DYNO_SETTING_LIVE_STEP, /* from the next step on: who needs it reads it anew each time */
  /* from the next batch on: dyno_engine_renew_loaders informs the loaders */
  DYNO_SETTING_LIVE_LOADER,
} DynoSettingLive;

/* The rates in samples/s that a setting changes. */
typedef enum {
  DYNO_SETTING_RATE_DEVICE, /* of the step on the device, with the batch there */
  DYNO_SETTING_RATE_LOADER, /* of the loader */
  DYNO_SETTING_RATE_BOTH,
  DYNO_SETTING_RATE_NONE,
} DynoSettingRate;

/* The values that the tuner may try, least first. */
typedef enum {
  DYNO_TUNABLE_NO,
  DYNO_TUNABLE_EACH,    /* every value of a switch or a choice */
  DYNO_TUNABLE_DOUBLED, /* the least, then twice as much each time; 1 follows 0 */
} DynoTunableSteps;

typedef struct {
  DynoTunableSteps steps;
  double minimum, maximum; /* within the setting's own range */
  double baseline;         /* what a first script does */
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
  const char *zero;  /* N_(): what 0 means where it is no amount: "Off"; or NULL */
  DynoSettingType type;
  double minimum, maximum;   /* INT, DOUBLE, BYTES */
  const char *const *values; /* ENUM: NULL-terminated names, index = value */
  const char *default_value; /* the default, as text */
  DynoSettingGroup group;
  DynoSettingLive live;
  DynoSettingRate rate;
  DynoTunable tunable;
  /* "optimizer=sgd", or several values with commas between: without effect where that is not so; or
   * NULL */
  const char *depends_on;
  DynoSettingNeed needs;   /* else it has no effect either */
  gboolean by_preset;      /* a GPU preset advises it */
  gboolean opens_data;     /* a data set is opened by it: it has to be opened again */
  gboolean same_weights;   /* the weights that come of it do not depend on it, or hardly */
  gboolean same_on_resume; /* a resumed run that changes it is warned: it does not go on exactly */
  gsize offset;            /* in DynoSettings */
} DynoSettingInfo;

/* The table; n entries, static. */
const DynoSettingInfo *dyno_setting_list (guint *n);
const DynoSettingInfo *dyno_setting_find (const char *key); /* NULL: unknown */

/* A choice that begins with "false" and "true": these are read and shown as those of a BOOL. */
gboolean dyno_setting_has_switch (const DynoSettingInfo *info);

/* N_(): the title of a group. */
const char *dyno_setting_group_title (DynoSettingGroup group);

/* The setting that depends_on names, a switch or a choice, and the values that it may have, bit v
 * for the value v; NULL: it depends on none. */
const DynoSettingInfo *dyno_setting_get_dependency (const DynoSettingInfo *info, guint *values);
/* FALSE: what the setting depends on is otherwise, and it has no effect. */
gboolean dyno_setting_counts (const DynoSettingInfo *info, const DynoSettings *settings);

void dyno_settings_init (DynoSettings *settings); /* all defaults */

/* Text to value and back, locale-independent ('.' decimals).  _set: SETTING, and the struct is
 * unchanged.  _get: g_free. */
gboolean dyno_settings_set (DynoSettings *settings, const char *key, const char *value,
                            GError **error);
char *dyno_settings_get (const DynoSettings *settings, const char *key);
gboolean dyno_settings_equal (const DynoSettings *a, const DynoSettings *b);

/* Copies what is live and differs between before and now.  The ways that it is to be applied, 1 <<
 * DynoSettingLive each; 0: nothing differs. */
guint dyno_settings_follow (DynoSettings *settings, const DynoSettings *before,
                            const DynoSettings *now);

/* Numbers by key, for widgets (bool 0/1, enum index). */
double dyno_settings_get_number (const DynoSettings *settings, const char *key);
gboolean dyno_settings_set_number (DynoSettings *settings, const char *key, double value,
                                   GError **error);

G_END_DECLS
