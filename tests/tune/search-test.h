/* SPDX-License-Identifier: MIT */
/* Helpers of the search tests: simulated machines, whose whole grid is known, a search on one of
 * them, and its result.  Seeds are fixed; the clock is the simulation's. */
#pragma once
#include "simulation.h"

G_BEGIN_DECLS

#define GIB ((double) (1 << 30))

/* Machines that are an H200 with 16 cores and ResNet-18, each with the changes of its name. */
extern const DynoMachine machines[];
extern const guint n_machines;

/* Machines that change from one measurement to the next. */
extern const DynoMachine unsteady[];
extern const guint n_unsteady;

/* A small data set on a disk that the workers wait for. */
extern const DynoMachine small_on_a_slow_disk;

/* Two cores that train the network in software, so that compiling its kernels takes long. */
extern const DynoMachine two_cores;

const DynoMachine *find_machine (const char *name);

/* The number of searches for a statement about many of them.  With AddressSanitizer, which makes
 * each ten times as slow and detects another kind of error, it is a tenth. */
guint searches (guint n);

typedef struct {
  double minutes;
  const DynoSettings *settings, *preset;
  const DynoTuneResult *known;
  void (*wait) (gpointer user);
  GCancellable *cancellable;
  void (*trial) (gpointer user, const DynoTrial *trial);
  DynoSimulation *sim; /* an existing simulation with its compiled networks; NULL: a new one */
  guint *n_late;       /* number of measurements that their deadline ended */
  double goal;         /* accuracy; 0: none */
} Wanted;

/* *seconds, *error: may be NULL, the latter for a search that must not fail. */
DynoTuneResult *search (const DynoMachine *m, guint32 seed, Wanted wanted, double *seconds,
                        GError **error);

const DynoTrial *trial_of (const DynoTuneResult *r, guint i);
guint count (const DynoTuneResult *r, DynoTrialOutcome outcome);
guint count_ceilings (const DynoTuneResult *r, DynoCeilingOf of);

/* Whether the result's reasons contain the words. */
gboolean says (const DynoTuneResult *r, const char *words);

G_END_DECLS
