/* SPDX-License-Identifier: MIT */
/* Work in a thread that is not to be cut off: files that are written, changes of the history. */
#pragma once
#include <gio/gio.h>

G_BEGIN_DECLS

/* As g_task_run_in_thread; the program stays until the task's callback was called, also when its
 * last window has gone. */
void dyno_task_run_held (GTask *task, GTaskThreadFunc func);

G_END_DECLS
