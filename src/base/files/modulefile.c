/* SPDX-License-Identifier: MIT */
/* See modulefile.h. */
#include "modulefile.h"

/* src/<layer> of the build tree that this program runs in, or NULL. */
static char *
build_folder (const char *layer)
{
  g_autofree char *program = g_file_read_link ("/proc/self/exe", NULL);
  g_autofree char *folder = program ? g_path_get_dirname (program) : NULL;

  if (!folder || !(g_str_has_suffix (folder, "/src/cli") || g_str_has_suffix (folder, "/src/app")))
    return NULL;
  return g_build_filename (folder, "..", layer, NULL);
}

char *
dyno_module_find_file (const char *layer, const char *name)
{
  const char *named = g_getenv ("DYNO_MODULE_DIR");
  g_autofree char *built = build_folder (layer);
  const char *folders[] = { named && *named ? named : built,
                            named && *named ? NULL : DYNO_MODULE_DIR };

  for (guint i = 0; i < G_N_ELEMENTS (folders); i++)
    {
      g_autofree char *path = folders[i] ? g_build_filename (folders[i], name, NULL) : NULL;
      if (path && g_file_test (path, G_FILE_TEST_IS_REGULAR))
        return g_steal_pointer (&path);
    }
  return NULL;
}
