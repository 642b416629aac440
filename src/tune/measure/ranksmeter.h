/* SPDX-License-Identifier: MIT */
/* Measures one rank of several in one process: it takes the measurements of an inner meter, adds to
 * each step the part of the gradient exchange that does not overlap with computing
 * (ranksestimate.h), and counts a rank's share of the samples.  Rates are those of each rank.  The
 * cores of the other ranks of the host are not taken into account: the process should run on its
 * share of the cores. */
#pragma once
#include "meter.h"

G_BEGIN_DECLS

/* Takes ownership of inner, which measures one rank.  job->ranks is the number of ranks, on this
 * many hosts.  The meter cannot measure learning, which depends on the samples of all ranks. */
DynoMeter *dyno_ranks_meter_new (DynoMeter *inner, const DynoJob *job, DynoDataset *dataset,
                                 const DynoDeviceInfo *info, guint hosts);

G_END_DECLS
