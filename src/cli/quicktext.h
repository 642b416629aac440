/* SPDX-License-Identifier: MIT */
/* The measurements of dynoctl quick as text and JSON. */
#pragma once
#include "quick.h"

G_BEGIN_DECLS

void dyno_quick_print (const DynoQuick *quick, gboolean json);

G_END_DECLS
