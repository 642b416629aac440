/* SPDX-License-Identifier: MIT */
#include "arrays.h"
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

void
arrays_write (const char *folder, const char *name, const char *type, const char *shape,
              gconstpointer bytes, gsize n)
{
  g_autofree char *path = g_build_filename (folder, name, NULL),
                  *text = g_strdup_printf ("{'descr': '%s', 'fortran_order': False, 'shape': %s, }",
                                           type, shape);
  char head[128];
  FILE *file;

  g_assert_cmpint (g_mkdir_with_parents (folder, 0700), ==, 0);
  g_assert_nonnull (file = g_fopen (path, "wb"));
  memset (head, ' ', sizeof head);
  memcpy (head, "\223NUMPY\1\0\166\0", 10);
  memcpy (head + 10, text, strlen (text));
  head[sizeof head - 1] = '\n';
  g_assert_cmpuint (fwrite (head, 1, sizeof head, file), ==, sizeof head);
  if (bytes)
    g_assert_cmpuint (fwrite (bytes, 1, n, file), ==, n);
  g_assert_cmpint (fflush (file), ==, 0);
  if (!bytes)
    g_assert_cmpint (ftruncate (fileno (file), (off_t) (sizeof head + n)), ==, 0);
  fclose (file);
}
