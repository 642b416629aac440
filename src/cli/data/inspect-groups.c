/* SPDX-License-Identifier: MIT */
#include "inspect-groups.h"
#include "groups.h"
#include "parts.h"
#include "text.h"

static void
find_sizes (const DynoGroups *groups, guint32 *smallest, guint32 *largest)
{
  *smallest = *largest = dyno_groups_get_size (groups, 0);
  for (guint32 g = 1; g < dyno_groups_get_count (groups); g++)
    {
      *smallest = MIN (*smallest, dyno_groups_get_size (groups, g));
      *largest = MAX (*largest, dyno_groups_get_size (groups, g));
    }
}

/* "90 samples of 18 groups"; n_groups 0: without the groups. */
static char *
describe_part (guint64 n, guint32 n_groups)
{
  if (n_groups == 0)
    return g_strdup_printf ("%" G_GUINT64_FORMAT " %s", n, dyno_plural (n, "sample", "samples"));
  return g_strdup_printf ("%" G_GUINT64_FORMAT " %s of %u %s", n,
                          dyno_plural (n, "sample", "samples"), n_groups,
                          dyno_plural (n_groups, "group", "groups"));
}

static void
print_parts (const DynoJob *job, const DynoDatasetInfo *info)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *train = NULL, *validation = NULL, *test = NULL;
  DynoPartCounts counts;

  if (!dyno_job_check_parts (job, info, &error))
    {
      dyno_out_line ("parts       none: %s", error->message);
      return;
    }
  dyno_job_count_parts (job, info, &counts);
  train = describe_part (counts.n_train, counts.groups_train);
  validation = describe_part (counts.n_validation, counts.groups_validation);
  test = describe_part (counts.n_test, counts.groups_test);
  dyno_out_line ("parts       %s to train, %s to validate%s%s%s", train, validation,
                 counts.n_test > 0 ? ", " : "", counts.n_test > 0 ? test : "",
                 counts.n_test > 0 ? " to test" : "");
}

void
dyno_inspect_groups_print (const DynoJob *job, const DynoDatasetInfo *info, gboolean divided)
{
  g_autofree char *sizes = NULL;
  guint32 smallest, largest;

  if (info->groups)
    {
      find_sizes (info->groups, &smallest, &largest);
      sizes = smallest == largest ? g_strdup_printf ("%u", smallest)
                                  : g_strdup_printf ("%u to %u", smallest, largest);
      dyno_out_line ("groups      %u by the column “%s”, of %s %s",
                     dyno_groups_get_count (info->groups), info->group_column, sizes,
                     dyno_plural (largest, "sample", "samples"));
    }
  if ((info->groups || divided || info->has_split) && !info->schema.generated)
    print_parts (job, info);
}

void
dyno_inspect_groups_print_json (DynoJson *json, const DynoJob *job, const DynoDatasetInfo *info,
                                gboolean divided)
{
  g_autoptr (GError) error = NULL;
  DynoPartCounts counts;
  guint32 smallest, largest;

  if (info->groups)
    {
      find_sizes (info->groups, &smallest, &largest);
      dyno_json_begin_object (json, "groups");
      dyno_json_string (json, "column", info->group_column);
      dyno_json_uint (json, "groups", dyno_groups_get_count (info->groups));
      dyno_json_uint (json, "smallest", smallest);
      dyno_json_uint (json, "largest", largest);
      dyno_json_end_object (json);
    }
  if ((!info->groups && !divided && !info->has_split) || info->schema.generated)
    return;
  dyno_json_begin_object (json, "parts");
  if (dyno_job_check_parts (job, info, &error))
    {
      dyno_job_count_parts (job, info, &counts);
      dyno_json_uint (json, "n_train", counts.n_train);
      dyno_json_uint (json, "n_validation", counts.n_validation);
      dyno_json_uint (json, "n_test", counts.n_test);
      dyno_json_uint (json, "groups_train", counts.groups_train);
      dyno_json_uint (json, "groups_validation", counts.groups_validation);
      dyno_json_uint (json, "groups_test", counts.groups_test);
    }
  else
    dyno_json_string (json, "error", error->message);
  dyno_json_end_object (json);
}
