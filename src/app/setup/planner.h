/* SPDX-License-Identifier: MIT */
/* Plans jobs in a thread, for a window that requests a plan after each change.  Planning begins
 * after a short delay, so that typing causes one plan instead of five; the result of an older
 * request is dropped.  Main thread only; the callback is called on it, and never after _free. */
#pragma once
#include "estimate.h"

G_BEGIN_DECLS

typedef struct _DynoPlanner DynoPlanner;

/* estimate: not NULL where there is a plan.  plan NULL: error says why; with error NULL there was
 * no data set or device to plan with. */
typedef void (*DynoPlannerAnswer) (const DynoJob *job, const DynoJobPlan *plan,
                                   const DynoRunEstimate *estimate, const GError *error,
                                   gpointer data);

DynoPlanner *dyno_planner_new (DynoPlannerAnswer answer, gpointer data);
void dyno_planner_free (DynoPlanner *planner);

/* Plans what each of n_devices such devices needs, with a process each; 1: a run in one process.
 * job and device are copied, the data set is referenced; data set and device may be NULL. */
void dyno_planner_ask (DynoPlanner *planner, const DynoJob *job, DynoDataset *dataset,
                       const DynoDeviceInfo *device, guint n_devices);

G_END_DECLS
