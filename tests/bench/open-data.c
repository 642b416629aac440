/* SPDX-License-Identifier: MIT */
/* open-data DATA [TIMES]: prints the seconds of each opening of a data set, its number of samples,
 * and the peak memory of the program.  An image folder has its index in $XDG_CACHE_HOME after the
 * first opening. */
#include "dataset.h"
#include <inttypes.h>
#include <stdlib.h>
#include <sys/resource.h>

int
main (int argc, char **argv)
{
  if (argc < 2)
    {
      g_printerr ("Usage: %s DATA [TIMES]\n", argv[0]);
      return 2;
    }
  for (int i = 0, times = argc > 2 ? atoi (argv[2]) : 2; i < times; i++)
    {
      g_autoptr (GError) error = NULL;
      gint64 start = g_get_monotonic_time ();
      g_autoptr (DynoDataset) dataset = dyno_dataset_open (argv[1], NULL, NULL, NULL, NULL, &error);
      double seconds = (double) (g_get_monotonic_time () - start) / G_USEC_PER_SEC;
      struct rusage usage;

      if (!dataset)
        {
          g_printerr ("%s\n", error->message);
          return 1;
        }
      getrusage (RUSAGE_SELF, &usage);
      g_print ("%7.3f s  %" PRIu64 " samples  at most %ld MiB\n", seconds,
               dyno_dataset_get_info (dataset)->n_samples, usage.ru_maxrss / 1024);
    }
  return 0;
}
