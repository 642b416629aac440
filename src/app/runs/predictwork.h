/* SPDX-License-Identifier: MIT */
/* Predicts image files with the weights of a run, in a thread: the predictor of the train layer
 * with its data set.  Main thread only; both callbacks are called on it, and never after
 * _cancel. */
#pragma once
#include "weightsinfo.h"
#include <gdk-pixbuf/gdk-pixbuf.h>
#include <gio/gio.h>

G_BEGIN_DECLS

char *dyno_predict_get_weights (const char *folder); /* path of a run's weights; g_free */

#define DYNO_PREDICT_MOST_OUTPUTS 5 /* classes or values of a sample; labels are all reported */

typedef struct {
  char *name; /* of a class or label; of a value, with its unit */
  guint32 class_id;
  double number; /* probability, share of the pixels, or value */
} DynoPredictedOutput;

typedef struct {
  char *sample;  /* a file's name, as people read it */
  char *problem; /* why the file could not be read; NULL: the members below are set */
  gboolean is_values;
  gboolean has_mask;  /* the mask is drawn over the picture; outputs are the classes in it */
  gboolean is_labels; /* outputs are the chosen labels; there may be none */
  guint n; /* outputs: classes or labels, most likely or largest first, or values in their order */
  DynoPredictedOutput *outputs;
  GdkPixbuf *picture; /* NULL: the sample is no image */
} DynoPredictedSample;

/* Fills the outputs with the classes that have a pixel in the mask, the largest first. */
void dyno_predicted_sample_take_mask (DynoPredictedSample *sample, const DynoWeightsInfo *info,
                                      const guint8 *mask, gsize n_pixels);

typedef struct {
  guint64 n; /* without the files that were refused before */
  guint64 n_predicted, n_unreadable;
  gboolean has_masks; /* the weights have a class for each pixel */
  guint64 n_masks;    /* masks written into the folder */
  double seconds;     /* time of the predictions, without opening the weights */
  char *device;
  char *notes;   /* sentences on assumptions about the weights, or NULL */
  GBytes *table; /* predictions of all samples, as CSV; NULL: no sample was predicted */
} DynoPredictSummary;

typedef struct {
  void (*sample) (const DynoPredictedSample *sample, gpointer data);
  /* The last call.  error: why the work ended early; summary then covers the images before it. */
  void (*done) (const DynoPredictSummary *summary, const GError *error, gpointer data);
} DynoPredictFuncs;

typedef struct _DynoPredictWork DynoPredictWork;

/* paths: image files and folders, NULL at the end; device: index, -1: the best; pixels: the longer
 * side of a picture without a mask; a picture with a mask is twice as large; masks_folder: a folder
 * for the masks, as PNG files of their images' sizes, none of which may be there already; NULL:
 * they are not written.  Freed by _cancel, also after the end. */
DynoPredictWork *dyno_predict_work_start (const char *weights, int device, const char *const *paths,
                                          guint pixels, const char *masks_folder,
                                          const DynoPredictFuncs *funcs, gpointer data);
void dyno_predict_work_cancel (DynoPredictWork *work);

G_END_DECLS
