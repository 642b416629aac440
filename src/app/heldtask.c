/* SPDX-License-Identifier: MIT */
#include "heldtask.h"

void
dyno_task_run_held (GTask *task, GTaskThreadFunc func)
{
  GApplication *application = g_application_get_default ();
  if (application)
    {
      g_application_hold (application);
      /* The property is notified after the callback, in the main loop. */
      g_signal_connect_object (task, "notify::completed", G_CALLBACK (g_application_release),
                               application, G_CONNECT_SWAPPED);
    }
  g_task_run_in_thread (task, func);
}
