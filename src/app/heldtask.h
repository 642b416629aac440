/* SPDX-License-Identifier: MIT */
/* Work in a thread that must not be cut off: writing files, changing the history. */
#pragma once
#include <gio/gio.h>

G_BEGIN_DECLS

/* Like g_task_run_in_thread, but the program does not exit before the task's callback was called,
 * even when its last window is closed. */
void dyno_task_run_held (GTask *task, GTaskThreadFunc func);

G_END_DECLS
