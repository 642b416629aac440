/* SPDX-License-Identifier: MIT */
/* Writes a script that starts torchrun on the GPUs of one machine. */
#include "formats.h"
#include <glib/gi18n.h>

static char *
write_torchrun (const DynoExportContext *context)
{
  g_autofree char *program = dyno_export_describe_launch (context);
  GString *text = g_string_new ("#!/bin/bash\n");

  dyno_export_append_head (text, context);
  g_string_append_printf (
      text,
      "#\n# bash FILE: %s.\n"
      "# bash FILE SCRIPT [ARGUMENT...]: yours.  GPUS=N takes N GPUs, each with "
      "a batch of this size.\n",
      program);
  dyno_export_append_launch (text, &dyno_exporter_torchrun, context, "\"${GPUS:-1}\"");
  return g_string_free (text, FALSE);
}

const DynoExporter dyno_exporter_torchrun = {
  .id = "torchrun",
  .title = N_ ("torchrun script"),
  .extension = "sh",
  .write = write_torchrun,
  .file_name = "torchrun.sh",
  .choose_rows = dyno_export_choose_launch_rows,
  .asks_data = TRUE,
};
