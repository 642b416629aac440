/* SPDX-License-Identifier: MIT */
/* Reasons, in words, why Start must wait and why a setting cannot be changed now. */
#pragma once
#include "setup.h"

G_BEGIN_DECLS

/* Both translated; g_free; NULL: nothing is in the way. */
char *dyno_obstacle_to_start (DynoSetup *setup);
char *dyno_obstacle_to_change (DynoSetup *setup, const DynoSettingInfo *info);

G_END_DECLS
