/* SPDX-License-Identifier: MIT */
/* Work in a thread that must not be cut off: writing files, changing the history. */
#pragma once
#include <gio/gio.h>

G_BEGIN_DECLS

/* As g_task_run_in_thread; the program goes on until the task's callback was called, also when its
 * last window is closed. */
void dyno_task_run_held (GTask *task, GTaskThreadFunc func);

G_END_DECLS
