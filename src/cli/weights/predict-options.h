/* SPDX-License-Identifier: MIT */
/* Shared by predict and evaluate: the options for weights and data, their parsing, and the
 * predictor for them. */
#pragma once
#include "cli.h"
#include "predictor.h"

G_BEGIN_DECLS

typedef struct {
  char *run, *weights, *model; /* values of the options; --run sets weights */
  char **data;
  gint64 batch, image_size;
  int device, workers;
  gboolean amp, mirror, json;
} DynoPredictOptions;

void dyno_predict_options_init (DynoPredictOptions *options);
void dyno_predict_options_clear (DynoPredictOptions *options);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (DynoPredictOptions, dyno_predict_options_clear)

/* Entries for these options, followed by the verb's own ones ({ NULL } at the end); g_free. */
GOptionEntry *dyno_predict_options_entries (DynoPredictOptions *options, const GOptionEntry *own);

/* Parses argv; arguments that are no options are data, too.  FALSE: the process is to exit with
 * *code. */
gboolean dyno_predict_options_parse (DynoPredictOptions *options, int argc, char **argv,
                                     const char *arguments, const char *summary,
                                     const GOptionEntry *entries, int *code);

/* A predictor on the data set; its notes are printed on standard error.  Errors: those of
 * dyno_predictor_new. */
DynoPredictor *dyno_predict_options_open (const DynoPredictOptions *options, const char *command,
                                          DynoDataset *dataset, GError **error);

/* Reports that the run over the data failed or was interrupted; returns the exit code. */
int dyno_predict_fail (GError *error, const char *command, gboolean json);

G_END_DECLS
