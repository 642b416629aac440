/* SPDX-License-Identifier: MIT */
#include "datapage.h"
#include "datapanel.h"

struct _DynoDataPage {
  GtkBox parent_instance;
  GtkWidget *content, *panel;
};

G_DEFINE_FINAL_TYPE (DynoDataPage, dyno_data_page, GTK_TYPE_BOX)

void
dyno_data_page_set_setup (DynoDataPage *self, DynoSetup *setup)
{
  dyno_data_panel_set_setup (DYNO_DATA_PANEL (self->panel), setup);
}

static void
dyno_data_page_class_init (DynoDataPageClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  g_type_ensure (DYNO_TYPE_DATA_PANEL);
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/io/github/gpudyno/Dyno/ui/datapage.ui");
  gtk_widget_class_bind_template_child (widget_class, DynoDataPage, content);
  gtk_widget_class_bind_template_child (widget_class, DynoDataPage, panel);
}

static void
dyno_data_page_init (DynoDataPage *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
}
