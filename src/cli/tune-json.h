/* SPDX-License-Identifier: MIT */
/* The output of tune --json: the members that the contract fixes, then others that are known. */
#pragma once
#include "tune.h"

G_BEGIN_DECLS

/* Prints one line for a ceiling, a trial, a preparation, the best; nothing for other events. */
void dyno_tune_print_json (const DynoTuneEvent *event);

G_END_DECLS
