/* SPDX-License-Identifier: MIT */
/* Frames.  A line is built of pieces, each made visible (text.h) and cut to the columns that are
 * left, so that no name of a file orders the terminal about or breaks a line.  Blocks have a rank:
 * where there is no room the least needed are left out, and what is left over goes to the plots. */
#include "watchframe.h"
#include "amount.h"
#include "output.h"
#include "sensortext.h"
#include "text.h"
#include <math.h>
#include <string.h>

#define PLAIN   ""
#define BOLD    "\033[1m"
#define DIM     "\033[2m"
#define INVERSE "\033[7m"
#define GREEN   "\033[32m"
#define YELLOW  "\033[33m"
#define BLUE    "\033[34m"
#define MAGENTA "\033[35m"
#define CYAN    "\033[36m"
#define RED     "\033[31m"
#define OFF     "\033[0m"

#define LABEL      7 /* columns of "Memory " and the like */
#define PLOT_LABEL 9 /* columns of a plot's limits */
#define PLOT_LEAST 3 /* lines, its title counted */
#define PLOT_MOST  12
#define TWO_PLOTS  90    /* columns from which plots stand side by side */
#define PLOT_S     300.0 /* of sensors */

typedef struct {
  GString *text;
  guint width, used;
  gboolean colour;
} Line;

static guint
columns_of (gunichar c)
{
  return g_unichar_iszerowidth (c) ? 0 : g_unichar_iswide (c) ? 2 : 1;
}

/* As much of the text as there is room for. */
static void
put (Line *line, const char *colour, const char *text)
{
  g_autofree char *shown = dyno_text_visible (text);
  gboolean coloured = line->colour && *colour;

  if (coloured)
    g_string_append (line->text, colour);
  for (const char *at = shown; *at; at = g_utf8_next_char (at))
    {
      gunichar c = g_utf8_get_char (at);

      if (line->used + columns_of (c) > line->width)
        break;
      line->used += columns_of (c);
      g_string_append_unichar (line->text, c);
    }
  if (coloured)
    g_string_append (line->text, OFF);
}

static void G_GNUC_PRINTF (3, 4) putf (Line *line, const char *colour, const char *format, ...)
{
  va_list arguments;
  g_autofree char *text = NULL;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  put (line, colour, text);
}

/* Blanks up to a column. */
static void
pad (Line *line, guint column)
{
  for (column = MIN (column, line->width); line->used < column; line->used++)
    g_string_append_c (line->text, ' ');
}

static void
line_init (Line *line, const DynoWatchView *view)
{
  *line = (Line){ g_string_new (NULL), view->width, 0, view->colour };
}

static void
line_end (Line *line, GPtrArray *lines)
{
  g_ptr_array_add (lines, g_string_free (line->text, FALSE));
}

/* A share of 0 to 1 in columns of eighths. */
static void
put_bar (Line *line, const char *colour, double share, guint columns)
{
  static const char *const parts[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
  guint eighths;
  g_autoptr (GString) bar = g_string_new (NULL), rest = g_string_new (NULL);

  if (!isfinite (share))
    {
      for (guint i = 0; i < columns; i++)
        g_string_append (rest, "·");
      put (line, DIM, rest->str);
      return;
    }
  eighths = (guint) lround (CLAMP (share, 0, 1) * columns * 8);
  for (guint i = 0; i < eighths / 8; i++)
    g_string_append (bar, "█");
  g_string_append (bar, parts[eighths % 8]);
  put (line, colour, bar->str);
  for (guint i = (eighths + 7) / 8; i < columns; i++)
    g_string_append (rest, "·");
  put (line, DIM, rest->str);
}

/* --- the run ---------------------------------------------------------------------------------- */

char *
dyno_watch_state_words (const DynoWatchStatus *run)
{
  g_autofree char *since = NULL;

  if (run->ended)
    return g_strdup (run->ended);
  if (run->state == DYNO_WATCH_RUNNING)
    return g_strdup ("running");
  if (!isfinite (run->silent_s))
    return g_strdup ("nothing written yet");
  since = dyno_text_duration (run->silent_s);
  return g_strdup_printf ("no news for %s", since);
}

static void
add_title (const DynoWatchView *view, GPtrArray *lines)
{
  Line line;
  g_autofree char *state = view->run ? dyno_watch_state_words (view->run) : g_strdup (""),
                  *folder = view->run ? g_filename_display_name (view->run->folder)
                                      : g_strdup ("this machine");
  guint room = (guint) g_utf8_strlen (state, -1) + 2;

  line_init (&line, view);
  line.colour = FALSE;
  if (view->colour)
    g_string_append (line.text, INVERSE);
  line.width = view->width > room ? view->width - room : view->width;
  putf (&line, PLAIN, " dynoctl watch  %s", folder);
  pad (&line, line.width);
  line.width = view->width;
  putf (&line, PLAIN, " %s", state);
  pad (&line, view->width);
  if (view->colour)
    g_string_append (line.text, OFF);
  line_end (&line, lines);
}

static void
add_what (const DynoWatchView *view, GPtrArray *lines)
{
  Line line;
  const char *device = view->run && view->run->device ? view->run->device : view->device;

  line_init (&line, view);
  put (&line, BOLD, device ? device : "no GPU");
  if (view->run && view->run->what)
    putf (&line, PLAIN, "  %s", view->run->what);
  line_end (&line, lines);
}

static double
fraction_of (const DynoWatchStatus *run)
{
  return run->steps > 0 ? CLAMP ((double) run->step / (double) run->steps, 0, 1) : (double) NAN;
}

static void
add_progress (const DynoWatchView *view, GPtrArray *lines)
{
  const DynoWatchStatus *run = view->run;
  double fraction = fraction_of (run);
  g_autofree char *eta = dyno_text_duration (run->eta_s);
  Line line;

  line_init (&line, view);
  put (&line, PLAIN, "epoch");
  pad (&line, LABEL);
  if (view->width >= 60)
    {
      put_bar (&line, GREEN, fraction, view->width / 3);
      put (&line, PLAIN, " ");
    }
  if (isfinite (fraction))
    putf (&line, BOLD, "%3.0f %%  ", fraction * 100);
  putf (&line, PLAIN, "%" G_GUINT64_FORMAT, run->epoch);
  if (run->epochs > 0)
    putf (&line, PLAIN, " of %" G_GUINT64_FORMAT, run->epochs);
  putf (&line, PLAIN, "  step %" G_GUINT64_FORMAT, run->step);
  if (run->state == DYNO_WATCH_RUNNING)
    putf (&line, PLAIN, "  ETA %s", eta);
  line_end (&line, lines);
}

/* What the metrics say, in pieces: "1234 samples/s", "loss 0.12". */
static char *
metrics_words (const DynoWatchStatus *run)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autofree char *rate =
      isfinite (run->samples_per_s) ? dyno_text_rate (run->samples_per_s) : g_strdup ("-");

  g_string_append_printf (text, "%s samples/s", rate);
  if (!isnan (run->loss))
    g_string_append_printf (text, "  loss %.4f", run->loss);
  if (!isnan (run->val_loss))
    g_string_append_printf (text, "  validation %.4f", run->val_loss);
  if (run->metric && !isnan (run->val_metric))
    g_string_append_printf (text, "  %s %.4g", run->metric, run->val_metric);
  if (run->wait_data_ms > 0 && run->step_ms > 0)
    g_string_append_printf (text, "  waits for data %.0f %%",
                            MIN (run->wait_data_ms / run->step_ms, 1) * 100);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static void
add_metrics (const DynoWatchView *view, GPtrArray *lines)
{
  g_autofree char *words = metrics_words (view->run);
  Line line;

  line_init (&line, view);
  put (&line, PLAIN, words);
  line_end (&line, lines);
}

/* --- sensors ---------------------------------------------------------------------------------- */

const double *
dyno_watch_values (const DynoWatchView *view, guint *throttle_reasons, gboolean *of_run)
{
  *of_run = view->run && view->run->has_sensors;
  *throttle_reasons =
      *of_run ? view->run->sensors.throttle_reasons : view->machine->throttle_reasons;
  return *of_run ? view->run->sensors.values : view->machine->values;
}

static void
begin_row (Line *line, const DynoWatchView *view, const char *label, const char *colour,
           double share)
{
  line_init (line, view);
  put (line, BOLD, label);
  pad (line, LABEL);
  put_bar (line, colour, share, view->width >= 60 ? view->width / 4 : view->width / 5);
  put (line, PLAIN, " ");
}

/* A value with its unit, where it is available. */
static void
put_value (Line *line, const char *before, DynoSensor sensor, const double *values)
{
  g_autofree char *text = dyno_text_sensor (sensor, values[sensor]);

  if (isfinite (values[sensor]))
    putf (line, PLAIN, "  %s%s", before, text);
}

static void
put_percent (Line *line, double value)
{
  if (isfinite (value))
    putf (line, BOLD, "%3.0f %%", value);
  else
    put (line, DIM, "not available");
}

static void
add_gpu (const DynoWatchView *view, GPtrArray *lines)
{
  guint reasons;
  gboolean of_run;
  const double *values = dyno_watch_values (view, &reasons, &of_run);
  Line line;

  begin_row (&line, view, "GPU", GREEN, values[DYNO_SENSOR_GPU_BUSY] / 100);
  put_percent (&line, values[DYNO_SENSOR_GPU_BUSY]);
  put_value (&line, "", DYNO_SENSOR_GPU_TEMPERATURE, values);
  if (isfinite (values[DYNO_SENSOR_GPU_POWER]))
    {
      putf (&line, PLAIN, "  %.0f", values[DYNO_SENSOR_GPU_POWER]);
      if (isfinite (values[DYNO_SENSOR_GPU_POWER_LIMIT]))
        putf (&line, PLAIN, " of %.0f", values[DYNO_SENSOR_GPU_POWER_LIMIT]);
      put (&line, PLAIN, " W");
    }
  put_value (&line, "", DYNO_SENSOR_GPU_CLOCK, values);
  if (reasons)
    {
      g_autofree char *words = dyno_throttle_words (reasons);
      putf (&line, RED, "  held back: %s", words);
    }
  line_end (&line, lines);
}

/* "12.3 of 80.0 GiB" */
static void
put_part (Line *line, double used, double total)
{
  g_autofree char *used_text = dyno_amount_bytes ((guint64) CLAMP (used, 0, 1e18), " "),
                  *total_text = dyno_amount_bytes ((guint64) CLAMP (total, 0, 1e18), " ");

  if (!isfinite (used))
    put (line, DIM, "not available");
  else
    put (line, BOLD, used_text);
  if (isfinite (total))
    putf (line, PLAIN, " of %s", total_text);
}

static void
add_vram (const DynoWatchView *view, GPtrArray *lines)
{
  guint reasons;
  gboolean of_run;
  const double *values = dyno_watch_values (view, &reasons, &of_run);
  double used = values[DYNO_SENSOR_VRAM_ALL], total = values[DYNO_SENSOR_VRAM_TOTAL];
  Line line;

  /* Where nobody counts for all programs there is at least the run's own. */
  if (!isfinite (used) && of_run)
    used = values[DYNO_SENSOR_VRAM_OWN];
  begin_row (&line, view, "VRAM", YELLOW, used / total);
  put_part (&line, used, total);
  if (of_run)
    put_value (&line, "run ", DYNO_SENSOR_VRAM_OWN, values);
  if (values[DYNO_SENSOR_GPU_OTHERS] > 0)
    putf (&line, PLAIN, "  %.0f other program%s", values[DYNO_SENSOR_GPU_OTHERS],
          values[DYNO_SENSOR_GPU_OTHERS] > 1 ? "s" : "");
  line_end (&line, lines);
}

static void
add_cpu (const DynoWatchView *view, GPtrArray *lines)
{
  guint reasons;
  gboolean of_run;
  const double *values = dyno_watch_values (view, &reasons, &of_run);
  Line line;

  begin_row (&line, view, "CPU", CYAN, values[DYNO_SENSOR_CPU_BUSY] / 100);
  put_percent (&line, values[DYNO_SENSOR_CPU_BUSY]);
  if (of_run)
    put_value (&line, "run ", DYNO_SENSOR_CPU_OWN, values);
  put_value (&line, "waits ", DYNO_SENSOR_PRESSURE_CPU, values);
  line_end (&line, lines);
}

static void
add_ram (const DynoWatchView *view, GPtrArray *lines)
{
  guint reasons;
  gboolean of_run;
  const double *values = dyno_watch_values (view, &reasons, &of_run);
  Line line;

  begin_row (&line, view, "RAM", MAGENTA,
             values[DYNO_SENSOR_RAM_USED] / values[DYNO_SENSOR_RAM_TOTAL]);
  put_part (&line, values[DYNO_SENSOR_RAM_USED], values[DYNO_SENSOR_RAM_TOTAL]);
  put_value (&line, "swap in ", DYNO_SENSOR_SWAP_IN_PER_S, values);
  put_value (&line, "waits ", DYNO_SENSOR_PRESSURE_MEMORY, values);
  line_end (&line, lines);
}

static void
add_disk (const DynoWatchView *view, GPtrArray *lines)
{
  guint reasons;
  gboolean of_run;
  const double *values = dyno_watch_values (view, &reasons, &of_run);
  Line line;

  line_init (&line, view);
  put (&line, BOLD, "Disk");
  pad (&line, LABEL - 2);
  if (of_run)
    put_value (&line, "run reads ", DYNO_SENSOR_DISK_READ_PER_S, values);
  if (isfinite (values[DYNO_SENSOR_PRESSURE_IO]))
    put_value (&line, "waits ", DYNO_SENSOR_PRESSURE_IO, values);
  else
    put (&line, DIM, "  waits not available");
  line_end (&line, lines);
}

static const char *const eighths[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };

/* A column for each core, or for some of them together, the busiest of which it shows. */
static void
add_cores (const DynoWatchView *view, GPtrArray *lines)
{
  guint n = view->machine->n_cores, room = view->width > LABEL ? view->width - LABEL : 1;
  guint together = (n + room - 1) / room;
  g_autoptr (GString) cells = g_string_new (NULL);
  Line line;

  for (guint i = 0; i < n; i += together)
    {
      float busiest = 0;

      for (guint k = i; k < MIN (i + together, n); k++)
        if (isfinite (view->machine->core_busy[k]))
          busiest = MAX (busiest, view->machine->core_busy[k]);
      g_string_append (cells, eighths[lroundf (CLAMP (busiest, 0, 100) / 100 * 7) + 1]);
    }
  line_init (&line, view);
  put (&line, BOLD, "Cores");
  pad (&line, LABEL);
  put (&line, n > 0 ? CYAN : DIM, n > 0 ? cells->str : "not available");
  line_end (&line, lines);
}

/* --- plots ------------------------------------------------------------------------------------ */

typedef struct {
  const char *title, *colour;
  DynoSeries *series;
  double x0, x1, low, high; /* NaN low or high: by its values */
  char *last;
} Plot;

/* The mean of what falls into each column; NaN where nothing does, but between two points. */
static void
sample (const Plot *plot, guint n, double *values)
{
  g_autofree DynoColumn *columns = g_new0 (DynoColumn, n);
  guint count = dyno_series_columns (plot->series, plot->x0, plot->x1, n, columns);
  double last = (double) NAN, span = plot->x1 - plot->x0;
  guint next = 0;

  for (guint i = 0; i < n; i++)
    {
      double x = plot->x0 + (i + 1) * span / n;

      while (next < count && (columns[next].x <= x || i == n - 1))
        {
          last = (columns[next].y_min + columns[next].y_max) / 2;
          next++;
        }
      values[i] = last;
    }
}

static void
find_limits (const double *values, guint n, double *low, double *high)
{
  gboolean fixed_low = isfinite (*low), fixed_high = isfinite (*high);

  for (guint i = 0; i < n; i++)
    if (isfinite (values[i]))
      {
        if (!fixed_low)
          *low = isfinite (*low) ? MIN (*low, values[i]) : values[i];
        if (!fixed_high)
          *high = isfinite (*high) ? MAX (*high, values[i]) : values[i];
      }
  if (!isfinite (*low))
    *low = 0;
  if (!isfinite (*high) || *high <= *low)
    *high = *low + MAX (fabs (*low) / 10, 1e-9);
}

/* Lines of a plot, its title first. */
static void
draw_plot (const DynoWatchView *view, const Plot *plot, guint width, guint height, Line *lines)
{
  guint n = width > PLOT_LABEL + 2 ? width - PLOT_LABEL - 1 : 1;
  g_autofree double *values = g_new (double, n);
  double low = plot->low, high = plot->high;

  sample (plot, n, values);
  find_limits (values, n, &low, &high);
  put (&lines[0], BOLD, plot->title);
  putf (&lines[0], PLAIN, "  %s", plot->last);
  for (guint row = 1; row < height; row++)
    {
      guint from = (height - 1 - row) * 8; /* eighths below this line */
      g_autoptr (GString) cells = g_string_new (NULL);
      g_autofree char *limit = g_strdup_printf ("%.4g", row == 1 ? high : low);
      guint start = lines[row].used;

      if (row == 1 || row == height - 1)
        putf (&lines[row], DIM, "%*s ", PLOT_LABEL - 1, limit);
      pad (&lines[row], start + PLOT_LABEL);
      for (guint i = 0; i < n; i++)
        {
          double share = (values[i] - low) / (high - low);
          glong level =
              isfinite (share) ? lround (CLAMP (share, 0, 1) * ((height - 1) * 8 - 1)) + 1 : 0;

          g_string_append (cells, eighths[CLAMP (level - (glong) from, 0, 8)]);
        }
      put (&lines[row], plot->colour, cells->str);
    }
}

static char *
last_words (DynoSeries *series, const char *format)
{
  guint64 n = dyno_series_get_length (series);
  double x, y = (double) NAN;

  if (n > 0)
    dyno_series_get (series, n - 1, &x, &y);
  if (!isfinite (y))
    return g_strdup ("-");
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  return g_strdup_printf (format, y);
#pragma GCC diagnostic pop
}

static gboolean
set_range (Plot *plot, double most)
{
  double low, high;

  if (!dyno_series_get_range (plot->series, -INFINITY, INFINITY, &plot->x0, &plot->x1, &low, &high))
    return FALSE;
  if (most > 0)
    plot->x0 = MAX (plot->x0, plot->x1 - most);
  if (plot->x1 <= plot->x0)
    plot->x1 = plot->x0 + 1;
  return TRUE;
}

/* Those that have a point; returns how many. */
static guint
choose_plots (const DynoWatchView *view, Plot *plots)
{
  const DynoWatchStatus *run = view->run;
  gboolean of_run = run && run->has_sensors;
  const Plot all[] = {
    { "samples/s", GREEN, run ? run->rate : NULL, 0, 0, 0, (double) NAN, NULL },
    { "loss", BLUE, run ? run->loss_series : NULL, 0, 0, (double) NAN, (double) NAN, NULL },
    { "GPU busy, last 5 minutes", GREEN, of_run ? run->gpu : view->gpu, 0, 0, 0, 100, NULL },
    { "CPU busy, last 5 minutes", CYAN, of_run ? run->cpu : view->cpu, 0, 0, 0, 100, NULL },
  };
  static const char *const formats[] = { "%.4g", "%.4f", "%.0f %%", "%.0f %%" };
  guint n = 0;

  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    {
      plots[n] = all[i];
      if (!all[i].series || !set_range (&plots[n], i < 2 ? 0 : PLOT_S))
        continue;
      plots[n].last = last_words (all[i].series, formats[i]);
      n++;
    }
  return n;
}

/* As many as there is room for, side by side on wide terminals. */
static void
add_plots (const DynoWatchView *view, guint height, GPtrArray *lines)
{
  Plot plots[4];
  guint n = choose_plots (view, plots), across = view->width >= TWO_PLOTS && n > 1 ? 2 : 1;
  guint down = CLAMP (height / (PLOT_LEAST + 1), 1, MAX ((n + across - 1) / across, 1));
  guint each = MIN (height / down, PLOT_MOST), width = view->width / across;

  for (guint row = 0; n > 0 && each >= PLOT_LEAST && row < down; row++)
    {
      g_autofree Line *cells = g_new0 (Line, each);

      for (guint i = 0; i < each; i++)
        line_init (&cells[i], view);
      for (guint k = 0; k < across && row * across + k < n; k++)
        {
          for (guint i = 0; i < each; i++)
            {
              cells[i].width = view->width;
              pad (&cells[i], k * width);
              cells[i].width = (k + 1) * width;
            }
          draw_plot (view, &plots[row * across + k], width, each, cells);
        }
      for (guint i = 0; i < each; i++)
        line_end (&cells[i], lines);
    }
  for (guint i = 0; i < n; i++)
    g_free (plots[i].last);
}

/* --- the frame -------------------------------------------------------------------------------- */

typedef struct {
  void (*add) (const DynoWatchView *view, GPtrArray *lines);
  gboolean of_run;
  guint rank; /* the higher, the sooner it is left out */
} Block;

static const Block blocks[] = {
  { add_title, FALSE, 0 },  { add_what, FALSE, 7 },  { add_progress, TRUE, 1 },
  { add_metrics, TRUE, 2 }, { add_gpu, FALSE, 3 },   { add_vram, FALSE, 4 },
  { add_cpu, FALSE, 5 },    { add_cores, FALSE, 9 }, { add_ram, FALSE, 6 },
  { add_disk, FALSE, 8 },
};

GPtrArray *
dyno_watch_frame (const DynoWatchView *view)
{
  GPtrArray *lines = g_ptr_array_new_with_free_func (g_free);
  guint n = 0, most_rank = G_MAXUINT, room = view->height > 3 ? view->height - 1 : view->height;
  Line keys;

  /* The ranks are those of all blocks, so that the highest that fits is found by counting. */
  for (guint rank = 0; rank < G_N_ELEMENTS (blocks) && most_rank == G_MAXUINT; rank++)
    for (guint i = 0; i < G_N_ELEMENTS (blocks); i++)
      if (blocks[i].rank == rank && (!blocks[i].of_run || view->run) && ++n > room)
        most_rank = rank;
  for (guint i = 0; i < G_N_ELEMENTS (blocks); i++)
    if ((!blocks[i].of_run || view->run) && blocks[i].rank < most_rank)
      blocks[i].add (view, lines);
  if (lines->len + PLOT_LEAST <= room)
    add_plots (view, room - lines->len, lines);
  while (lines->len < room)
    g_ptr_array_add (lines, g_strdup (""));
  if (room < view->height)
    {
      line_init (&keys, view);
      put (&keys, DIM, "q: quit");
      line_end (&keys, lines);
    }
  g_ptr_array_set_size (lines, (int) MIN (lines->len, view->height));
  return lines;
}

/* --- plain lines ------------------------------------------------------------------------------ */

static void
add_run_line (const DynoWatchStatus *run, GPtrArray *lines)
{
  g_autofree char *folder = g_filename_display_name (run->folder),
                  *state = dyno_watch_state_words (run), *metrics = metrics_words (run),
                  *eta = dyno_text_duration (run->eta_s);
  g_autoptr (GString) text = g_string_new (NULL);

  g_string_append_printf (text, "%s: %s, epoch %" G_GUINT64_FORMAT, folder, state, run->epoch);
  if (run->epochs > 0)
    g_string_append_printf (text, " of %" G_GUINT64_FORMAT, run->epochs);
  g_string_append_printf (text, ", step %" G_GUINT64_FORMAT, run->step);
  if (run->steps > 0)
    g_string_append_printf (text, " of %" G_GUINT64_FORMAT, run->steps);
  g_string_append_printf (text, ", %s", metrics);
  if (run->state == DYNO_WATCH_RUNNING)
    g_string_append_printf (text, "  ETA %s", eta);
  g_ptr_array_add (lines, g_string_free (g_steal_pointer (&text), FALSE));
}

/* The rows of the frame, wide, without bars. */
static void
add_sensor_line (const DynoWatchView *view, GPtrArray *lines)
{
  static const struct {
    const char *before;
    DynoSensor sensor;
  } parts[] = {
    { "GPU ", DYNO_SENSOR_GPU_BUSY },    { ", ", DYNO_SENSOR_GPU_TEMPERATURE },
    { ", ", DYNO_SENSOR_GPU_POWER },     { ", ", DYNO_SENSOR_GPU_CLOCK },
    { "; VRAM ", DYNO_SENSOR_VRAM_ALL }, { " of ", DYNO_SENSOR_VRAM_TOTAL },
    { "; CPU ", DYNO_SENSOR_CPU_BUSY },  { "; RAM ", DYNO_SENSOR_RAM_USED },
    { " of ", DYNO_SENSOR_RAM_TOTAL },   { "; disks waited for ", DYNO_SENSOR_PRESSURE_IO }
  };
  guint reasons;
  gboolean of_run;
  const double *values = dyno_watch_values (view, &reasons, &of_run);
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    {
      g_autofree char *value = dyno_text_sensor (parts[i].sensor, values[parts[i].sensor]);

      /* of a group whose first is not available the others are left out */
      if (isfinite (values[parts[i].sensor]) || parts[i].before[0] == ';' || i == 0)
        g_string_append_printf (text, "%s%s", parts[i].before, value);
    }
  if (reasons)
    {
      g_autofree char *words = dyno_throttle_words (reasons);
      g_string_append_printf (text, "; held back: %s", words);
    }
  g_ptr_array_add (lines, g_string_free (g_steal_pointer (&text), FALSE));
}

GPtrArray *
dyno_watch_lines (const DynoWatchView *view)
{
  GPtrArray *lines = g_ptr_array_new_with_free_func (g_free);

  if (view->run)
    add_run_line (view->run, lines);
  add_sensor_line (view, lines);
  return lines;
}
