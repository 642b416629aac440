/* SPDX-License-Identifier: MIT */
/* What the tests of the loader share: a data set that misbehaves as told, and batches folded into
 * a number. */
#pragma once
#include "dataset-class.h"
#include "loader-private.h"

G_BEGIN_DECLS

typedef struct {
  guint64 n_samples;
  guint bad_every; /* sample i is bad when i % bad_every == bad_phase; 0: none */
  guint bad_phase;
  guint bad_run;    /* and so many in a row; 0: one */
  gboolean jitter;  /* decode takes a while that differs from call to call */
  gint stuck_index; /* decoding this sample waits for release once; -1: none */
  gint stuck_calls; /* atomic */
  gboolean stuck_always;
  GMutex mutex;
  GCond cond;
  gboolean release;
  gint decodes;    /* atomic */
  gint hold_index; /* decoding this sample waits for let_go; -1: none */
  gint holding;    /* atomic: it does */
  gboolean let_go;
  gint jump_index;      /* while this sample is decoded, the clock jumps an hour; -1: none */
  gint clock_hours;     /* atomic */
  gint clock_calls;     /* atomic */
  guint sleep_us;       /* in each decode */
  gpointer *decoded_at; /* (n_samples), where each was; may be NULL */
  void (*on_decode) (guint64 index); /* called by whoever decodes; may be NULL */
} Odd;

/* One at a time; reset first.  Samples are 64 x odd_height bytes; sample i says that its class is
 * i, and its pixels say i elsewhere than in their first bytes. */
extern Odd odd;

/* 200: two samples make a task, and are decoded apart.  600: one does, in its slot. */
extern guint32 odd_height;

void odd_reset (guint64 n_samples);
DynoDataset *open_odd (void);

/* The sample whose pixels and target lie in a row of a batch. */
guint64 odd_index_at (const DynoBatch *batch, guint32 row);

/* For loaders: time with the hours that the whole process is said to have stood still. */
gint64 odd_clock (void);

/* The class id in a row of a batch. */
gint32 class_at (const DynoBatch *batch, guint32 row);

/* Lets go of the workers that decode the stuck sample. */
void release_stuck (void);

DynoDataset *open_shapes (const char *location);

/* Over all samples of the data set, in its size. */
DynoLoader *make_loader (DynoDataset *dataset, DynoLoaderParams params);

/* Everything that batches say, folded into one number; the count of batches too. */
guint64 fold_epoch (DynoLoader *loader, DynoDataset *dataset, DynoLoaderParams params,
                    guint64 epoch, guint64 first, guint *count);
guint64 fold_new (DynoDataset *dataset, DynoLoaderParams params, guint64 epoch);

void take_and_release (DynoLoader *loader);

G_END_DECLS
