/* SPDX-License-Identifier: MIT */
/* export-run FORMAT FOLDER FILE: exports a run, for tests that read the file in Python. */
#include "runexporter.h"

int
main (int argc, char **argv)
{
  const DynoRunExporter *exporter = argc == 4 ? dyno_run_exporter_find (argv[1]) : NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *written = NULL;

  if (!exporter)
    {
      g_printerr ("export-run FORMAT FOLDER FILE\n");
      return 2;
    }
  if (!dyno_run_export (exporter, argv[2], argv[3], FALSE, &written, &error))
    {
      g_printerr ("%s\n", error->message);
      return 1;
    }
  g_print ("%s\n", written);
  return 0;
}
