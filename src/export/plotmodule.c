/* SPDX-License-Identifier: MIT */
/* See plotmodule.h. */
#include "plotmodule.h"
#include <gmodule.h>

#define MODULE_NAME "dyno-curves.so"

static GModule *
open_at (const char *folder)
{
  g_autofree char *path = folder ? g_build_filename (folder, MODULE_NAME, NULL) : NULL;

  if (!path || !g_file_test (path, G_FILE_TEST_IS_REGULAR))
    return NULL;
  return g_module_open (path, G_MODULE_BIND_LAZY | G_MODULE_BIND_LOCAL);
}

/* src/plot of the build tree that this program runs in, or NULL. */
static char *
build_folder (void)
{
  g_autofree char *program = g_file_read_link ("/proc/self/exe", NULL);
  g_autofree char *folder = program ? g_path_get_dirname (program) : NULL;

  if (!folder || !(g_str_has_suffix (folder, "/src/cli") || g_str_has_suffix (folder, "/src/app")))
    return NULL;
  return g_build_filename (folder, "..", "plot", NULL);
}

static GModule *
find_module (void)
{
  const char *named = g_getenv ("DYNO_MODULE_DIR");
  g_autofree char *folder = NULL;
  GModule *module;

  if (named && *named)
    return open_at (named);
  folder = build_folder ();
  module = open_at (folder);
  return module ? module : open_at (DYNO_MODULE_DIR);
}

gpointer
dyno_plot_module_find (const char *symbol, GError **error)
{
  static GModule *module;
  gpointer found = NULL;

  if (!module)
    module = find_module ();
  if (!module || !g_module_symbol (module, symbol, &found) || !found)
    {
      const char *cause = g_module_error ();
      g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_NOENT, "%s",
                   cause ? cause : "the module " MODULE_NAME " is not installed");
      return NULL;
    }
  g_module_make_resident (module);
  return found;
}
