/* SPDX-License-Identifier: MIT */
/* NumPy archives: a file in memory is opened as a data set, and its first samples are decoded. */
#include "dataset-class.h"
#include <sys/mman.h>
#include <unistd.h>

#define MOST 65536

int LLVMFuzzerTestOneInput (const guint8 *data, size_t size);

static void
decode_some (DynoDataset *dataset)
{
  static guint8 input[MOST], target[MOST];
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  const DynoDatasetInfo *info = dyno_dataset_get_info (dataset);
  DynoBatchSchema schema;
  DynoBatchLayout layout;

  dyno_dataset_get_schema (info, info->max_width, info->max_height, &schema);
  if (!dyno_batch_layout_init (&layout, &schema, 1, NULL) || layout.sample_bytes[0] > MOST
      || layout.sample_bytes[1] > MOST)
    return;
  for (guint64 i = 0; i < MIN (info->n_samples, 4); i++)
    dyno_dataset_decode (dataset, i, info->max_width, info->max_height,
                         (gpointer[]){ input, target }, scratch, NULL);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, size_t size)
{
  static const DynoDatasetParams params = { .one_class = TRUE };
  int fd = memfd_create ("npz", MFD_CLOEXEC);
  g_autofree char *path = g_strdup_printf ("/proc/self/fd/%d", fd);
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoDataset) dataset = NULL;

  if (write (fd, data, size) == (gssize) size)
    {
      dataset = dyno_dataset_open (path, &params, NULL, NULL, NULL, &error);
      g_assert_true ((dataset != NULL) != (error != NULL));
    }
  if (dataset)
    decode_some (dataset);
  close (fd);
  return 0;
}
