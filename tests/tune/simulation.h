/* SPDX-License-Identifier: MIT */
/* A simulated machine for the search: a meter whose rates follow from a formula, with noise and a
 * clock of its own, so that the best of the whole grid is known. */
#pragma once
#include "search.h"

typedef struct {
  const char *name;
  guint cores;
  gboolean no_fp16, generated, no_cache, software;
  gboolean waits; /* the workers wait for a disk, and need no core */
  guint64 n_train, n_validation;
  /* Loader. */
  double decode_s;   /* for a sample, by one worker */
  double disk;       /* the most samples/s that the disk delivers; 0: any */
  double cached_s;   /* for a cached sample, by one worker */
  double crowding;   /* loss for each worker above the number of cores less one */
  double contention; /* the same loss for each worker above half of the cores, only in a run */
  /* Device. */
  double sample_s[2]; /* fp32, AMP */
  double step_s;      /* for each batch, whatever its size */
  double optimizer_s; /* for each update */
  double again;       /* time with checkpointing divided by that without; 0: 1.25 */
  /* Both. */
  double overlap_cost[2]; /* share of the shorter time: without workers, with */
  double host_s;          /* for each step, in no ceiling */
  double end_s;           /* at the end of an epoch */
  /* Memory. */
  double base_bytes, sample_bytes; /* fp32; half of the latter with AMP, and with checkpointing */
  double limit_bytes;
  double refused_bytes; /* the driver refuses larger sizes; 0: no limit */
  /* Disturbances. */
  double noise;          /* of the windows of a measurement */
  double drift, drift_s; /* of the processor's speed: amplitude and period */
  /* The device slows down by this share while it heats up, mostly within heat_s; a run has the
   * final rate. */
  double heat, heat_s;
  /* Loader and device drift by this share, each with its own period. */
  double wander, wander_s;
  /* Another program takes this share of the processor for visit_s, at random times, half of the
   * time. */
  double visit, visit_s;
  /* A sample that is read for the first time waits this long for the disk, without a core; a run
   * has all samples in memory from its second epoch on.  again_first: every measurement begins with
   * the same samples. */
  double read_s;
  gboolean again_first;
  /* This share of the windows has a third of the rate. */
  double stalls;
  double outside_cpu;
  guint64 n_unreadable; /* samples, in each trial */
  double prepare_s;
  double plan_s; /* for each plan */
  guint ends;    /* batches that each trial also validates; 0: none */
  /* For a network that is new to the device: its kernels are compiled, and measured, which takes
   * tune_s where the meter tunes and the settings request it. */
  double compile_s, tune_s;
  double compile_amp_s; /* for a network with AMP; 0: as for the others */
  gboolean amp_fails, all_fails;
  /* Steps end without computing, and none of their samples are counted. */
  gboolean computes_nothing;
  double
      /* Number of epochs to an accuracy of 0.9, at batch 64; more at larger batches; 0: never
       * reported. */
      learn_epochs;
  gboolean amp_diverges; /* with AMP the losses diverge, from the same weights */
  /* A trial that does not wait for its cache has the rate without the cache. */
  gboolean fills;
  guint stuck_at; /* the nth measurement lasts until its deadline; 0: none */
  guint lost_at;  /* the nth measurement loses the device; 0: none */
} DynoMachine;

typedef struct {
  DynoMeter meter;
  const DynoMachine *machine;
  GRand *random;
  double clock_s;
  double n_read; /* number of samples that were read from the disk */
  /* phases: of the drifts; visits: the times at which visits begin and end, alternately. */
  double phases[2], *visits;
  guint n, n_late;    /* numbers of measurements, and of those that their deadline ended */
  guint n_steps_only; /* number of trials without the end of an epoch */
  double prepared_s;  /* preparation time of the last measurement */
  guint n_planned;
  GHashTable *compiled, *tuned; /* networks, as text: the remaining seconds */
} DynoSimulation;

DynoSimulation *dyno_simulation_new (const DynoMachine *machine, guint32 seed);
void dyno_simulation_free (DynoSimulation *simulation);
gint64 dyno_simulation_now_us (DynoSimulation *simulation);

double dyno_machine_train_rate (const DynoMachine *machine, const DynoSettings *settings);
/* The true rate of a run; 0: it does not fit. */
double dyno_machine_rate (const DynoMachine *machine, const DynoSettings *settings);
/* The number of epochs until an accuracy of 0.9. */
double dyno_machine_epochs (const DynoMachine *machine, const DynoSettings *settings);
/* The best rate of the whole grid of doubled batches and workers, precision, cache and
 * checkpointing, among the settings that fit; and the time to measure the grid, with `seconds`
 * each. */
double dyno_machine_best (const DynoMachine *machine, const DynoSettings *start, double seconds,
                          double *grid_s);
