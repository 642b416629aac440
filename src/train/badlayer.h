/* SPDX-License-Identifier: MIT */
/* Where a loss that is not finite comes from.  Private to the train layer. */
#pragma once
#include "engine.h"

G_BEGIN_DECLS

/* Runs the forward pass of the last batch whose loss was not finite once more, with memory of its
 * own for each value, and gives the name of the first layer whose output is not finite; g_free.
 * The weights are those that the batch met: an update with gradients that are not finite does not
 * happen.  NULL: no batch in the engine's slots was such, all layers are finite (then it is the
 * loss), or there is an error: those of building and of device memory.  Waits for what is in
 * flight; nothing of the engine changes. */
char *dyno_engine_find_bad_layer (DynoEngine *engine, GError **error);

G_END_DECLS
