/* SPDX-License-Identifier: MIT */
/* IDX files, plain and gzip, through a file in memory. */
#include "idxfile.h"
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput (const guint8 *data, size_t size);

int
LLVMFuzzerTestOneInput (const guint8 *data, size_t size)
{
  int fd = memfd_create ("idx", MFD_CLOEXEC);
  g_autofree char *path = g_strdup_printf ("/proc/self/fd/%d", fd);
  g_autofree guint8 *content = NULL;
  g_autoptr (GError) error = NULL;
  DynoIdxHeader header;

  if (write (fd, data, size) == (gssize) size)
    {
      content = dyno_idx_read (path, &header, NULL, &error);
      g_assert_true ((content != NULL) != (error != NULL));
    }
  close (fd);
  return 0;
}
