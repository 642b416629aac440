/* SPDX-License-Identifier: MIT */
/* Reasons, in words, why Start must wait and why a setting cannot be changed now. */
#pragma once
#include "setup.h"

G_BEGIN_DECLS

/* The parts of the next run that can prevent its start, in the order in which they are reported. */
typedef enum {
  DYNO_OBSTACLE_DEVICE,
  DYNO_OBSTACLE_DATA,
  DYNO_OBSTACLE_MODEL, /* including whether it suits the data */
  DYNO_OBSTACLE_MEMORY,
  DYNO_OBSTACLE_N_PARTS
} DynoObstaclePart;

/* Translated sentences; g_free; NULL: there is no obstacle.  _to_start returns the obstacle of the
 * first part that has one.  *passes: whether the obstacle disappears by itself. */
char *dyno_obstacle_of (DynoSetup *setup, DynoObstaclePart part, gboolean *passes);
char *dyno_obstacle_to_start (DynoSetup *setup);
char *dyno_obstacle_to_change (DynoSetup *setup, const DynoSettingInfo *info);

G_END_DECLS
