/* SPDX-License-Identifier: MIT */
/* Helpers of the loader's tests: a data set with configurable faults, and a hash of batches. */
#pragma once
#include "dataset-class.h"
#include "loader-private.h"

G_BEGIN_DECLS

typedef struct {
  guint64 n_samples;
  guint bad_every; /* sample i is bad when i % bad_every == bad_phase; 0: none */
  guint bad_phase;
  guint bad_run;    /* number of bad samples in a row; 0: one */
  gboolean jitter;  /* decode takes a varying time */
  gint stuck_index; /* decoding this sample waits for release once; -1: none */
  gint stuck_calls; /* atomic */
  gboolean stuck_always;
  GMutex mutex;
  GCond cond;
  gboolean release;
  gint decodes;    /* atomic */
  gint hold_index; /* decoding this sample waits for let_go; -1: none */
  gint holding;    /* atomic: whether it waits */
  gboolean let_go;
  gint jump_index;      /* while this sample is decoded, the clock jumps an hour; -1: none */
  gint clock_hours;     /* atomic */
  gint clock_calls;     /* atomic */
  gint next_calls;      /* atomic: clock_calls when the consumer began to wait */
  gint jumping;         /* atomic: the clock is to jump */
  guint sleep_us;       /* in each decode */
  gpointer *decoded_at; /* (n_samples), the address of each sample's pixels; may be NULL */
  void (*on_decode) (guint64 index); /* called by the thread that decodes; may be NULL */
} Odd;

/* The only such data set; odd_reset resets it before it is opened.  Samples are 64 x odd_height
 * bytes; sample i has class i, and its pixels contain i after their first bytes. */
extern Odd odd;

/* 200: two samples make a task, and are decoded into a buffer.  600: one sample does, and is
 * decoded into its slot. */
extern guint32 odd_height;

void odd_reset (guint64 n_samples);
DynoDataset *open_odd (void);

/* The index of the sample whose pixels and target are in a row of a batch. */
guint64 odd_index_at (const DynoBatch *batch, guint32 row);

/* A clock for loaders, which includes the hours for which the whole process was stopped. */
gint64 odd_clock (void);

/* The class id in a row of a batch. */
gint32 class_at (const DynoBatch *batch, guint32 row);

/* Releases the workers that decode the stuck sample. */
void release_stuck (void);

DynoDataset *open_shapes (const char *location);

/* Makes a loader over all samples of the data set, in their size. */
DynoLoader *make_loader (DynoDataset *dataset, DynoLoaderParams params);

/* Returns a hash of all fields of the batches, and the number of batches. */
guint64 fold_epoch (DynoLoader *loader, DynoDataset *dataset, DynoLoaderParams params,
                    guint64 epoch, guint64 first, guint *count);
guint64 fold_new (DynoDataset *dataset, DynoLoaderParams params, guint64 epoch);

void take_and_release (DynoLoader *loader);

G_END_DECLS
