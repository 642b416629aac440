/* SPDX-License-Identifier: MIT */
/* Determines in a thread, before a search for the best model begins: the available metrics, why no
 * search can begin, and the earlier search that can be resumed. */
#pragma once
#include "accuracyfile.h"
#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct {
  GArray *metrics; /* DynoMetricInfo, the usual one first; NULL: the network cannot be built */
  GError *error;   /* why no search can begin, or NULL */
  char *folder;    /* folder of the newest search with this job; NULL: there is none */
  char *metric;    /* name of the metric of that search */
  guint n_trials;  /* trials of that search */
  /* The parameters that are searched unless others are chosen, and those that may be, too. */
  DynoParamSpace usual, others;
} DynoAccuracyProspect;

void dyno_accuracy_prospect_free (DynoAccuracyProspect *prospect);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoAccuracyProspect, dyno_accuracy_prospect_free)

/* metric: the name of the wanted metric; for NULL, or a metric that is not available, the first one
 * is used.  over: the chosen parameters, as texts for dyno_param_space_choose; NULL: the usual ones.
 * runs: the folder in which searches are kept. */
void dyno_accuracy_probe (const DynoJob *job, DynoDataset *dataset, const char *metric,
                          const char *const *over, const char *runs, GObject *source,
                          GAsyncReadyCallback done, gpointer data);
/* Never NULL.  dyno_accuracy_prospect_free. */
DynoAccuracyProspect *dyno_accuracy_probe_finish (GAsyncResult *result);

G_END_DECLS
