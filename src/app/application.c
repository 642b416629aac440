/* SPDX-License-Identifier: MIT */
/* The application.  It works without a session bus (then each start is an application of its own)
 * and without installed schemas. */
#include "application.h"
#include "config.h"
#include "file.h"
#include "state.h"
#include "window.h"
#include <glib-unix.h>
#include <glib/gi18n.h>
#include <handy.h>
#include <stdlib.h>
#include <unistd.h>
#ifdef GDK_WINDOWING_X11
#include <gdk/gdkx.h>
#endif

struct _DynoApplication {
  GtkApplication parent_instance;
  DynoState *state;
  gboolean theme_set; /* the program has already set the theme once */
};

G_DEFINE_FINAL_TYPE (DynoApplication, dyno_application, GTK_TYPE_APPLICATION)

typedef struct {
  const char *action;
  const char *accels[4];
} Shortcut;

static const Shortcut shortcuts[] = {
  { "win.start", { "F5", "<Primary>r" } },
  { "win.add-to-queue", { "<Primary><Shift>r" } },
  { "win.show-jobs", { "<Primary>j" } },
  { "win.stop", { "<Primary>period" } },
  { "win.pause", { "<Primary>p", "Pause" } },
  { "win.tune", { "<Primary>t" } },
  { "win.use-best", { "<Primary>u" } },
  { "win.open-folder", { "<Primary>d" } },
  { "win.open-file", { "<Primary><Shift>d" } },
  { "win.open-settings", { "<Primary>o" } },
  { "win.export-settings", { "<Primary>s" } },
  { "win.export-curves::png", { "<Primary>e" } },
  { "win.visit::home", { "<Primary>1", "<Alt>1" } },
  { "win.visit::data", { "<Primary>2", "<Alt>2" } },
  { "win.visit::train", { "<Primary>3", "<Alt>3" } },
  { "win.visit::tune", { "<Primary>4", "<Alt>4" } },
  { "win.visit::diagnose", { "<Primary>5", "<Alt>5" } },
  { "win.visit::runs", { "<Primary>6", "<Alt>6" } },
  { "win.visit::device", { "<Primary>7", "<Alt>7" } },
  { "win.show-settings", { "F9" } },
  { "win.preferences", { "<Primary>comma" } },
  { "win.undo", { "<Primary>z" } },
  { "win.redo", { "<Primary><Shift>z", "<Primary>y" } },
  { "win.find-setting", { "<Primary>f" } },
  { "win.plot-log", { "<Primary>l" } },
  { "win.plot-hold", { "<Primary>h" } },
  { "win.help", { "F1" } },
  { "win.show-help-overlay", { "<Primary>question", "<Primary>F1" } },
  { "window.close", { "<Primary>w" } },
  { "app.quit", { "<Primary>q" } },
};

static void
about_activated (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  gtk_show_about_dialog (gtk_application_get_active_window (data), "program-name", _ ("Dyno"),
                         "version", DYNO_VERSION, "logo-icon-name", DYNO_APP_ID, "comments",
                         _ ("Puts a GPU on the dynamometer: trains neural nets with Vulkan"),
                         "license-type", GTK_LICENSE_MIT_X11, "translator-credits",
                         _ ("translator-credits"), NULL);
}

/* Quitting closes the window as its button does, so that a run in progress asks first. */
static void
quit_activated (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  g_autoptr (GList) windows = g_list_copy (gtk_application_get_windows (data));
  for (GList *l = windows; l; l = l->next)
    gtk_window_close (l->data);
}

/* A logout or Ctrl-C in a terminal: the run is saved, then the window goes. */
static gboolean
end_by_signal (gpointer data)
{
  g_autoptr (GList) windows = g_list_copy (gtk_application_get_windows (data));
  for (GList *l = windows; l; l = l->next)
    {
      if (DYNO_IS_WINDOW (l->data))
        dyno_window_stop_and_close (l->data);
    }
  return G_SOURCE_CONTINUE;
}

static void show_window (DynoApplication *self, const char *location);

/* The action of a notification. */
static void
show_page_activated (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  show_window (data, NULL);
  g_action_group_activate_action (
      G_ACTION_GROUP (gtk_application_get_active_window (GTK_APPLICATION (data))), "page",
      parameter);
}

/* The actions of the menu entry, which may start the program. */
static void
window_action_activated (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  show_window (data, NULL);
  GtkWindow *window = gtk_application_get_active_window (GTK_APPLICATION (data));
  if (DYNO_IS_WINDOW (window))
    dyno_window_activate_action (DYNO_WINDOW (window), g_action_get_name (G_ACTION (action)));
}

static const GActionEntry entries[] = {
  { "about", about_activated },
  { "show-page", show_page_activated, "s" },
  { "quick-test", window_action_activated },
  { "tune", window_action_activated },
  { "quit", quit_activated },
};

static void
apply_theme (DynoApplication *self)
{
  GtkSettings *settings = gtk_settings_get_default ();
  g_autofree char *theme =
      self->state ? g_settings_get_string (self->state, "theme") : g_strdup ("follow");
  /* Setting the property reloads the theme, so it is not set at the start where this is not
   * needed. */
  if (g_str_equal (theme, "follow") && !self->theme_set)
    return;
  self->theme_set = TRUE;
  if (g_str_equal (theme, "follow"))
    gtk_settings_reset_property (settings, "gtk-application-prefer-dark-theme");
  else
    g_object_set (settings, "gtk-application-prefer-dark-theme", g_str_equal (theme, "dark"), NULL);
}

static void
dyno_application_startup (GApplication *application)
{
  DynoApplication *self = DYNO_APPLICATION (application);
  G_APPLICATION_CLASS (dyno_application_parent_class)->startup (application);
  hdy_init ();
  gtk_window_set_default_icon_name (DYNO_APP_ID);
  g_action_map_add_action_entries (G_ACTION_MAP (self), entries, G_N_ELEMENTS (entries), self);
  for (gsize i = 0; i < G_N_ELEMENTS (shortcuts); i++)
    gtk_application_set_accels_for_action (GTK_APPLICATION (self), shortcuts[i].action,
                                           shortcuts[i].accels);

  g_autoptr (GtkCssProvider) css = gtk_css_provider_new ();
  gtk_css_provider_load_from_resource (css, "/io/github/gpudyno/Dyno/style.css");
  gtk_style_context_add_provider_for_screen (gdk_screen_get_default (), GTK_STYLE_PROVIDER (css),
                                             GTK_STYLE_PROVIDER_PRIORITY_APPLICATION);
  g_unix_signal_add (SIGTERM, end_by_signal, self);
  g_unix_signal_add (SIGINT, end_by_signal, self);
  self->state = dyno_state_new ();
  if (self->state)
    {
      g_autoptr (GAction) theme = g_settings_create_action (self->state, "theme");
      g_action_map_add_action (G_ACTION_MAP (self), theme);
      g_signal_connect_object (self->state, "changed::theme", G_CALLBACK (apply_theme), self,
                               G_CONNECT_SWAPPED);
    }
  apply_theme (self);
}

static void
show_window (DynoApplication *self, const char *location)
{
  GtkWindow *window = gtk_application_get_active_window (GTK_APPLICATION (self));
  if (!window)
    window = GTK_WINDOW (dyno_window_new (GTK_APPLICATION (self), self->state, location));
  else if (location && DYNO_IS_WINDOW (window))
    dyno_window_open (DYNO_WINDOW (window), location);
  gtk_window_present (window);
}

static void
dyno_application_activate (GApplication *application)
{
  show_window (DYNO_APPLICATION (application), NULL);
}

static void
dyno_application_open (GApplication *application, GFile **files, int n_files, const char *hint)
{
  g_autofree char *path = n_files > 0 ? g_file_get_path (files[0]) : NULL;
  if (!path && n_files > 0)
    path = g_file_get_uri (files[0]); /* builtin:shapes */
  show_window (DYNO_APPLICATION (application), path);
}

#ifdef GDK_WINDOWING_X11
/* The connection to the X server is lost: GTK cannot be used any more, and would exit here without
 * a message. */
static int
leave_without_server (Display *display)
{
  g_printerr (
      "%s\n",
      _ ("dyno: the X server has closed the connection, and the window with it; the last "
         "checkpoint of a run that was in progress is kept: dynoctl train --resume FOLDER"));
  _exit (EXIT_FAILURE);
}
#endif

/* Returns -1 to go on. */
static int
dyno_application_handle_local_options (GApplication *application, GVariantDict *options)
{
  g_autoptr (GError) error = NULL;
  const char *folder;

  if (g_variant_dict_lookup (options, "state-dir", "^&ay", &folder)
      && !dyno_state_dir_set (folder, &error))
    {
      g_printerr ("dyno: --state-dir: %s\n", error->message);
      return EXIT_FAILURE;
    }
  if (gtk_init_check (NULL, NULL))
    {
#ifdef GDK_WINDOWING_X11
      if (GDK_IS_X11_DISPLAY (gdk_display_get_default ()))
        XSetIOErrorHandler (leave_without_server);
#endif
      return -1;
    }
  g_printerr ("%s\n", _ ("dyno: there is no display to open a window on (DISPLAY, "
                         "WAYLAND_DISPLAY); dynoctl does the same without one"));
  return EXIT_FAILURE;
}

static void
dyno_application_dispose (GObject *object)
{
  g_clear_object (&DYNO_APPLICATION (object)->state);
  G_OBJECT_CLASS (dyno_application_parent_class)->dispose (object);
}

GApplication *
dyno_application_new (void)
{
  return g_object_new (DYNO_TYPE_APPLICATION, "application-id", DYNO_APP_ID, "flags",
                       G_APPLICATION_HANDLES_OPEN, "resource-base-path", "/io/github/gpudyno/Dyno",
                       NULL);
}

static void
dyno_application_class_init (DynoApplicationClass *class)
{
  G_OBJECT_CLASS (class)->dispose = dyno_application_dispose;
  G_APPLICATION_CLASS (class)->startup = dyno_application_startup;
  G_APPLICATION_CLASS (class)->activate = dyno_application_activate;
  G_APPLICATION_CLASS (class)->handle_local_options = dyno_application_handle_local_options;
  G_APPLICATION_CLASS (class)->open = dyno_application_open;
}

static void
dyno_application_init (DynoApplication *self)
{
  g_application_add_main_option (G_APPLICATION (self), "state-dir", 0, 0, G_OPTION_ARG_FILENAME,
                                 _ ("Keep settings, runs, presets and caches in this folder"),
                                 _ ("DIR"));
}
