/* SPDX-License-Identifier: MIT */
/* The settings of a run.  One table names every key, its type, range, default and words; the
 * command line, the settings file, the exporters and the window all follow it, so that a setting
 * has one name everywhere.
 *
 * DynoSettings is a plain struct: copy it by assignment.  Its fields are read by the engine; they
 * are changed through the functions below where the value comes from outside. */
#pragma once
#include "train-error.h"

G_BEGIN_DECLS

typedef enum { DYNO_OPTIMIZER_NAME_SGD, DYNO_OPTIMIZER_NAME_ADAMW } DynoOptimizerName;
typedef enum { DYNO_SCHEDULE_CONSTANT, DYNO_SCHEDULE_COSINE, DYNO_SCHEDULE_STEP } DynoSchedule;

typedef struct {
  gint64 batch_size;
  gboolean amp;
  gint64 workers;
  gint64 prefetch;
  gboolean pinned;
  gboolean persistent_workers;
  gboolean cache;
  gint64 accumulate;      /* micro-batches a step; batch_size is the micro-batch, as in PyTorch */
  double clip_norm;       /* 0: off */
  gboolean checkpointing; /* activation checkpointing */
  gboolean autotune;
  gboolean deterministic;
  gint optimizer; /* DynoOptimizerName */
  double lr;
  double momentum; /* SGD's */
  double weight_decay;
  gint schedule; /* DynoSchedule */
  double warmup_epochs;
  double label_smoothing;
  gint64 epochs;
  double checkpoint_minutes; /* 0: at the ends of epochs alone */
  gint64 seed;
  gint64 vram_budget; /* bytes; 0: the device's own memory (or the preset's) */
  gint64 image_size;  /* height and width after resizing; 0: the data set's own */
  gboolean augment_flip;
  gboolean data_shuffle;
  double data_val_split;
  gboolean data_normalise;
  gint data_layout;    /* DynoAxes */
  double data_max_bad; /* 0: none may fail */
  gboolean data_links;
  gboolean data_one_class;
  double model_width;
} DynoSettings;

typedef enum {
  DYNO_SETTING_BOOL,
  DYNO_SETTING_INT,
  DYNO_SETTING_DOUBLE,
  DYNO_SETTING_ENUM,
  /* "12GB", "8 GiB", "512MiB" or a number of bytes; GB and GiB both read as 2^30 as card makers
   * count VRAM */
  DYNO_SETTING_BYTES,
} DynoSettingType;

typedef struct {
  const char *key;   /* "batch_size", "data.val_split" */
  const char *title; /* N_(): for the window: "Batch size" */
  const char *help;  /* N_(): one sentence */
  DynoSettingType type;
  double minimum, maximum;   /* INT, DOUBLE, BYTES */
  const char *const *values; /* ENUM: NULL-terminated names, index = value */
  const char *default_value; /* the default, as text */
  gboolean live;             /* may change while a run is going */
  gsize offset;              /* in DynoSettings */
} DynoSettingInfo;

/* The table; n entries, static. */
const DynoSettingInfo *dyno_setting_list (guint *n);
const DynoSettingInfo *dyno_setting_find (const char *key); /* NULL: unknown */

void dyno_settings_init (DynoSettings *settings); /* all defaults */

/* Text to value and back, locale-independent ('.' decimals).  _set: SETTING, and the struct is
 * unchanged.  _get: g_free. */
gboolean dyno_settings_set (DynoSettings *settings, const char *key, const char *value,
                            GError **error);
char *dyno_settings_get (const DynoSettings *settings, const char *key);
gboolean dyno_settings_equal (const DynoSettings *a, const DynoSettings *b);

/* Numbers by key, for widgets (bool 0/1, enum index). */
double dyno_settings_get_number (const DynoSettings *settings, const char *key);
gboolean dyno_settings_set_number (DynoSettings *settings, const char *key, double value,
                                   GError **error);

G_END_DECLS
