/* SPDX-License-Identifier: MIT */
/* A file in memory is opened as a data set of the format that its content has, and its first
 * samples are decoded; no descriptor stays open, whatever happens. */
#include "dataset.h"
#include <sys/mman.h>
#include <unistd.h>

#define SIDE 8

int LLVMFuzzerTestOneInput (const guint8 *data, size_t size);

static void
open_and_decode (const guint8 *data, size_t size)
{
  static const DynoDatasetParams params = { .one_class = TRUE };
  int fd = memfd_create ("data", MFD_CLOEXEC);
  g_autofree char *path = g_strdup_printf ("/proc/self/fd/%d", fd);
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoDataset) dataset = NULL;
  static float input[SIDE * SIDE * 4], target[256];

  if (write (fd, data, size) == (gssize) size)
    {
      dataset = dyno_dataset_open (path, &params, NULL, NULL, NULL, &error);
      g_assert_true ((dataset != NULL) != (error != NULL));
    }
  if (dataset && dyno_dataset_get_info (dataset)->resizable
      && dyno_schema_count_values (&dyno_dataset_get_info (dataset)->schema)
             <= G_N_ELEMENTS (target))
    for (guint64 i = 0; i < MIN (dyno_dataset_get_info (dataset)->n_samples, 4); i++)
      dyno_dataset_decode (dataset, i, SIDE, SIDE, (gpointer[]){ input, target }, scratch, NULL);
  close (fd);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, size_t size)
{
  int before = memfd_create ("before", MFD_CLOEXEC), after;

  close (before);
  open_and_decode (data, size);
  after = memfd_create ("after", MFD_CLOEXEC);
  close (after);
  g_assert_cmpint (before, ==, after);
  return 0;
}
