/* SPDX-License-Identifier: MIT */
/* Writes a batch script for Slurm: one GPU, a CPU for each worker and one for the training thread,
 * and the time of the run where its rate was measured. */
#include "facts.h"
#include "formats.h"
#include <glib/gi18n.h>
#include <math.h>

#define TIME_MARGIN   1.5 /* margin for validation, saving, a busier machine */
#define LEAST_MINUTES 10.0
#define MOST_MINUTES  (366.0 * 24 * 60)

/* sbatch accepts a name of only these characters without quotes. */
static char *
job_name (const DynoExportContext *context)
{
  g_autofree char *model = g_strdup (context->job->model ? context->job->model : "training");

  g_strcanon (model, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "-", '_');
  return g_strdup_printf ("dyno-%.60s", model);
}

static void
append_time (GString *text, const DynoExportContext *context)
{
  double epochs = (double) context->job->settings.epochs, minutes;
  DynoExportFacts facts;
  guint whole;

  dyno_export_facts (context, &facts);
  if (!facts.n_train || !(context->samples_per_s > 0))
    {
      g_string_append (text, "# The rate or the size of the data set is not known: say the time "
                             "with sbatch --time=MINUTES.\n");
      return;
    }
  minutes = epochs * (double) facts.n_train / context->samples_per_s / 60 * TIME_MARGIN;
  whole = (guint) ceil (CLAMP (minutes, LEAST_MINUTES, MOST_MINUTES));
  g_string_append_printf (text, "#SBATCH --time=%u-%02u:%02u\n", whole / 1440, whole / 60 % 24,
                          whole % 60);
}

static char *
write_slurm (const DynoExportContext *context)
{
  g_autofree char *name = job_name (context), *program = dyno_export_describe_launch (context);
  GString *text = g_string_new ("#!/bin/bash\n");

  dyno_export_append_head (text, context);
  g_string_append_printf (text,
                          "#SBATCH --job-name=%s\n#SBATCH --nodes=1\n#SBATCH --ntasks=1\n"
                          "#SBATCH --gpus-per-node=1\n#SBATCH --cpus-per-task=%" G_GINT64_FORMAT
                          "\n#SBATCH --output=%%x-%%j.log\n",
                          name, context->job->settings.workers + 1);
  append_time (text, context);
  g_string_append_printf (text,
                          "#\n# sbatch FILE: %s.\n"
                          "# sbatch FILE SCRIPT [ARGUMENT...]: yours.  With --gpus-per-node=N each "
                          "GPU has a batch of this size.\n",
                          program);
  dyno_export_append_launch (text, &dyno_exporter_slurm, context, "\"${SLURM_GPUS_ON_NODE:-1}\"");
  return g_string_free (text, FALSE);
}

const DynoExporter dyno_exporter_slurm = {
  .id = "slurm",
  .title = N_ ("Slurm script"),
  .extension = "sh",
  .write = write_slurm,
  .file_name = "slurm.sh",
  .choose_rows = dyno_export_choose_launch_rows,
  .asks_data = TRUE,
};
