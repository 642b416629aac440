/* SPDX-License-Identifier: MIT */
/* A feeder (feeder.h) as the engine of a batcher; the engine's pointer is the DynoFeeder. */
#pragma once
#include "batcher.h"

G_BEGIN_DECLS

extern const DynoBatchEngine dyno_feeder_engine;

G_END_DECLS
