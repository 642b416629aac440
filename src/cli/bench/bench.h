/* SPDX-License-Identifier: MIT */
/* A network that is ready for steps on data in device memory, for bench and its table of
 * kernels. */
#pragma once
#include "build.h"
#include "ceilings.h"
#include "chrometrace.h"
#include "comm.h"
#include "job-options.h"

G_BEGIN_DECLS

#define DYNO_BENCH_SLOTS      2 /* steps in flight */
#define DYNO_BENCH_MOST_BATCH 65536

/* A network with the batch sizes at which other trainers are measured, too. */
typedef struct {
  const char *name, *model;
  guint32 size, classes;
  guint32 batches[3]; /* default batch sizes; 0 after the last */
  guint32 features;   /* 0: images of size x size; else per step of sequences of `size` steps */
} DynoBenchWorkload;

const DynoBenchWorkload *dyno_bench_find_workload (const char *name);

typedef struct {
  float *values; /* NULL: the allocation failed */
  guint64 n;
} DynoBenchNoise;

typedef struct {
  DynoDevice *device; /* not owned */
  DynoComm *comm;     /* not owned; NULL: there is only one process */
  gboolean half;      /* with AMP, ranks exchange gradients in fp16 */
  const DynoBenchWorkload *workload;
  guint32 batch;
  gboolean amp, predict; /* predict: only the forward pass, no training */
  double tune_seconds;   /* for timing kernel variants; 0: no limit */
  DynoCeilings ceilings; /* for dyno_bench_kernels and dyno_bench_trace */
  DynoTrace *trace;      /* not owned; NULL: none */
  guint n_traced;
  DynoBuild *build;
  DynoStartValues *start; /* weights that are being generated */
  DynoBenchNoise noise;
  GThread *noise_thread;
  guint64 steps; /* submitted so far */
  guint64 timeline_values[DYNO_BENCH_SLOTS];
} DynoBench;

/* Builds the graph, and starts threads that generate start values and pixels while the device is
 * opened; _prepare uses these, or generates its own. */
gboolean dyno_bench_start (DynoBench *bench, const DynoBenchWorkload *workload, guint32 batch,
                           gboolean amp, GError **error);

/* Builds the network, tunes its kernels, records the commands, and fills weights and data.  _clear
 * frees everything but the device, also after an error. */
gboolean dyno_bench_prepare (DynoBench *bench, const DynoBenchWorkload *workload, guint32 batch,
                             gboolean amp, gboolean autotune, GError **error);
void dyno_bench_clear (DynoBench *bench);

/* The commands that are submitted as one step. */
DynoCommandKind dyno_bench_command (const DynoBench *bench);

/* Submits n steps back to back and waits for the last. */
gboolean dyno_bench_steps (DynoBench *bench, guint n, GError **error);

/* The joint performance of all ranks of a communicator, each with its own batch. */
typedef struct {
  guint ranks, hosts;
  double step_ms, images_per_s;        /* of all ranks together */
  double alone_ms, alone_images_per_s; /* of rank 0, while the other ranks wait */
  gboolean peers; /* gradients go from device to device, not through the host */
  guint64 exchange_bytes, exchange_buckets;
  double exchange_ms; /* per step, from the first final bucket to the last sum */
  double exposed_ms;  /* the part of exchange_ms that the backward pass does not hide */
} DynoBenchRanks;

/* Collective; after _prepare with bench->comm.  A rank that fails ends all ranks. */
gboolean dyno_bench_ranks (DynoBench *bench, guint steps, DynoBenchRanks *row, GError **error);

/* Fills bench->ceilings from the cache for the device, or measures and caches them; to be called
 * before a network occupies the memory. */
gboolean dyno_bench_ceilings (DynoBench *bench, GError **error);

/* Prints the time of every dispatch of a step, as the median of `repeats` profiles, slowest first,
 * against the device's ceilings; then the sums by kind.  rows 0: all.  To be called after some
 * steps. */
gboolean dyno_bench_kernels (DynoBench *bench, guint repeats, guint rows, gboolean json,
                             GError **error);

/* Adds the same times to bench->trace, in the order of the step and without gaps, as a separate
 * process. */
gboolean dyno_bench_trace (DynoBench *bench, guint repeats, GError **error);

/* Parses whole numbers separated by commas into guint32s; reports a usage error. */
gboolean dyno_bench_parse_list (const char *command, const char *option, const char *text,
                                guint32 least, guint32 most, GArray *list);

/* --loader: the rate of the data pipeline without a device, a row for each batch size and number of
 * workers.  batches, workers: comma-separated lists; batches NULL: the setting's value; workers
 * NULL: 0, 1, 2, 4 ... up to the number of cores.  Returns an exit code. */
int dyno_bench_loader (const char *command, DynoJobOptions *options, const char *batches,
                       const char *workers);

/* bench --exchange, to be called in each of several ranks. */
int dyno_bench_exchange (const char *command);

G_END_DECLS
