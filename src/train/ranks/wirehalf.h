/* SPDX-License-Identifier: MIT */
/* fp32 to fp16 and back in one place of memory, for what travels in fp16: n halves lie where the
 * first n / 2 floats do.  Private to the train layer. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

void dyno_wire_to_half (float *values, gsize n);
void dyno_wire_from_half (float *values, gsize n);

G_END_DECLS
