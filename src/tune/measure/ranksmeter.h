/* SPDX-License-Identifier: MIT */
/* One rank of several, measured by one process: what an inner meter measures, with the part of the
 * exchange of gradients that nothing hides added to each step (ranksestimate.h), and with a rank's
 * share of the samples.  Rates are those of each rank.  The cores that the others of its host take
 * are not its concern: the process should run on its share of them. */
#pragma once
#include "meter.h"

G_BEGIN_DECLS

/* Takes inner, which is of one rank.  job->ranks: how many there are, on so many hosts.  It cannot
 * tell what settings learn: that depends on the samples of all ranks. */
DynoMeter *dyno_ranks_meter_new (DynoMeter *inner, const DynoJob *job, DynoDataset *dataset,
                                 const DynoDeviceInfo *info, guint hosts);

G_END_DECLS
