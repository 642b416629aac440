/* SPDX-License-Identifier: MIT */
/* Predicts samples that the caller prepared, in batches and without a data set, for a service.
 *
 * Two batches may be in flight: one is copied to the device while the other is computed.  Nothing
 * is allocated or compiled after _new.  Programs for some smaller batch sizes share the weights, so
 * that a few samples take less time than a whole batch.  One thread at a time, which need not be
 * the thread that made the feeder. */
#pragma once
#include "predictor.h"

G_BEGIN_DECLS

typedef struct _DynoFeeder DynoFeeder;

#define DYNO_FEEDER_SLOTS 2 /* the most batches in flight */

/* The feeder is ready when this returns: one batch of each size was computed.  params: batch is the
 * largest number of samples in a batch, workers is not used; see predictor.h for notes and errors.
 * A file that does not describe its input is refused (CHECKPOINT). */
DynoFeeder *dyno_feeder_new (const DynoPredictorParams *params, GPtrArray *notes,
                             GCancellable *cancellable, GError **error);
/* Waits for all batches in flight; NULL: does nothing. */
void dyno_feeder_free (DynoFeeder *feeder);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoFeeder, dyno_feeder_free)

const DynoWeightsInfo *dyno_feeder_get_info (DynoFeeder *feeder);
const char *dyno_feeder_get_device (DynoFeeder *feeder);
/* The input field of the network: samples are packed elements of this field. */
const DynoBatchField *dyno_feeder_get_input (DynoFeeder *feeder);

/* Submits samples[0..n), 1 <= n <= batch, each of the input field's size, which are copied before
 * this returns.  lengths: valid steps of each sample of a variable field, else NULL.  Fewer than
 * DYNO_FEEDER_SLOTS batches are in flight.  Errors: those of submitting. */
gboolean dyno_feeder_submit (DynoFeeder *feeder, gconstpointer const *samples,
                             const gint32 *lengths, guint32 n, GError **error);

/* Size of one sample's result: n_outputs floats, or a mask. */
gsize dyno_feeder_get_output_bytes (DynoFeeder *feeder);

/* Waits for the oldest batch in flight and writes n samples of dyno_feeder_get_output_bytes:
 * n_outputs floats, which are probabilities of classes or labels, or values in the data's unit, or,
 * for weights with a class for each pixel, class ids (H, W) at the input's size, one byte each.
 * Errors: DEVICE_LOST, TIMEOUT; the batch is no longer in flight. */
gboolean dyno_feeder_collect (DynoFeeder *feeder, gpointer outputs, GError **error);

guint dyno_feeder_get_pending (DynoFeeder *feeder);

G_END_DECLS
