/* SPDX-License-Identifier: MIT */
/* Measures the rate of the data pipeline by itself: it runs the loader of a run and takes each
 * batch at once.  No device is used. */
#pragma once
#include "deadline.h"
#include "job.h"
#include "statistics.h"

G_BEGIN_DECLS

/* Microseconds per sample, in one thread: first those of a worker, then those of the training
 * thread. */
typedef struct {
  double read, decode, resample;
  double stage; /* copying between the cache, a worker's memory and the batch's */
  double copy;  /* a second copy of the batch, where memory is not page-locked */
} DynoLoaderStages;

typedef struct {
  DynoEstimate rate; /* samples/s; with the cache setting: of later epochs */
  DynoLoaderStages stages;
  double uncached_rate; /* with the cache setting: samples/s of the first epoch */
  double cached_share;  /* with the cache setting: share of the part that fits into memory, 0..1 */
  double outside_cpu;   /* see meter.h */
  guint64 n_batches;    /* batches delivered during the measurement */
  guint n_epochs;       /* epochs that ended during the measurement */
} DynoLoaderCeiling;

/* job->settings' workers, prefetch, persistent_workers, pinned, cache, image_size and batch_size
 * count.  indices: the training part.  With cache the rate is that of later epochs: a part of the
 * samples is decoded first and measured, and weighted with the samples that do not fit into memory.
 * It ends after `seconds` of measuring, or at the deadline with the samples so far.  Errors: those
 * of the loader; DATA; CANCELLED, TIMED_OUT. */
gboolean dyno_loader_ceiling_measure (const DynoJob *job, DynoDataset *dataset,
                                      const GArray *indices, double seconds, DynoDeadline *deadline,
                                      DynoLoaderCeiling *ceiling, GError **error);

/* samples/s where this share of the samples comes at one rate and the rest at another. */
double dyno_loader_ceiling_mix (double cached, double uncached, double cached_share);

/* The numbers of workers (guint32) at which a machine is measured: 0, 1, 2, 4 ... and the number of
 * cores, each once. */
GArray *dyno_loader_list_workers (guint32 cores);

G_END_DECLS
