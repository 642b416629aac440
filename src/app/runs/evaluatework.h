/* SPDX-License-Identifier: MIT */
/* Measures the weights of a run on labelled data, in a thread: the predictor of the train layer
 * with its scores. */
#pragma once
#include "calibration.h"
#include "classfigures.h"
#include "evaluatelabels.h"
#include "maskscores.h"
#include <gio/gio.h>

G_BEGIN_DECLS

#define DYNO_EVALUATE_WORST   48 /* samples that scores keep as the worst */
#define DYNO_EVALUATE_CLASSES 60 /* largest confusion matrix that is drawn */

typedef struct {
  char *folder;  /* of the run */
  DynoJob *job;  /* job of the run, which determines the data and their division */
  char *data;    /* another data set, of which all samples count; NULL: a part of the run's */
  gboolean test; /* where data is NULL: the run's test part; FALSE: its validation part */
  int device;    /* index, -1: the best */
  guint pixels;  /* longest side of pictures with masks */
  int n_done;    /* atomic: samples so far */
  int n_samples; /* atomic; 0: not known yet */
} DynoEvaluateRequest;

/* Whether the run kept samples for a test; reads a small file. */
gboolean dyno_evaluate_has_test (const char *folder);

/* Whether samples that trained the run are among those of the request, whose data set has this
 * content_hash; reads a small file.  A part of the run's own data has none of them. */
gboolean dyno_evaluate_has_trained (const DynoEvaluateRequest *request, guint64 content_hash);

DynoEvaluateRequest *dyno_evaluate_request_new (const char *folder, const DynoJob *job, int device);
DynoEvaluateRequest *dyno_evaluate_request_ref (DynoEvaluateRequest *request);
void dyno_evaluate_request_unref (DynoEvaluateRequest *request);

/* The result, which is immutable: any thread may read it. */
typedef struct {
  DynoDataset *dataset;
  DynoWeightsInfo info;     /* only the members about the outputs are set */
  gboolean is_trained;      /* samples that trained the run are among these */
  DynoScores *scores;       /* NULL for weights with a class for each pixel */
  DynoClassFigures figures; /* set where the outputs are classes */
  DynoLabelDetails *labels; /* NULL: the outputs are no labels */
  DynoMaskScores *masks;    /* NULL for other weights */
  GHashTable *pairs;        /* of dyno_mask_pairs_draw */
  guint64 n_samples, n_unreadable;
  char *device, *notes; /* notes: sentences, a line each; NULL: none */
  double seconds;       /* time of the predictions, without opening the weights */
} DynoEvaluation;

DynoEvaluation *dyno_evaluation_ref (DynoEvaluation *evaluation);
void dyno_evaluation_unref (DynoEvaluation *evaluation); /* NULL: nothing */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoEvaluation, dyno_evaluation_unref)

/* The request must not change until done is called. */
void dyno_evaluate_async (DynoEvaluateRequest *request, GCancellable *cancellable,
                          GAsyncReadyCallback done, gpointer data);
/* Errors: those of opening the data, dyno_predictor_new, dyno_scores_measure and
 * dyno_mask_scores_measure;
 * DYNO_TRAIN_ERROR_DATA: the run has no such part, or its data have changed;
 * G_IO_ERROR_CANCELLED. */
DynoEvaluation *dyno_evaluate_finish (GAsyncResult *result, GError **error);

/* Whether the weights may be calibrated on these samples: they predict classes or labels, and have
 * neither been trained on them nor are to be tested by them. */
gboolean dyno_evaluation_can_calibrate (const DynoEvaluateRequest *request,
                                        const DynoEvaluation *evaluation);
/* Calibrates the weights of the request's run on the samples of the evaluation, in a thread.  The
 * work goes on when it is cancelled. */
void dyno_evaluation_calibrate_async (DynoEvaluateRequest *request, DynoEvaluation *evaluation,
                                      GCancellable *cancellable, GAsyncReadyCallback done,
                                      gpointer data);
/* A sentence on the result; g_free.  Errors: those of dyno_calibrate and
 * dyno_weights_info_write_calibration; G_IO_ERROR_CANCELLED. */
char *dyno_evaluation_calibrate_finish (GAsyncResult *result, GError **error);

G_END_DECLS
