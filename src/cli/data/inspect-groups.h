/* SPDX-License-Identifier: MIT */
/* inspect: the groups of samples (data.group_column), and how the parts of the data come out. */
#pragma once
#include "dataset.h"
#include "job.h"
#include "output.h"

G_BEGIN_DECLS

/* Print the groups, if the data set has some, and the parts by the job's settings, or why there can
 * be none.  divided: also of data without groups and without a split of their own. */
void dyno_inspect_groups_print (const DynoJob *job, const DynoDatasetInfo *info, gboolean divided);
void dyno_inspect_groups_print_json (DynoJson *json, const DynoJob *job,
                                     const DynoDatasetInfo *info, gboolean divided);

G_END_DECLS
