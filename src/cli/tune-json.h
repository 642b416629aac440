/* SPDX-License-Identifier: MIT */
/* What tune --json prints: the contract's members, then what else is known. */
#pragma once
#include "tune.h"

G_BEGIN_DECLS

/* One line for a ceiling, a trial, what is prepared, the best; nothing for other events. */
void dyno_tune_print_json (const DynoTuneEvent *event);

G_END_DECLS
