/* SPDX-License-Identifier: MIT */
/* What the tests of the search share: simulated machines, whose whole grid is known, a search on one
 * of them, and what its result says.  Seeds are fixed; the clock is the simulation's. */
#pragma once
#include "simulation.h"

G_BEGIN_DECLS

#define GIB ((double) (1 << 30))

/* An H200 with 16 cores and ResNet-18, of which each differs in what it names. */
extern const DynoMachine machines[];
extern const guint n_machines;

/* Machines that are not the same from one measurement to the next. */
extern const DynoMachine unsteady[];
extern const guint n_unsteady;

/* A small set on a disk that a worker waits for. */
extern const DynoMachine small_on_a_slow_disk;

/* Two cores that compute the network in software: its kernels take longest. */
extern const DynoMachine two_cores;

const DynoMachine *find_machine (const char *name);

/* Searches for a statement about many of them.  Under AddressSanitizer, which takes ten times as long
 * for each and looks for another kind of errors, a tenth. */
guint searches (guint n);

typedef struct {
  double minutes;
  const DynoSettings *settings, *preset;
  const DynoTuneResult *known;
  void (*wait) (gpointer user);
  GCancellable *cancellable;
  void (*trial) (gpointer user, const DynoTrial *trial);
  DynoSimulation *sim; /* that is there already, with what it compiled; NULL: a new one */
  guint *n_late;       /* measurements that their deadline ended */
  double goal;         /* accuracy; 0: none */
} Wanted;

/* *seconds, *error: may be NULL, the latter for a search that must not fail. */
DynoTuneResult *search (const DynoMachine *m, guint32 seed, Wanted wanted, double *seconds,
                        GError **error);

const DynoTrial *trial_of (const DynoTuneResult *r, guint i);
guint count (const DynoTuneResult *r, DynoTrialOutcome outcome);
guint count_ceilings (const DynoTuneResult *r, DynoCeilingOf of);

/* Whether the words are in its reasons. */
gboolean says (const DynoTuneResult *r, const char *words);

G_END_DECLS
