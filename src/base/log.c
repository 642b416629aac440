/* SPDX-License-Identifier: MIT */
/* GLib log writer: one line per message, level first; a file beside standard error when asked. */
#include "log.h"
#include "text.h"
#include <stdio.h>
#include <string.h>

#define MAX_HELD 65536 /* bytes */

static GMutex lock;
static FILE *log_file;
static GString *held; /* lines for a file that is not named yet; NULL: none are kept */
static GLogLevelFlags shown =
    G_LOG_LEVEL_ERROR | G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_WARNING | G_LOG_LEVEL_MESSAGE;

static void (*no_memory) (const char *message);

static const char *
level_name (GLogLevelFlags level)
{
  if (level & G_LOG_LEVEL_ERROR)
    return "error";
  if (level & G_LOG_LEVEL_CRITICAL)
    return "critical";
  if (level & G_LOG_LEVEL_WARNING)
    return "warning";
  if (level & G_LOG_LEVEL_MESSAGE)
    return "note";
  return level & G_LOG_LEVEL_INFO ? "info" : "debug";
}

static GLogWriterOutput
write_line (GLogLevelFlags level, const GLogField *fields, gsize n_fields, gpointer data)
{
  const char *message = "", *domain = "";
  g_autofree char *text = NULL;

  for (gsize i = 0; i < n_fields; i++)
    {
      if (strcmp (fields[i].key, "MESSAGE") == 0)
        message = fields[i].value;
      else if (strcmp (fields[i].key, "GLIB_DOMAIN") == 0)
        domain = fields[i].value;
    }
  if (no_memory && (level & G_LOG_LEVEL_ERROR) && strcmp (domain, "GLib") == 0
      && strstr (message, "failed to allocate"))
    no_memory (message);
  if (!g_str_has_prefix (domain, "dyno") && !(level & shown & ~G_LOG_LEVEL_MESSAGE))
    return G_LOG_WRITER_HANDLED;

  text = dyno_text_visible (message);
  g_mutex_lock (&lock);
  if (level & shown)
    fprintf (stderr, "%s: %s: %s\n", domain, level_name (level), text);
  if ((log_file || held) && !(level & G_LOG_LEVEL_DEBUG))
    {
      g_autoptr (GDateTime) now = g_date_time_new_now_local ();
      g_autofree char *stamp = g_date_time_format (now, "%F %T");
      g_autofree char *line =
          g_strdup_printf ("%s %s %s: %s\n", stamp, level_name (level), domain, text);

      if (!log_file && held->len < MAX_HELD)
        g_string_append (held, line);
      if (log_file)
        {
          fputs (line, log_file);
          fflush (log_file);
        }
    }
  g_mutex_unlock (&lock);
  return G_LOG_WRITER_HANDLED;
}

void
dyno_log_init (void)
{
  const char *wanted = g_getenv ("DYNO_LOG");

  if (g_strcmp0 (wanted, "warning") == 0)
    shown &= ~(guint) G_LOG_LEVEL_MESSAGE;
  if (g_strcmp0 (wanted, "info") == 0 || g_strcmp0 (wanted, "debug") == 0)
    shown |= G_LOG_LEVEL_INFO;
  if (g_strcmp0 (wanted, "debug") == 0)
    shown |= G_LOG_LEVEL_DEBUG;
  g_log_set_writer_func (write_line, NULL, NULL);
}

void
dyno_log_set_no_memory (void (*func) (const char *message))
{
  no_memory = func;
}

void
dyno_log_leave_notes_out (void)
{
  if (!g_getenv ("DYNO_LOG"))
    shown &= ~G_LOG_LEVEL_MESSAGE;
}

void
dyno_log_set_file (const char *path)
{
  g_mutex_lock (&lock);
  g_clear_pointer (&log_file, fclose);
  if (path)
    log_file = fopen (path, "ae");
  if (log_file && held)
    {
      fputs (held->str, log_file);
      fflush (log_file);
    }
  if (held)
    g_string_free (g_steal_pointer (&held), TRUE);
  g_mutex_unlock (&lock);
}

void
dyno_log_hold (void)
{
  g_mutex_lock (&lock);
  g_clear_pointer (&log_file, fclose);
  if (held)
    g_string_truncate (held, 0);
  else
    held = g_string_new (NULL);
  g_mutex_unlock (&lock);
}
