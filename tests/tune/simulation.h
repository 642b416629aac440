/* SPDX-License-Identifier: MIT */
/* A simulated machine for the search: a meter whose rates follow from a formula, with noise and a
 * clock of its own, so that the best of the whole grid is known. */
#pragma once
#include "search.h"

typedef struct {
  const char *name;
  guint cores;
  gboolean no_fp16, generated, no_cache, software;
  gboolean waits; /* its workers wait for a disk, and need no core */
  guint64 n_train, n_validation;
  /* Loader. */
  double decode_s;   /* of a sample, by one worker */
  double disk;       /* samples/s that it delivers at most; 0: any */
  double cached_s;   /* of a sample out of the cache, by one worker */
  double crowding;   /* loss for each worker above the cores but one */
  double contention; /* the same for each above half of the cores, in a run alone */
  /* Device. */
  double sample_s[2]; /* fp32, AMP */
  double step_s;      /* of each batch, whatever its size */
  double optimizer_s; /* of each update */
  double again;       /* time with checkpointing, over without; 0: 1.25 */
  /* Both. */
  double overlap_cost[2]; /* share of the shorter time: without workers, with */
  double host_s;          /* of each step, in no ceiling */
  double end_s;           /* of an epoch */
  /* Memory. */
  double base_bytes, sample_bytes; /* fp32; half of the latter with AMP, and with checkpointing */
  double limit_bytes;
  double refused_bytes; /* the driver refuses from here on; 0: it does not */
  /* What else happens. */
  double noise;          /* of a measurement's windows */
  double drift, drift_s; /* of the processor's speed: amplitude, period */
  /* The device slows down by this share while it heats up, most of it in heat_s; a run has the
   * rate of the end. */
  double heat, heat_s;
  /* Loader and device drift by this share, each in its own time. */
  double wander, wander_s;
  /* Another program takes this share of the processor for visit_s, at random, half of the time. */
  double visit, visit_s;
  /* A sample that was not read before waits so long for the disk, without a core; a run has all of
   * them in memory from its second epoch on.  again_first: every measurement begins with the same
   * samples. */
  double read_s;
  gboolean again_first;
  /* This share of windows has a third of the rate. */
  double stalls;
  double outside_cpu;
  guint64 n_unreadable; /* samples, in each trial */
  double prepare_s;
  double plan_s; /* that each plan takes */
  guint ends;    /* batches that each trial validates besides; 0: none */
  /* Of a network that the device has not had yet: its kernels are compiled; and measured, which
   * takes tune_s where the meter tunes and the settings want it. */
  double compile_s, tune_s;
  double compile_amp_s; /* of one with AMP; 0: as the others */
  gboolean amp_fails, all_fails;
  gboolean computes_nothing; /* steps end, and no sample of theirs is counted */
  double
      learn_epochs; /* to an accuracy of 0.9, at batch 64; more with larger ones; 0: never told */
  gboolean amp_diverges; /* its losses, from the same weights */
  gboolean fills;        /* a trial that does not wait for its cache tells the rate without it */
  guint stuck_at;        /* the nth measurement lasts until its deadline; 0: none */
  guint lost_at;         /* the nth measurement loses the device; 0: none */
} DynoMachine;

typedef struct {
  DynoMeter meter;
  const DynoMachine *machine;
  GRand *random;
  double clock_s;
  double n_read;             /* samples that were read from the disk */
  double phases[2], *visits; /* of what drifts; when visits begin and end, by turns */
  guint n, n_late;           /* measurements; those that the deadline ended */
  guint n_steps_only;        /* trials without the end of an epoch */
  double prepared_s;         /* of the last: what it took to prepare */
  guint n_planned;
  GHashTable *compiled, *tuned; /* networks, as text: seconds that are left of it */
} DynoSimulation;

DynoSimulation *dyno_simulation_new (const DynoMachine *machine, guint32 seed);
void dyno_simulation_free (DynoSimulation *simulation);
gint64 dyno_simulation_now_us (DynoSimulation *simulation);

double dyno_machine_train_rate (const DynoMachine *machine, const DynoSettings *settings);
/* What a run truly gets; 0: it does not fit. */
double dyno_machine_rate (const DynoMachine *machine, const DynoSettings *settings);
/* Until an accuracy of 0.9. */
double dyno_machine_epochs (const DynoMachine *machine, const DynoSettings *settings);
/* The best of the whole grid of doubled batches and workers, precision, cache and checkpointing, as
 * far as it fits; and what it takes to measure it, seconds each. */
double dyno_machine_best (const DynoMachine *machine, const DynoSettings *start, double seconds,
                          double *grid_s);
