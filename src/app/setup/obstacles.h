/* SPDX-License-Identifier: MIT */
/* Reasons, in words, why Start must wait and why a setting cannot be changed now. */
#pragma once
#include "setup.h"

G_BEGIN_DECLS

/* The parts of a next run that can be in the way, in the order in which they are reported. */
typedef enum {
  DYNO_OBSTACLE_DEVICE,
  DYNO_OBSTACLE_DATA,
  DYNO_OBSTACLE_MODEL, /* and whether it suits the data */
  DYNO_OBSTACLE_MEMORY,
  DYNO_OBSTACLE_N_PARTS
} DynoObstaclePart;

/* All translated; g_free; NULL: nothing is in the way.  _to_start gives the first of the parts'.
 * *passes: whether it goes by itself. */
char *dyno_obstacle_of (DynoSetup *setup, DynoObstaclePart part, gboolean *passes);
char *dyno_obstacle_to_start (DynoSetup *setup);
char *dyno_obstacle_to_change (DynoSetup *setup, const DynoSettingInfo *info);

G_END_DECLS
