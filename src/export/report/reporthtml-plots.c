/* SPDX-License-Identifier: MIT */
/* The report's plots: throughput and memory over the batch size, the two ceilings by their knobs,
 * predicted rates against measured ones, AMP's losses. */
#include "amount.h"
#include "curve.h"
#include "intl.h"
#include "median.h"
#include "reporthtml-private.h"
#include <math.h>

#define MIB (1024.0 * 1024)
#define GIB (1024.0 * MIB)
#define FEW 4 /* fewer predictions give no meaningful median */

/* --- over the batch size ----------------------------------------------------------------------- */

static guint
add_marks (const DynoTuneCurve *curve, DynoHtmlMark *marks)
{
  guint n = 0;

  if (dyno_curve_name_advised (curve))
    marks[n++] = (DynoHtmlMark){ (double) curve->smallest, dyno_curve_name_advised (curve) };
  if (dyno_curve_name_fastest (curve))
    marks[n++] = (DynoHtmlMark){ (double) curve->fastest, dyno_curve_name_fastest (curve) };
  if (curve->knee > 0)
    marks[n++] = (DynoHtmlMark){ (double) curve->knee, _ ("knee") };
  return n;
}

static void
write_throughput (DynoReport *report)
{
  const DynoTuneCurve *curve = &report->result->curve;
  g_autofree DynoHtmlPoint *all = g_new0 (DynoHtmlPoint, curve->n),
                           *measured = g_new0 (DynoHtmlPoint, curve->n),
                           *modelled = g_new0 (DynoHtmlPoint, curve->n);
  DynoHtmlMark marks[3];
  guint n_marks = add_marks (curve, marks), n = 0, n_measured = 0, n_modelled = 0;

  for (guint i = 0; i < curve->n; i++)
    {
      const DynoCurvePoint *p = &curve->points[i];
      DynoHtmlPoint point = { (double) p->batch_size, p->samples_per_s, p->low, p->high, NULL };

      if (p->samples_per_s <= 0)
        continue;
      all[n++] = point;
      if (p->measured)
        measured[n_measured++] = point;
      else
        modelled[n_modelled++] = point;
    }
  const DynoHtmlSeries series[] = {
    { .points = all, .n = n, .line = TRUE },
    { .name = _ ("measured"), .points = measured, .n = n_measured, .dots = TRUE },
    { .name = _ ("from the model"),
      .points = modelled,
      .n = n_modelled,
      .dots = TRUE,
      .hollow = TRUE },
  };
  const DynoHtmlPlot plot = { .title = _ ("Throughput by batch size"),
                              .caption = curve->text,
                              .x_label = _ ("batch size"),
                              .y_label = _ ("samples/s"),
                              .x_axis = DYNO_HTML_AXIS_DOUBLED,
                              .y_from_zero = TRUE,
                              .series = series,
                              .n_series = G_N_ELEMENTS (series),
                              .marks = marks,
                              .n_marks = n_marks,
                              .y_limit = (double) NAN };
  dyno_html_plot (report->html, &plot);
}

/* The largest batch of any settings: the curve shows only the best settings.  NULL: none ran.
 * g_free. */
static char *
describe_largest (const DynoTuneResult *r)
{
  if (r->largest_ran == 0)
    return NULL;
  if (r->largest_fits == r->largest_ran)
    return g_strdup_printf (_ ("The largest batch that ran is %d."), (int) r->largest_ran);
  return g_strdup_printf (_ ("The largest batch that ran is %d; by the plan %d would fit."),
                          (int) r->largest_ran, (int) r->largest_fits);
}

static void
write_memory (DynoReport *report)
{
  const DynoTuneCurve *curve = &report->result->curve;
  guint64 limit = report->context->limit_bytes;
  g_autofree DynoHtmlPoint *points = g_new0 (DynoHtmlPoint, curve->n);
  g_autofree char *amount = dyno_amount_bytes (limit, "\u00a0"),
                  *limit_label = g_strdup_printf (_ ("limit %s"), amount), *caption = NULL;
  guint64 most = 0;
  double unit;
  guint n = 0;

  for (guint i = 0; i < curve->n; i++)
    most = MAX (most, curve->points[i].vram_bytes);
  unit = (double) most < GIB ? MIB : GIB;

  for (guint i = 0; i < curve->n; i++)
    if (curve->points[i].vram_bytes > 0)
      points[n++] = (DynoHtmlPoint){ .x = (double) curve->points[i].batch_size,
                                     .y = (double) curve->points[i].vram_bytes / unit };
  caption = describe_largest (report->result);
  const DynoHtmlSeries series = {
    .points = points, .n = n, .colour = 3, .line = TRUE, .dots = TRUE
  };
  const DynoHtmlPlot plot = { .title = _ ("Device memory by batch size"),
                              .caption = caption,
                              .x_label = _ ("batch size"),
                              .y_label = (double) most < GIB ? "MiB" : "GiB",
                              .x_axis = DYNO_HTML_AXIS_DOUBLED,
                              .y_from_zero = TRUE,
                              .series = &series,
                              .n_series = 1,
                              .y_limit = limit > 0 ? (double) limit / unit : (double) NAN,
                              .y_limit_label = limit_label };
  dyno_html_plot (report->html, &plot);
}

/* --- ceilings ---------------------------------------------------------------------------------- */

/* The text that distinguishes two curves of one ceiling; g_free. */
static char *
name_loader (const DynoSettings *s)
{
  g_autofree char *size =
      s->image_size > 0 ? g_strdup_printf (", %d px", (int) s->image_size) : g_strdup ("");

  return g_strdup_printf ("%s%s", s->cache ? _ ("with cache") : _ ("without cache"), size);
}

static char *
name_gpu (const DynoSettings *s)
{
  g_autofree char *parts = s->accumulate > 1
                               ? g_strdup_printf (_ (", accumulate %d"), (int) s->accumulate)
                               : g_strdup ("");

  return g_strdup_printf ("%s%s%s", s->amp ? "AMP" : "fp32",
                          s->checkpointing ? _ (", checkpointing") : "", parts);
}

static int
by_x (gconstpointer a, gconstpointer b)
{
  double x = ((const DynoHtmlPoint *) a)->x, y = ((const DynoHtmlPoint *) b)->x;
  return (x > y) - (x < y);
}

typedef struct {
  char *name;
  GArray *points; /* DynoHtmlPoint */
} Group;

static void
group_free (gpointer data)
{
  Group *group = data;

  g_free (group->name);
  g_array_unref (group->points);
  g_free (group);
}

static Group *
get_group (GPtrArray *groups, char *name)
{
  Group *group;

  for (guint i = 0; i < groups->len; i++)
    if (g_str_equal (((Group *) groups->pdata[i])->name, name))
      {
        g_free (name);
        return groups->pdata[i];
      }
  group = g_new0 (Group, 1);
  group->name = name;
  group->points = g_array_new (FALSE, TRUE, sizeof (DynoHtmlPoint));
  g_ptr_array_add (groups, group);
  return group;
}

/* The same knob may have been measured with different other settings, such as the prefetch of a
 * loader: the fastest point counts, since the plot shows the ceiling. */
static void
add_point (GArray *points, DynoHtmlPoint point)
{
  for (guint i = 0; i < points->len; i++)
    {
      DynoHtmlPoint *there = &g_array_index (points, DynoHtmlPoint, i);

      if (there->x != point.x)
        continue;
      if (point.y > there->y)
        *there = point;
      return;
    }
  g_array_append_val (points, point);
}

static GPtrArray *
group_ceilings (const DynoTuneResult *result, DynoCeilingOf of)
{
  GPtrArray *groups = g_ptr_array_new_with_free_func (group_free);

  for (guint i = 0; i < result->ceilings->len; i++)
    {
      const DynoCeiling *c = result->ceilings->pdata[i];
      gboolean loader = of == DYNO_CEILING_LOADER;
      DynoHtmlPoint point = { (double) (loader ? c->settings.workers : c->settings.batch_size),
                              c->samples_per_s, c->low, c->high, NULL };

      if (c->of != of || c->samples_per_s <= 0)
        continue;
      add_point (
          get_group (groups, loader ? name_loader (&c->settings) : name_gpu (&c->settings))->points,
          point);
    }
  for (guint i = 0; i < groups->len; i++)
    g_array_sort (((Group *) groups->pdata[i])->points, by_x);
  return groups;
}

static void
write_ceiling (DynoReport *report, DynoCeilingOf of)
{
  g_autoptr (GPtrArray) groups = group_ceilings (report->result, of);
  g_autofree DynoHtmlSeries *series = g_new0 (DynoHtmlSeries, groups->len);
  const DynoTrial *best = &report->result->best;
  double rate = best->train_samples_per_s > 0 ? best->train_samples_per_s : best->samples_per_s;

  for (guint i = 0; i < groups->len; i++)
    {
      const Group *group = groups->pdata[i];

      series[i] =
          (DynoHtmlSeries){ .name = group->name,
                            .points = (const DynoHtmlPoint *) (gpointer) group->points->data,
                            .n = group->points->len,
                            .colour = i + (of == DYNO_CEILING_LOADER ? 1 : 0),
                            .line = TRUE,
                            .dots = TRUE };
    }
  const DynoHtmlPlot plot = {
    .title = of == DYNO_CEILING_LOADER ? _ ("Rate of the data pipeline by itself")
                                       : _ ("Rate of the device by itself"),
    .caption = of == DYNO_CEILING_LOADER
                   ? _ ("Reading, decoding and augmentation, without any work of the device.")
                   : _ ("Real steps on data that lies on the device."),
    .x_label = of == DYNO_CEILING_LOADER ? _ ("workers") : _ ("batch size"),
    .y_label = _ ("samples/s"),
    .x_axis = DYNO_HTML_AXIS_DOUBLED,
    .y_from_zero = TRUE,
    .series = series,
    .n_series = groups->len,
    .y_limit = dyno_report_has (best) ? rate : (double) NAN,
    .y_limit_label = _ ("the best, both together")
  };
  dyno_html_plot (report->html, &plot);
}

/* --- predicted against measured ---------------------------------------------------------------- */

static void
write_prediction (DynoReport *report)
{
  const GPtrArray *trials = report->result->trials;
  g_autofree DynoHtmlPoint *points = g_new0 (DynoHtmlPoint, trials->len);
  g_autofree double *off = g_new0 (double, trials->len);
  g_autoptr (GPtrArray) notes = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *caption = NULL;
  guint n = 0;

  for (guint i = 0; i < trials->len; i++)
    {
      const DynoTrial *t = trials->pdata[i];

      if (t->outcome != DYNO_TRIAL_OK || t->predicted <= 0 || !dyno_report_has (t))
        continue;
      g_ptr_array_add (notes, dyno_trial_describe (&t->settings));
      points[n] =
          (DynoHtmlPoint){ t->predicted, t->samples_per_s, t->low, t->high, notes->pdata[n] };
      off[n++] = fabs (t->predicted / t->samples_per_s - 1);
    }
  if (n == 0)
    return;
  if (n >= FEW)
    caption = g_strdup_printf (_ ("Half of the %u predictions are within %.1f %% of what was "
                                  "measured. On the line they are equal."),
                               n, dyno_median (off, n) * 100);
  else
    caption = g_strdup (_ ("On the line they are equal."));
  const DynoHtmlSeries series = { .points = points, .n = n, .colour = 2, .dots = TRUE };
  const DynoHtmlPlot plot = { .title = _ ("Predicted and measured"),
                              .caption = caption,
                              .x_label = _ ("predicted samples/s"),
                              .y_label = _ ("measured samples/s"),
                              .diagonal = TRUE,
                              .series = &series,
                              .n_series = 1,
                              .y_limit = (double) NAN };
  dyno_html_plot (report->html, &plot);
}

void
dyno_report_write_plots (DynoReport *report)
{
  gsize before;

  dyno_html_printf (report->html, "<section class=\"plots\"><h2>%s</h2><div class=\"grid\">\n",
                    _ ("Measured"));
  before = report->html->len;
  if (report->result->curve.n > 0)
    {
      write_throughput (report);
      write_memory (report);
    }
  write_ceiling (report, DYNO_CEILING_LOADER);
  write_ceiling (report, DYNO_CEILING_GPU);
  write_prediction (report);
  if (report->html->len == before)
    dyno_html_printf (report->html, "<p class=\"note\">%s</p>", _ ("Nothing was measured."));
  g_string_append (report->html, "</div></section>\n");
}

/* --- AMP --------------------------------------------------------------------------------------- */

static void
fill_points (DynoHtmlPoint *points, const double *values, guint n, gboolean as_power)
{
  for (guint i = 0; i < n; i++)
    points[i] = (DynoHtmlPoint){ .x = i + 1, .y = as_power ? log2 (values[i]) : values[i] };
}

static void
write_losses (DynoReport *report, const DynoNumerics *numerics)
{
  DynoHtmlPoint fp32[DYNO_NUMERICS_STEPS], amp[DYNO_NUMERICS_STEPS];
  guint n = numerics->n_steps;
  const DynoHtmlSeries series[] = {
    { .name = "fp32", .points = fp32, .n = n, .line = TRUE },
    { .name = "AMP", .points = amp, .n = n, .colour = 1, .line = TRUE },
  };
  const DynoHtmlPlot plot = { .title = _ ("Loss in both precisions"),
                              .caption = _ ("From the same weights, on the same samples."),
                              .x_label = _ ("step"),
                              .y_label = _ ("loss"),
                              .series = series,
                              .n_series = 2,
                              .y_limit = (double) NAN };

  fill_points (fp32, numerics->loss_fp32, n, FALSE);
  fill_points (amp, numerics->loss_amp, n, FALSE);
  dyno_html_plot (report->html, &plot);
}

/* A hollow point is a skipped step. */
static void
write_scale (DynoReport *report, const DynoNumerics *numerics)
{
  DynoHtmlPoint all[DYNO_NUMERICS_STEPS], skipped[DYNO_NUMERICS_STEPS];
  guint n = numerics->n_steps, n_skipped = 0;

  fill_points (all, numerics->loss_scale, n, TRUE);
  for (guint i = 0; i < n; i++)
    if (numerics->skipped[i])
      skipped[n_skipped++] = all[i];
  const DynoHtmlSeries series[] = {
    { .name = _ ("scale"), .points = all, .n = n, .colour = 3, .line = TRUE },
    { .name = _ ("step skipped"),
      .points = skipped,
      .n = n_skipped,
      .colour = 4,
      .dots = TRUE,
      .hollow = TRUE },
  };
  const DynoHtmlPlot plot = { .title = _ ("Loss scale of AMP"),
                              .caption = _ ("It is halved where gradients overflowed."),
                              .x_label = _ ("step"),
                              .y_label = _ ("power of two"),
                              .y_whole = TRUE,
                              .series = series,
                              .n_series = 2,
                              .y_limit = (double) NAN };
  dyno_html_plot (report->html, &plot);
}

void
dyno_report_write_losses (DynoReport *report)
{
  const DynoNumerics *numerics = report->result->numerics;
  const char *text = report->result->amp_text;

  if (!text && numerics)
    text = numerics->text;
  if (!text && !numerics)
    return;
  dyno_html_printf (report->html, "<section class=\"plots\"><h2>%s</h2>", _ ("Numbers of AMP"));
  if (text)
    dyno_html_printf (report->html, "<p>%s</p>", text);
  if (numerics && numerics->n_steps > 0)
    {
      g_string_append (report->html, "<div class=\"grid\">\n");
      write_losses (report, numerics);
      write_scale (report, numerics);
      g_string_append (report->html, "</div>");
    }
  g_string_append (report->html, "</section>\n");
}
