/* SPDX-License-Identifier: MIT */
/* Text output, always in UTF-8, whatever the locale is.  SIGPIPE is ignored (signals.c), and the
 * program continues after a failed write. */
#include "output.h"
#include "amount.h"
#include "text.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int problem;      /* errno of the first write that failed */
static char *last_error; /* the last line on standard error */
static gboolean error_printed, muted;

void
dyno_out_init (void)
{
  /* The next file that is opened would get the descriptor of a closed stream, and the output would
   * be written into a file of the run. */
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
    if (fcntl (fd, F_GETFD) < 0 && open ("/dev/null", O_RDONLY) < 0)
      return;
}

static void
put (const char *text)
{
  if (!muted && fputs (text, stdout) == EOF && problem == 0)
    problem = errno;
}

void
dyno_out_flush (void)
{
  if (fflush (stdout) == EOF && problem == 0)
    problem = errno;
}

int
dyno_out_get_problem (void)
{
  dyno_out_flush ();
  return problem == EPIPE ? 0 : problem;
}

void
dyno_out_mute (gboolean mute)
{
  muted = mute;
}

const char *
dyno_out_get_last_error (void)
{
  return last_error;
}

gboolean
dyno_out_has_reader (void)
{
  return problem != EPIPE;
}

void
dyno_out_text (const char *text)
{
  put (text);
  dyno_out_flush ();
}

void
dyno_out_line (const char *format, ...)
{
  va_list arguments;
  g_autofree char *text = NULL, *shown = NULL;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  shown = dyno_text_visible (text);
  put (shown);
  put ("\n");
}

static G_GNUC_PRINTF (1, 0) char *print_error_text (const char *format, va_list arguments)
{
  char *text = g_strdup_vprintf (format, arguments);
  g_autofree char *shown = dyno_text_visible (text);

  dyno_out_flush ();
  if (!muted)
    (void) fprintf (stderr, "%s\n", shown);
  return text;
}

void
dyno_error_line (const char *format, ...)
{
  va_list arguments;

  g_free (last_error);
  va_start (arguments, format);
  last_error = print_error_text (format, arguments);
  va_end (arguments);
}

void
dyno_error_hint (const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  g_free (print_error_text (format, arguments));
  va_end (arguments);
}

void
dyno_out_warning_event (const char *text)
{
  DynoJson json;

  dyno_json_init (&json, 0);
  dyno_json_begin_object (&json, NULL);
  dyno_json_string (&json, "event", "warning");
  dyno_json_string (&json, "text", text);
  dyno_json_end_object (&json);
  dyno_out_json (&json);
  dyno_json_clear (&json);
}

void
dyno_out_error_event (const char *text, int code)
{
  DynoJson line;

  error_printed = TRUE;
  if (text != last_error && *text)
    {
      g_free (last_error);
      last_error = g_strdup (text);
    }
  text = last_error ? last_error : "";
  dyno_json_init (&line, 0);
  dyno_json_begin_object (&line, NULL);
  dyno_json_string (&line, "event", "error");
  dyno_json_string (&line, "text", text);
  dyno_json_int (&line, "code", code);
  dyno_json_end_object (&line);
  dyno_out_json (&line);
  dyno_json_clear (&line);
}

void
dyno_out_missing_error_event (int code)
{
  if (!error_printed)
    dyno_out_error_event (last_error ? last_error : "", code);
}

void
dyno_out_json (DynoJson *json)
{
  g_autofree char *text = dyno_json_steal (json);

  put (text);
  put ("\n");
}

gboolean
dyno_out_is_terminal (void)
{
  return isatty (STDOUT_FILENO);
}

gboolean
dyno_out_has_colour (void)
{
  const char *none = g_getenv ("NO_COLOR"), *term = g_getenv ("TERM");

  return dyno_out_is_terminal () && (!none || *none == '\0') && term && strcmp (term, "dumb") != 0;
}

char *
dyno_text_duration (double seconds)
{
  if (!(seconds >= 0) || seconds > 1e9)
    return g_strdup ("-");
  return seconds < 10 ? g_strdup_printf ("%.1f s", seconds) : dyno_amount_duration (seconds);
}

char *
dyno_text_rate (double rate)
{
  if (isnan (rate))
    return g_strdup ("-");
  return rate >= 99.95 ? dyno_amount_rate (rate)
                       : g_strdup_printf (rate >= 9.995 ? "%.1f" : "%.3g", rate);
}

#define MAX_COLUMNS 16

struct _DynoTable {
  GPtrArray *rows; /* char **, each columns + 1 */
  guint columns;
};

DynoTable *
dyno_table_new (const char *first_heading, ...)
{
  DynoTable *table = g_new0 (DynoTable, 1);
  char **row = g_new0 (char *, MAX_COLUMNS + 1);
  va_list arguments;

  table->rows = g_ptr_array_new_with_free_func ((GDestroyNotify) g_strfreev);
  va_start (arguments, first_heading);
  for (const char *cell = first_heading; cell && table->columns < MAX_COLUMNS;
       cell = va_arg (arguments, const char *))
    row[table->columns++] = g_strdup (cell);
  va_end (arguments);
  g_ptr_array_add (table->rows, row);
  return table;
}

void
dyno_table_add (DynoTable *table, char *first_cell, ...)
{
  char **row = g_new0 (char *, table->columns + 1);
  va_list arguments;
  guint n = 0;

  va_start (arguments, first_cell);
  for (char *cell = first_cell; cell && n < table->columns; cell = va_arg (arguments, char *))
    row[n++] = cell;
  va_end (arguments);
  while (n < table->columns)
    row[n++] = g_strdup ("");
  g_ptr_array_add (table->rows, row);
}

static gboolean
is_numeric (const char *cell)
{
  return g_ascii_isdigit (*cell)
         || (*cell == '-' && (cell[1] == '\0' || g_ascii_isdigit (cell[1])));
}

void
dyno_table_print (DynoTable *table)
{
  gsize width[MAX_COLUMNS] = { 0 };
  gboolean right[MAX_COLUMNS];

  for (guint c = 0; c < table->columns; c++)
    {
      right[c] = table->rows->len > 1;
      for (guint r = 0; r < table->rows->len; r++)
        {
          const char *cell = ((char **) table->rows->pdata[r])[c];
          width[c] = MAX (width[c], (gsize) g_utf8_strlen (cell, -1));
          if (r > 0 && *cell && !is_numeric (cell))
            right[c] = FALSE;
        }
    }
  for (guint r = 0; r < table->rows->len; r++)
    {
      g_autoptr (GString) line = g_string_new (NULL);
      for (guint c = 0; c < table->columns; c++)
        {
          const char *cell = ((char **) table->rows->pdata[r])[c];
          gsize pad = width[c] - (gsize) g_utf8_strlen (cell, -1);
          gboolean last = c + 1 == table->columns;

          g_string_append_printf (line, "%*s%s", right[c] ? (int) pad : 0, "", cell);
          if (!last)
            g_string_append_printf (line, "%*s", (int) (right[c] ? 0 : pad) + 2, "");
        }
      while (line->len && line->str[line->len - 1] == ' ')
        g_string_truncate (line, line->len - 1);
      dyno_out_line ("%s", line->str);
    }
}

void
dyno_table_free (DynoTable *table)
{
  if (!table)
    return;
  g_ptr_array_unref (table->rows);
  g_free (table);
}
