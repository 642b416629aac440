/* SPDX-License-Identifier: MIT */
/* Runs of the history as the model of a list.  Texts are made when a row is shown, so that ten
 * thousand runs are listed at once; sorting orders the runs themselves. */
#pragma once
#include "store.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_RUN_LIST (dyno_run_list_get_type ())
G_DECLARE_FINAL_TYPE (DynoRunList, dyno_run_list, DYNO, RUN_LIST, GObject)

typedef enum {
  DYNO_RUN_LIST_TITLE,
  DYNO_RUN_LIST_BEGUN,
  DYNO_RUN_LIST_DATA,
  DYNO_RUN_LIST_MODEL,
  DYNO_RUN_LIST_SETTINGS, /* settings that differ from the defaults */
  DYNO_RUN_LIST_BEST,
  DYNO_RUN_LIST_RATE,
  DYNO_RUN_LIST_TIME,
  DYNO_RUN_LIST_STATE,
  DYNO_RUN_LIST_TAGS,
  DYNO_RUN_LIST_RUN, /* pointer: const DynoStoredRun */
  DYNO_N_RUN_LIST_COLUMNS
} DynoRunListColumn;

/* _set_runs takes the runs, DynoStoredRun*, and sorts them in the list's current order; _set_words
 * restricts the list to the runs that match the words ("": all), until it is called again.  No view
 * may be attached during either call. */
DynoRunList *dyno_run_list_new (void);
void dyno_run_list_set_runs (DynoRunList *self, GPtrArray *runs);
void dyno_run_list_set_words (DynoRunList *self, const char *words);
guint dyno_run_list_get_n_runs (DynoRunList *self); /* all runs that were set */
guint dyno_run_list_get_length (DynoRunList *self); /* runs that match the words */
const DynoStoredRun *dyno_run_list_get (DynoRunList *self, guint row);

/* "Batch size 64, Learning rate 0.01": settings that differ from the defaults.  g_free. */
char *dyno_run_list_describe_settings (const DynoSettings *settings);

/* Whether each of the words, which spaces divide, is in the run's name, model, data, state or tags,
 * whatever its case. */
gboolean dyno_run_list_matches (const DynoStoredRun *run, const char *words);

G_END_DECLS
