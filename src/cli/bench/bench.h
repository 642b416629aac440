/* SPDX-License-Identifier: MIT */
/* A network ready to be stepped on resident data, for bench and its table of kernels. */
#pragma once
#include "build.h"
#include "ceilings.h"
#include "chrometrace.h"
#include "comm.h"
#include "job-options.h"

G_BEGIN_DECLS

#define DYNO_BENCH_SLOTS      2 /* steps in flight */
#define DYNO_BENCH_MOST_BATCH 65536

/* A network and batch sizes that other trainers are measured with too. */
typedef struct {
  const char *name, *model;
  guint32 size, classes;
  guint32 batches[3]; /* when none is named; 0: none */
  guint32 features;   /* 0: images of size x size; else sequences of `size` steps of these */
} DynoBenchWorkload;

const DynoBenchWorkload *dyno_bench_find_workload (const char *name);

typedef struct {
  float *values; /* NULL: there was no memory */
  guint64 n;
} DynoBenchNoise;

typedef struct {
  DynoDevice *device; /* not owned */
  DynoComm *comm;     /* not owned; NULL: one process */
  gboolean half;      /* with AMP, ranks exchange gradients in fp16 */
  const DynoBenchWorkload *workload;
  guint32 batch;
  gboolean amp, predict; /* predict: the network alone, no training */
  double tune_seconds;   /* for timing kernel variants; 0: no limit */
  DynoCeilings ceilings; /* for dyno_bench_kernels and dyno_bench_trace */
  DynoTrace *trace;      /* not owned; NULL: none */
  guint n_traced;
  DynoBuild *build;
  DynoStartValues *start; /* weights and pixels are being made */
  DynoBenchNoise noise;
  GThread *noise_thread;
  guint64 steps; /* submitted */
  guint64 timeline_values[DYNO_BENCH_SLOTS];
} DynoBench;

/* Builds the graph and lets start values and pixels be made while the device is opened; _prepare
 * takes them, or makes its own. */
gboolean dyno_bench_start (DynoBench *bench, const DynoBenchWorkload *workload, guint32 batch,
                           gboolean amp, GError **error);

/* Builds, tunes, records, and fills weights and data.  Also after an error, _clear frees what there
 * is; the device stays. */
gboolean dyno_bench_prepare (DynoBench *bench, const DynoBenchWorkload *workload, guint32 batch,
                             gboolean amp, gboolean autotune, GError **error);
void dyno_bench_clear (DynoBench *bench);

/* What is submitted as one step. */
DynoCommandKind dyno_bench_command (const DynoBench *bench);

/* Submits n steps back to back and waits for the last. */
gboolean dyno_bench_steps (DynoBench *bench, guint n, GError **error);

/* What the ranks of a communicator do together, each with a batch of its own. */
typedef struct {
  guint ranks, hosts;
  double step_ms, images_per_s;        /* of all ranks */
  double alone_ms, alone_images_per_s; /* rank 0, while the others wait */
  gboolean peers; /* gradients go from device to device, not through the host */
  guint64 exchange_bytes, exchange_buckets;
  double exchange_ms; /* of a step, from the first bucket that is final to the last sum */
  double exposed_ms;  /* the part of it that the backward pass does not hide */
} DynoBenchRanks;

/* Collective, once prepared with bench->comm.  A rank that fails ends all. */
gboolean dyno_bench_ranks (DynoBench *bench, guint steps, DynoBenchRanks *row, GError **error);

/* Fills ceilings with what is kept for the device, or measures and keeps it; before a network takes
 * the memory. */
gboolean dyno_bench_ceilings (DynoBench *bench, GError **error);

/* The time of every dispatch of a step, medians of `repeats` profiles, slowest first, against what
 * the device could do at best; then their sums by kind.  rows 0: all.  Steps were done before. */
gboolean dyno_bench_kernels (DynoBench *bench, guint repeats, guint rows, gboolean json,
                             GError **error);

/* The same times into bench->trace, in the order of the step and back to back, as a process of its
 * own. */
gboolean dyno_bench_trace (DynoBench *bench, guint repeats, GError **error);

/* A list of whole numbers by commas, into guint32s; usage is told. */
gboolean dyno_bench_parse_list (const char *command, const char *option, const char *text,
                                guint32 least, guint32 most, GArray *list);

/* --loader: what the data pipeline delivers without a device, a row for each batch and number of
 * workers.  batches, workers: lists as text, NULL: the setting; 0, 1, 2, 4 ... to the cores.
 * Returns an exit code. */
int dyno_bench_loader (const char *command, DynoJobOptions *options, const char *batches,
                       const char *workers);

/* --exchange: as one of several ranks. */
int dyno_bench_exchange (const char *command);

G_END_DECLS
