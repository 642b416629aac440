/* SPDX-License-Identifier: MIT */
/* dyno: the window. */
#include "application.h"
#include "asyncmeter.h"
#include "config.h"
#include "file.h"
#include "log.h"
#include <glib/gi18n.h>
#include <locale.h>
#include <unistd.h>

int
main (int argc, char **argv)
{
  setlocale (LC_ALL, "");
  bindtextdomain ("dyno", DYNO_LOCALEDIR);
  bind_textdomain_codeset ("dyno", "UTF-8");
  textdomain ("dyno");
  dyno_file_ignore_size_signal ();
  dyno_log_init ();
  g_set_application_name (_ ("Dyno"));
  g_set_prgname (DYNO_APP_ID);
  g_autoptr (GApplication) application = dyno_application_new ();
  int code = g_application_run (application, argc, argv);
  if (dyno_async_meter_count_left () > 0)
    _exit (code); /* an abandoned measurement is still in the driver */
  return code;
}
