/* SPDX-License-Identifier: MIT */
/* Prints the events of a run as JSON lines, for dynoctl train. */
#pragma once
#include "metrics.h"
#include "session.h"

G_BEGIN_DECLS

void dyno_train_print_step (const DynoMetricTable *table, const DynoStepMetrics *step);
void dyno_train_print_epoch (const DynoMetricTable *table, const DynoEpochMetrics *epoch);
void dyno_train_print_ranks (const DynoEvent *event);
/* {"event": name, key: text} */
void dyno_train_print_text (const char *name, const char *key, const char *text);
void dyno_train_print_preparing (const DynoEvent *event);
/* selecting: the metric that selects the best epoch, see dyno_metric_table_find_best. */
void dyno_train_print_done (const DynoMetricTable *table, int selecting, double rate,
                            const DynoEvent *event);

G_END_DECLS
