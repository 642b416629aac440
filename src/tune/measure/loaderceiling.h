/* SPDX-License-Identifier: MIT */
/* What the data pipeline delivers alone: the loader of a run, with nothing that holds it up.  No
 * device. */
#pragma once
#include "deadline.h"
#include "job.h"
#include "statistics.h"

G_BEGIN_DECLS

/* Microseconds a sample, of one thread: those of a worker, then of the thread that trains. */
typedef struct {
  double read, decode, resample;
  double stage; /* copying between the cache, a worker's memory and the batch's */
  double copy;  /* copying the batch once more, without page-locked memory */
} DynoLoaderStages;

typedef struct {
  DynoEstimate rate; /* samples/s */
  /* with a cache: of later epochs */
  DynoLoaderStages stages;
  double uncached_rate; /* with the cache setting: samples/s of the first epoch */
  double cached_share;  /* with the cache setting: of the part that memory has room for, 0..1 */
  double outside_cpu;   /* see meter.h */
  guint64 n_batches;    /* delivered while it was measured */
  guint n_epochs;       /* that ended meanwhile */
} DynoLoaderCeiling;

/* job->settings' workers, prefetch, persistent_workers, pinned, cache, image_size and batch_size
 * count.  indices: the training part.  With cache it is the rate of later epochs: of a part of the
 * samples that is decoded first, weighed with what does not fit the memory.
 * Ends after `seconds` of measuring, and with what there is when the deadline comes.
 * Errors: those of the loader; DATA; CANCELLED, TIMED_OUT. */
gboolean dyno_loader_ceiling_measure (const DynoJob *job, DynoDataset *dataset,
                                      const GArray *indices, double seconds, DynoDeadline *deadline,
                                      DynoLoaderCeiling *ceiling, GError **error);

/* samples/s where a share comes at one rate and the rest at another. */
double dyno_loader_ceiling_mix (double cached, double uncached, double cached_share);

G_END_DECLS
