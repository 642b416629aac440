/* SPDX-License-Identifier: MIT */
/* Prediction: from a weights file and a data set to the outputs of the network for each sample.
 *
 * The program holds only the forward pass: no loss, no labels, no memory for gradients.  Samples
 * are decoded by workers while the device computes, two batches in flight.  No GTK: the command
 * line and the window use it alike.  A predictor belongs to the thread that made it;
 * dyno_predictor_new and _run block, so a window uses a separate thread.  Any thread may cancel
 * both by the cancellable. */
#pragma once
#include "weightsinfo.h"

G_BEGIN_DECLS

typedef struct _DynoPredictor DynoPredictor;

typedef struct {
  const char *weights; /* path of a weights file */
  const char *model;   /* NULL: the file's */
  guint32 image_size;  /* height and width; 0: the file's, else 224, or the data set's own */
  guint32 batch;       /* 0: 32; never more than the number of samples */
  gboolean amp;        /* used where the device supports it */
  guint workers;       /* number of decoding workers; 0: as many as cores, at most 8 */
  int device;          /* index; -1: the best */
  /* Each image is predicted as it is and as its mirror image: the probabilities, or values, are the
   * means of both, and the logits those of the mean probabilities. */
  gboolean mirror;
} DynoPredictorParams;

/* Opens the data set that weights are to predict, in their input format:
 * dyno_dataset_open_unlabelled of paths with the input that the file describes.  Errors: those of
 * opening the file and the data set; CHECKPOINT. */
DynoDataset *dyno_predictor_open_data (const char *weights, const char *const *paths,
                                       GCancellable *cancellable, GError **error);

/* The same for a data set whose truth is known: dyno_dataset_open.  Weights of several labels read
 * labels where params request no task. */
DynoDataset *dyno_predictor_open_labelled (const char *weights, const char *location,
                                           const DynoDatasetParams *params,
                                           GCancellable *cancellable, GError **error);

/* Opens device and file, compiles, allocates.  Notes (char*, sentences) name assumptions about
 * facts that the file does not hold, and parts of the file that are not used.  params is copied,
 * dataset referenced; NULL: a predictor that only a feeder uses (feeder.h), whose file must
 * describe its input.  Errors: CHECKPOINT (the file does not fit the model, or the model is not
 * known), DATA (the data does not fit the network; mirror without images, or with masks or a
 * feeder), gpu's and nn's; G_IO_ERROR_CANCELLED. */
DynoPredictor *dyno_predictor_new (const DynoPredictorParams *params, DynoDataset *dataset,
                                   GPtrArray *notes, GCancellable *cancellable, GError **error);
/* Waits for all submissions in flight. */
void dyno_predictor_free (DynoPredictor *predictor);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoPredictor, dyno_predictor_free)

/* The meaning of the outputs and the form of the input; owned by predictor.  n_outputs and
 * has_input are always set. */
const DynoWeightsInfo *dyno_predictor_get_info (DynoPredictor *predictor);
guint32 dyno_predictor_get_batch (DynoPredictor *predictor); /* samples per batch */
const char *dyno_predictor_get_device (DynoPredictor *predictor);
/* Size of the masks of weights with a class for each pixel, which is that of the images as the
 * network reads them; 0: the weights have one answer for a sample. */
void dyno_predictor_get_mask_size (DynoPredictor *predictor, guint32 *width, guint32 *height);

typedef struct {
  guint64 index;       /* index of the sample in the data set */
  const char *problem; /* why the sample could not be read; NULL: the other members are set */
  /* n_outputs: the network's logits over the temperature of the weights, or values in the data's
   * unit; see mirror, too */
  const float *logits;
  /* n_outputs probabilities, of classes or of labels; NULL: the outputs are values or pixels */
  const float *shares;
  /* the class of each pixel, at the size of dyno_predictor_get_mask_size (logits is then NULL);
   * NULL: the weights have one answer for a sample */
  const guint8 *mask;
} DynoPrediction;

/* Called for each sample, in the order of indices; FALSE ends the run without an error. */
typedef gboolean (*DynoPredictorFunc) (const DynoPrediction *prediction, gpointer data);

/* Predicts all samples that indices (guint32) names, NULL: all of the data set.  May be called
 * repeatedly.  A sample that cannot be read is reported with its problem.  Errors: those of the
 * loader and of submitting; G_IO_ERROR_CANCELLED, after the samples so far were reported. */
gboolean dyno_predictor_run (DynoPredictor *predictor, const GArray *indices,
                             DynoPredictorFunc func, gpointer data, GCancellable *cancellable,
                             GError **error);

G_END_DECLS
