/* SPDX-License-Identifier: MIT */
/* The output of tune --json: first the members that the contract requires, then further ones. */
#pragma once
#include "tune.h"

G_BEGIN_DECLS

/* Prints one line for the event of a ceiling, a trial, a preparation, a note or the best; nothing
 * for others. */
void dyno_tune_print_json (const DynoTuneEvent *event);

G_END_DECLS
