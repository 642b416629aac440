/* SPDX-License-Identifier: MIT */
#include "findingrow.h"
#include "row.h"
#include "settingtitles.h"
#include <glib/gi18n.h>
#include <handy.h>

static const char *
name_level (DynoFindingLevel level)
{
  switch (level)
    {
    case DYNO_FINDING_GOOD:
      return _ ("Good");
    case DYNO_FINDING_NOTE:
      return _ ("Note");
    case DYNO_FINDING_WARNING:
      return _ ("Warning");
    case DYNO_FINDING_PROBLEM:
    default:
      return _ ("Problem");
    }
}

GtkWidget *
dyno_finding_row_new (const DynoFinding *finding)
{
  static const char *const icons[] = { "object-select-symbolic", "dialog-information-symbolic",
                                       "dialog-warning-symbolic", "dialog-error-symbolic" };
  static const char *const classes[] = { "sign-good", "sign-note", "sign-warning", "bad-text" };
  GtkWidget *row = hdy_action_row_new (),
            *icon = gtk_image_new_from_icon_name (icons[finding->level], GTK_ICON_SIZE_MENU);
  g_autofree char *text = dyno_setting_titles_put (finding->text),
                  *action = dyno_setting_titles_put (finding->action);
  hdy_preferences_row_set_title (HDY_PREFERENCES_ROW (row), text);
  hdy_action_row_set_subtitle (HDY_ACTION_ROW (row), action);
  hdy_action_row_set_title_lines (HDY_ACTION_ROW (row), 0);
  hdy_action_row_set_subtitle_lines (HDY_ACTION_ROW (row), 0);
  gtk_list_box_row_set_activatable (GTK_LIST_BOX_ROW (row), FALSE);
  gtk_widget_set_tooltip_text (icon, name_level (finding->level));
  dyno_widget_set_accessible_name (icon, name_level (finding->level));
  dyno_widget_add_class (icon, classes[finding->level], TRUE);
  hdy_action_row_add_prefix (HDY_ACTION_ROW (row), icon);
  /* Screen readers do not see the labels of a row as its children. */
  g_autofree char *spoken = g_strdup_printf ("%s: %s", name_level (finding->level), text);
  dyno_widget_set_accessible_name (row, spoken);
  if (action)
    atk_object_set_description (gtk_widget_get_accessible (row), action);
  gtk_widget_show_all (row);
  return row;
}
