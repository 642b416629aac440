/* SPDX-License-Identifier: MIT */
/* Builds frames.  Blocks have a rank: if there is too little room, the blocks of the highest rank
 * are omitted; remaining room is used for the plots. */
#include "watchframe.h"
#include "amount.h"
#include "output.h"
#include "sensortext.h"
#include "text.h"
#include "watchline.h"
#include "watchplot.h"
#include <math.h>
#include <string.h>

#define LABEL 7 /* columns of a label such as "Memory " */

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
  DynoWatchLine line;
  g_autofree char *state = view->run ? dyno_watch_state_words (view->run) : g_strdup (""),
                  *folder = view->run ? g_filename_display_name (view->run->folder)
                                      : g_strdup ("this machine");
  guint room = (guint) g_utf8_strlen (state, -1) + 2;

  dyno_watch_line_init (&line, view->width, view->colour);
  line.colour = FALSE;
  if (view->colour)
    g_string_append (line.text, DYNO_TEXT_INVERSE);
  line.width = view->width > room ? view->width - room : view->width;
  dyno_watch_line_printf (&line, DYNO_TEXT_PLAIN, " dynoctl watch  %s", folder);
  dyno_watch_line_pad (&line, line.width);
  line.width = view->width;
  dyno_watch_line_printf (&line, DYNO_TEXT_PLAIN, " %s", state);
  dyno_watch_line_pad (&line, view->width);
  if (view->colour)
    g_string_append (line.text, DYNO_TEXT_OFF);
  dyno_watch_line_end (&line, lines);
}

static void
add_what (const DynoWatchView *view, GPtrArray *lines)
{
  DynoWatchLine line;
  const char *device = view->run && view->run->device ? view->run->device : view->device;

  dyno_watch_line_init (&line, view->width, view->colour);
  dyno_watch_line_put (&line, DYNO_TEXT_BOLD, device ? device : "no GPU");
  if (view->run && view->run->what)
    dyno_watch_line_printf (&line, DYNO_TEXT_PLAIN, "  %s", view->run->what);
  dyno_watch_line_end (&line, lines);
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
  DynoWatchLine line;

  dyno_watch_line_init (&line, view->width, view->colour);
  dyno_watch_line_put (&line, DYNO_TEXT_PLAIN, "epoch");
  dyno_watch_line_pad (&line, LABEL);
  if (view->width >= 60)
    {
      dyno_watch_line_put_bar (&line, DYNO_TEXT_GREEN, fraction, view->width / 3);
      dyno_watch_line_put (&line, DYNO_TEXT_PLAIN, " ");
    }
  if (isfinite (fraction))
    dyno_watch_line_printf (&line, DYNO_TEXT_BOLD, "%3.0f %%  ", fraction * 100);
  dyno_watch_line_printf (&line, DYNO_TEXT_PLAIN, "%" G_GUINT64_FORMAT, run->epoch);
  if (run->epochs > 0)
    dyno_watch_line_printf (&line, DYNO_TEXT_PLAIN, " of %" G_GUINT64_FORMAT, run->epochs);
  dyno_watch_line_printf (&line, DYNO_TEXT_PLAIN, "  step %" G_GUINT64_FORMAT, run->step);
  if (run->state == DYNO_WATCH_RUNNING)
    dyno_watch_line_printf (&line, DYNO_TEXT_PLAIN, "  ETA %s", eta);
  dyno_watch_line_end (&line, lines);
}

/* Adds the metrics as text: "1234 samples/s", "loss 0.12". */
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
  DynoWatchLine line;

  dyno_watch_line_init (&line, view->width, view->colour);
  dyno_watch_line_put (&line, DYNO_TEXT_PLAIN, words);
  dyno_watch_line_end (&line, lines);
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
begin_row (DynoWatchLine *line, const DynoWatchView *view, const char *label, const char *colour,
           double share)
{
  dyno_watch_line_init (line, view->width, view->colour);
  dyno_watch_line_put (line, DYNO_TEXT_BOLD, label);
  dyno_watch_line_pad (line, LABEL);
  dyno_watch_line_put_bar (line, colour, share,
                           view->width >= 60 ? view->width / 4 : view->width / 5);
  dyno_watch_line_put (line, DYNO_TEXT_PLAIN, " ");
}

/* Appends a value with its unit, where it is available. */
static void
put_value (DynoWatchLine *line, const char *before, DynoSensor sensor, const double *values)
{
  g_autofree char *text = dyno_text_sensor (sensor, values[sensor]);

  if (isfinite (values[sensor]))
    dyno_watch_line_printf (line, DYNO_TEXT_PLAIN, "  %s%s", before, text);
}

static void
put_percent (DynoWatchLine *line, double value)
{
  if (isfinite (value))
    dyno_watch_line_printf (line, DYNO_TEXT_BOLD, "%3.0f %%", value);
  else
    dyno_watch_line_put (line, DYNO_TEXT_DIM, "not available");
}

static void
add_gpu (const DynoWatchView *view, GPtrArray *lines)
{
  guint reasons;
  gboolean of_run;
  const double *values = dyno_watch_values (view, &reasons, &of_run);
  DynoWatchLine line;

  begin_row (&line, view, "GPU", DYNO_TEXT_GREEN, values[DYNO_SENSOR_GPU_BUSY] / 100);
  put_percent (&line, values[DYNO_SENSOR_GPU_BUSY]);
  put_value (&line, "", DYNO_SENSOR_GPU_TEMPERATURE, values);
  if (isfinite (values[DYNO_SENSOR_GPU_POWER]))
    {
      dyno_watch_line_printf (&line, DYNO_TEXT_PLAIN, "  %.0f", values[DYNO_SENSOR_GPU_POWER]);
      if (isfinite (values[DYNO_SENSOR_GPU_POWER_LIMIT]))
        dyno_watch_line_printf (&line, DYNO_TEXT_PLAIN, " of %.0f",
                                values[DYNO_SENSOR_GPU_POWER_LIMIT]);
      dyno_watch_line_put (&line, DYNO_TEXT_PLAIN, " W");
    }
  put_value (&line, "", DYNO_SENSOR_GPU_CLOCK, values);
  if (reasons)
    {
      g_autofree char *words = dyno_throttle_words (reasons);
      dyno_watch_line_printf (&line, DYNO_TEXT_RED, "  held back: %s", words);
    }
  dyno_watch_line_end (&line, lines);
}

/* "12.3 of 80.0 GiB" */
static void
put_part (DynoWatchLine *line, double used, double total)
{
  g_autofree char *used_text = dyno_amount_bytes ((guint64) CLAMP (used, 0, 1e18), " "),
                  *total_text = dyno_amount_bytes ((guint64) CLAMP (total, 0, 1e18), " ");

  if (!isfinite (used))
    dyno_watch_line_put (line, DYNO_TEXT_DIM, "not available");
  else
    dyno_watch_line_put (line, DYNO_TEXT_BOLD, used_text);
  if (isfinite (total))
    dyno_watch_line_printf (line, DYNO_TEXT_PLAIN, " of %s", total_text);
}

static void
add_vram (const DynoWatchView *view, GPtrArray *lines)
{
  guint reasons;
  gboolean of_run;
  const double *values = dyno_watch_values (view, &reasons, &of_run);
  double used = values[DYNO_SENSOR_VRAM_ALL], total = values[DYNO_SENSOR_VRAM_TOTAL];
  DynoWatchLine line;

  /* If no source reports the memory of all programs, the run's own memory is shown. */
  if (!isfinite (used) && of_run)
    used = values[DYNO_SENSOR_VRAM_OWN];
  begin_row (&line, view, "VRAM", DYNO_TEXT_YELLOW, used / total);
  put_part (&line, used, total);
  if (of_run)
    put_value (&line, "run ", DYNO_SENSOR_VRAM_OWN, values);
  if (values[DYNO_SENSOR_GPU_OTHERS] > 0)
    dyno_watch_line_printf (&line, DYNO_TEXT_PLAIN, "  %.0f other program%s",
                            values[DYNO_SENSOR_GPU_OTHERS],
                            values[DYNO_SENSOR_GPU_OTHERS] > 1 ? "s" : "");
  dyno_watch_line_end (&line, lines);
}

static void
add_cpu (const DynoWatchView *view, GPtrArray *lines)
{
  guint reasons;
  gboolean of_run;
  const double *values = dyno_watch_values (view, &reasons, &of_run);
  DynoWatchLine line;

  begin_row (&line, view, "CPU", DYNO_TEXT_CYAN, values[DYNO_SENSOR_CPU_BUSY] / 100);
  put_percent (&line, values[DYNO_SENSOR_CPU_BUSY]);
  if (of_run)
    put_value (&line, "run ", DYNO_SENSOR_CPU_OWN, values);
  put_value (&line, "waits ", DYNO_SENSOR_PRESSURE_CPU, values);
  dyno_watch_line_end (&line, lines);
}

static void
add_ram (const DynoWatchView *view, GPtrArray *lines)
{
  guint reasons;
  gboolean of_run;
  const double *values = dyno_watch_values (view, &reasons, &of_run);
  DynoWatchLine line;

  begin_row (&line, view, "RAM", DYNO_TEXT_MAGENTA,
             values[DYNO_SENSOR_RAM_USED] / values[DYNO_SENSOR_RAM_TOTAL]);
  put_part (&line, values[DYNO_SENSOR_RAM_USED], values[DYNO_SENSOR_RAM_TOTAL]);
  put_value (&line, "swap in ", DYNO_SENSOR_SWAP_IN_PER_S, values);
  put_value (&line, "waits ", DYNO_SENSOR_PRESSURE_MEMORY, values);
  dyno_watch_line_end (&line, lines);
}

static void
add_disk (const DynoWatchView *view, GPtrArray *lines)
{
  guint reasons;
  gboolean of_run;
  const double *values = dyno_watch_values (view, &reasons, &of_run);
  DynoWatchLine line;

  dyno_watch_line_init (&line, view->width, view->colour);
  dyno_watch_line_put (&line, DYNO_TEXT_BOLD, "Disk");
  dyno_watch_line_pad (&line, LABEL - 2);
  if (of_run)
    put_value (&line, "run reads ", DYNO_SENSOR_DISK_READ_PER_S, values);
  if (isfinite (values[DYNO_SENSOR_PRESSURE_IO]))
    put_value (&line, "waits ", DYNO_SENSOR_PRESSURE_IO, values);
  else
    dyno_watch_line_put (&line, DYNO_TEXT_DIM, "  waits not available");
  dyno_watch_line_end (&line, lines);
}

/* Adds a column for each core, or for several cores, of which it shows the busiest. */
static void
add_cores (const DynoWatchView *view, GPtrArray *lines)
{
  guint n = view->machine->n_cores, room = view->width > LABEL ? view->width - LABEL : 1;
  guint together = (n + room - 1) / room;
  g_autoptr (GString) cells = g_string_new (NULL);
  DynoWatchLine line;

  for (guint i = 0; i < n; i += together)
    {
      float busiest = 0;

      for (guint k = i; k < MIN (i + together, n); k++)
        if (isfinite (view->machine->core_busy[k]))
          busiest = MAX (busiest, view->machine->core_busy[k]);
      g_string_append (cells, dyno_watch_levels[lroundf (CLAMP (busiest, 0, 100) / 100 * 7) + 1]);
    }
  dyno_watch_line_init (&line, view->width, view->colour);
  dyno_watch_line_put (&line, DYNO_TEXT_BOLD, "Cores");
  dyno_watch_line_pad (&line, LABEL);
  dyno_watch_line_put (&line, n > 0 ? DYNO_TEXT_CYAN : DYNO_TEXT_DIM,
                       n > 0 ? cells->str : "not available");
  dyno_watch_line_end (&line, lines);
}

/* --- the frame -------------------------------------------------------------------------------- */

typedef struct {
  void (*add) (const DynoWatchView *view, GPtrArray *lines);
  gboolean of_run;
  guint rank; /* blocks of the highest rank are omitted first */
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
  DynoWatchLine keys;

  /* Each block has a different rank, from 0 on, so the highest rank that fits is found by
   * counting. */
  for (guint rank = 0; rank < G_N_ELEMENTS (blocks) && most_rank == G_MAXUINT; rank++)
    for (guint i = 0; i < G_N_ELEMENTS (blocks); i++)
      if (blocks[i].rank == rank && (!blocks[i].of_run || view->run) && ++n > room)
        most_rank = rank;
  for (guint i = 0; i < G_N_ELEMENTS (blocks); i++)
    if ((!blocks[i].of_run || view->run) && blocks[i].rank < most_rank)
      blocks[i].add (view, lines);
  if (lines->len + DYNO_WATCH_PLOT_LEAST <= room)
    dyno_watch_add_plots (view, room - lines->len, lines);
  while (lines->len < room)
    g_ptr_array_add (lines, g_strdup (""));
  if (room < view->height)
    {
      dyno_watch_line_init (&keys, view->width, view->colour);
      dyno_watch_line_put (&keys, DYNO_TEXT_DIM, "q: quit");
      dyno_watch_line_end (&keys, lines);
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

/* Adds the values of sensors as one line of any width, without bars. */
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

      /* values that are not available are omitted, except the first of each group */
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
