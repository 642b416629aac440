/* SPDX-License-Identifier: MIT */
/* See plotmodule.h. */
#include "plotmodule.h"
#include "modulefile.h"
#include <gmodule.h>

#define MODULE_NAME "dyno-curves.so"

gpointer
dyno_plot_module_find (const char *symbol, GError **error)
{
  static GModule *module;
  gpointer found = NULL;

  if (!module)
    {
      g_autofree char *path = dyno_module_find_file ("plot", MODULE_NAME);
      if (path)
        module = g_module_open (path, G_MODULE_BIND_LAZY | G_MODULE_BIND_LOCAL);
    }
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
