/* SPDX-License-Identifier: MIT */
/* Converts fp32 to fp16 and back in place, for values that are sent in fp16: n halves occupy the
 * memory of the first n / 2 floats.  Private to the train layer. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

void dyno_wire_to_half (float *values, gsize n);
void dyno_wire_from_half (float *values, gsize n);

G_END_DECLS
