/* SPDX-License-Identifier: MIT */
/* The control of one setting, made from its row in the table: switch, spin button, combo or
 * entry. */
#pragma once
#include "settings.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Called when the user changed it; value as dyno_settings_set_number takes it. */
typedef void (*DynoSettingChanged) (const DynoSettingInfo *info, double value, gpointer data);

GtkWidget *dyno_setting_control_new (const DynoSettingInfo *info, DynoSettingChanged changed,
                                     gpointer data);
/* A value as the control shows it.  g_free. */
char *dyno_setting_control_describe (const DynoSettingInfo *info, double value);
/* Shows a value; does not call back. */
void dyno_setting_control_set (GtkWidget *control, double value);

G_END_DECLS
