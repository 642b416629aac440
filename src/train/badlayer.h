/* SPDX-License-Identifier: MIT */
/* Finds the layer from which a loss that is not finite comes.  Private to the train layer. */
#pragma once
#include "engine.h"

G_BEGIN_DECLS

/* Repeats forward and backward pass of a batch whose loss or gradient was not finite, with separate
 * memory for each value, and returns the name of the first layer with a value that is not finite,
 * marked where it is in the backward pass; g_free.  The weights are those with which the batch was
 * computed, since updates with gradients that are not finite are skipped.  NULL: no batch in the
 * engine's slots has such a loss or gradient, all values of the layers are finite, or building or
 * allocating failed.  Waits for all submissions in flight; the engine is unchanged. */
char *dyno_engine_find_bad_layer (DynoEngine *engine, GError **error);

G_END_DECLS
