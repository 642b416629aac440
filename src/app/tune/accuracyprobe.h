/* SPDX-License-Identifier: MIT */
/* The facts about a search for the best model before it begins: the metrics that there are, why none
 * can begin, and the earlier search that can go on.  Answers come from a thread. */
#pragma once
#include "accuracyfile.h"
#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct {
  GArray *metrics; /* DynoMetricInfo, the usual one first; NULL: the network cannot be built */
  GError *error;   /* the engine's: why there can be no search; NULL: it can begin */
  char *folder;    /* of the newest search with this job; NULL: there is none */
  char *metric;    /* of that search, its name */
  guint n_trials;  /* that it has */
} DynoAccuracyProspect;

void dyno_accuracy_prospect_free (DynoAccuracyProspect *prospect);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoAccuracyProspect, dyno_accuracy_prospect_free)

/* metric: the one that is wanted, by name; NULL, and one that there is not: the first.  runs: the folder
 * in which searches are kept. */
void dyno_accuracy_probe (const DynoJob *job, DynoDataset *dataset, const char *metric,
                          const char *runs, GObject *source, GAsyncReadyCallback done,
                          gpointer data);
/* Never NULL.  dyno_accuracy_prospect_free. */
DynoAccuracyProspect *dyno_accuracy_probe_finish (GAsyncResult *result);

G_END_DECLS
