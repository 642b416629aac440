/* SPDX-License-Identifier: MIT */
/* Makes a feeder (feeder.h) the engine of a batcher; the pointer to the engine is the
 * DynoFeeder. */
#pragma once
#include "batcher.h"

G_BEGIN_DECLS

extern const DynoBatchEngine dyno_feeder_engine;

G_END_DECLS
