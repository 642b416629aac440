/* SPDX-License-Identifier: MIT */
/* A script that starts torchrun on the GPUs of one machine. */
#include "formats.h"
#include <glib/gi18n.h>

static char *
write_torchrun (const DynoExportContext *context)
{
  GString *text = g_string_new ("#!/bin/bash\n");

  dyno_export_append_head (text, context);
  g_string_append (text, "#\n# bash FILE: torchvision's references/classification/train.py with "
                         "these settings.\n"
                         "# bash FILE SCRIPT [ARGUMENT...]: yours.  GPUS=N takes N GPUs, each with "
                         "a batch of this size.\n");
  dyno_export_append_left_out (text, &dyno_exporter_torchrun, context);
  dyno_export_append_launch (text, context, "\"${GPUS:-1}\"");
  return g_string_free (text, FALSE);
}

const DynoExporter dyno_exporter_torchrun = {
  .id = "torchrun",
  .title = N_ ("torchrun script"),
  .extension = "sh",
  .write = write_torchrun,
  .file_name = "torchrun.sh",
  .rows = dyno_export_launch_rows,
  .asks_data = TRUE,
};
