/* SPDX-License-Identifier: MIT */
/* The report claims only what the verdict states; values and differences have the format of the
 * verdict's sentence. */
#include "accuracyhtml.h"
#include "accuracyview.h"
#include "intl.h"
#include "reporthtml-private.h"
#include <math.h>
#include <string.h>

#define NONE "–"

static const DynoAccuracyTrial *
get_trial (const DynoAccuracyResult *r, guint i)
{
  return &g_array_index (r->trials, DynoAccuracyTrial, i);
}

/* "your settings", "lr=0.1 optimizer=adamw".  g_free. */
static char *
describe_trial (const DynoAccuracyResult *r, guint i)
{
  return i == 0 ? g_strdup (_ ("your settings"))
                : dyno_param_space_describe (&r->space, &get_trial (r, i)->settings);
}

static char *
describe_value (const DynoAccuracyResult *r, double value)
{
  return isfinite (value) ? dyno_accuracy_format (&r->metric, value) : g_strdup (NONE);
}

/* --- verdict ---------------------------------------------------------------------------------- */

static const char *
get_headline (const DynoAccuracyResult *r)
{
  switch (r->verdict)
    {
    case DYNO_ACCURACY_PROVEN:
      return _ ("Better settings, proven on further seeds");
    case DYNO_ACCURACY_KEEP:
      return _ ("Your settings stay");
    case DYNO_ACCURACY_NOT_PROVEN:
    case DYNO_ACCURACY_NO_FINAL:
    default:
      return _ ("Better settings, not proven");
    }
}

static void
write_verdict (GString *html, const DynoAccuracyResult *r)
{
  gboolean proven = r->verdict == DYNO_ACCURACY_PROVEN;
  g_autofree char *settings = describe_trial (r, r->best);

  dyno_html_printf (html, "<section class=\"hero %s\"><h1>%s</h1>", proven ? "good" : "open",
                    get_headline (r));
  dyno_html_printf (html, "<p class=\"settings\"><b>%s</b></p>", settings);
  dyno_html_printf (html, "<p class=\"proof\"><span class=\"badge\">%s</span> %s</p></section>\n",
                    proven ? _ ("proven") : _ ("not proven"), r->text);
}

/* --- the final -------------------------------------------------------------------------------- */

static guint
count_seeds (const DynoAccuracyResult *r)
{
  guint n = 0;

  for (guint i = 0; i < DYNO_ACCURACY_MOST_SEEDS; i++)
    if (isfinite (r->own.values[i]))
      n = i + 1;
  return n;
}

static void
write_contender (GString *html, const DynoAccuracyResult *r, const DynoAccuracyContender *c,
                 guint n_seeds)
{
  gboolean own = c == &r->own;
  g_autofree char *number = g_strdup_printf ("%u", c->trial),
                  *mean = dyno_accuracy_format_difference (&r->metric, c->gain.mean),
                  *low = dyno_accuracy_format_difference (&r->metric, c->gain.low),
                  *high = dyno_accuracy_format_difference (&r->metric, c->gain.high),
                  *gain = own || c->gain.n < 2
                              ? g_strdup (NONE)
                              /* Translators: a mean, and the ends of its 95 percent interval */
                              : g_strdup_printf (_ ("%s (95 %%: %s to %s)"), mean, low, high);

  dyno_html_printf (html, "<tr class=\"%s\"><th>%s</th>", c->trial == r->best ? "best" : "",
                    own ? _ ("Your settings") : number);
  for (guint i = 0; i < n_seeds; i++)
    {
      g_autofree char *value = describe_value (r, c->values[i]);

      dyno_html_printf (html, "<td class=\"number\">%s</td>", value);
    }
  dyno_html_printf (html, "<td class=\"number\">%s</td></tr>\n", gain);
}

static void
write_final (GString *html, const DynoAccuracyResult *r)
{
  guint n_seeds = count_seeds (r);

  if (n_seeds == 0 || r->n_contenders == 0)
    return;
  dyno_html_printf (html,
                    "<section><h2>%s</h2><div class=\"wide\"><table class=\"effort\"><thead><tr>"
                    "<th>%s</th>",
                    _ ("The comparison on further seeds"), _ ("Trial"));
  for (guint i = 0; i < n_seeds; i++)
    {
      g_autofree char *seed =
          g_strdup_printf ("%" G_GUINT64_FORMAT, (guint64) r->space.own.seed + 1 + i);

      dyno_html_printf (html, "<th class=\"number\">%s</th>", seed);
    }
  dyno_html_printf (html, "<th class=\"number\">%s</th></tr></thead><tbody>\n",
                    _ ("Better than your settings by"));
  write_contender (html, r, &r->own, n_seeds);
  for (guint i = 0; i < r->n_contenders; i++)
    write_contender (html, r, &r->contenders[i], n_seeds);
  dyno_html_printf (html, "</tbody></table></div><p class=\"note\">%s</p></section>\n",
                    _ ("All were trained anew with each of these seeds, which the search had not "
                       "seen, and are compared by pairs of equal seeds."));
}

/* --- what mattered ---------------------------------------------------------------------------- */

static void
write_importance (GString *html, const DynoAccuracyResult *r)
{
  guint params[DYNO_PARAMS_MOST], n = dyno_accuracy_result_list_important (r, params);

  if (n == 0)
    return;
  dyno_html_printf (html, "<section><h2>%s</h2><table class=\"gains\"><tbody>\n",
                    _ ("Settings That Matter"));
  for (guint i = 0; i < n; i++)
    {
      double share = r->importance[params[i]];
      g_autofree char *text = g_strdup_printf ("%.0f\u00a0%%", 100 * share);

      dyno_html_printf (html, "<tr><th>%s</th><td class=\"share\"><i style=\"",
                        dyno_accuracy_get_title (&r->space.params[params[i]]));
      dyno_report_put_percent (html, "width", share);
      dyno_html_printf (html, "\"></i></td><td class=\"number\">%s</td></tr>\n", text);
    }
  dyno_html_printf (
      html, "</tbody></table><p class=\"note\">%s</p></section>\n",
      _ ("The share of the differences between trials that each setting explains by itself"));
}

/* --- values by epochs ------------------------------------------------------------------------- */

static void
write_plot (GString *html, const DynoAccuracyResult *r)
{
  guint n = r->trials->len;
  gboolean percent = r->metric.format == DYNO_METRIC_FRACTION, named = FALSE;
  g_autofree DynoHtmlPoint *points = g_new0 (DynoHtmlPoint, (gsize) n * DYNO_HALVING_MOST_RUNGS);
  g_autofree DynoHtmlSeries *series = g_new0 (DynoHtmlSeries, n);
  g_autofree char *label = dyno_metric_get_label (&r->metric),
                  *axis = percent ? g_strdup_printf ("%s (%%)", label) : g_strdup (label);

  for (guint i = 0; i < n; i++)
    {
      const DynoAccuracyTrial *trial = get_trial (r, i);
      DynoHtmlPoint *own = points + (gsize) i * DYNO_HALVING_MOST_RUNGS;
      gboolean best = i == r->best, yours = i == 0;

      for (guint k = 0; k < trial->halving.n_done; k++)
        own[k] = (DynoHtmlPoint){ .x = (double) r->rungs[k],
                                  .y = percent ? 100 * trial->values[k] : trial->values[k] };
      series[i] = (DynoHtmlSeries){ .name = best    ? _ ("Best")
                                            : yours ? _ ("Your settings")
                                            : named ? NULL
                                                    : _ ("Other trials"),
                                    .points = own,
                                    .n = trial->halving.n_done,
                                    .colour = best    ? 2
                                              : yours ? 1
                                                      : 0,
                                    .line = TRUE,
                                    .dots = TRUE };
      named = named || (!best && !yours);
    }
  dyno_html_printf (html, "<section class=\"plots\"><h2>%s</h2>", _ ("Trials by their epochs"));
  dyno_html_plot (html, &(DynoHtmlPlot){ .title = label,
                                         .x_label = _ ("Epochs"),
                                         .y_label = axis,
                                         .series = series,
                                         .n_series = n,
                                         .y_limit = (double) NAN });
  g_string_append (html, "</section>\n");
}

/* --- all trials ------------------------------------------------------------------------------- */

/* The reason of the trial's last failure, or "". */
static const char *
find_reason (const DynoAccuracyResult *r, guint trial)
{
  const char *text = "";

  for (guint i = 0; i < r->runs->len; i++)
    {
      const DynoAccuracyRun *run = r->runs->pdata[i];

      if (run->trial == trial && run->text)
        text = run->text;
    }
  return text;
}

static void
write_trials (GString *html, const DynoAccuracyResult *r)
{
  g_autofree char *label = dyno_metric_get_label (&r->metric);

  dyno_html_printf (html,
                    "<section><h2>%s</h2><div class=\"wide\"><table><thead><tr>"
                    "<th class=\"number\">%s</th><th class=\"number\">%s</th>"
                    "<th class=\"number\">%s</th><th>%s</th></tr></thead><tbody>\n",
                    _ ("Trials"), _ ("Trial"), _ ("Epochs"), label, _ ("Settings"));
  for (guint i = 0; i < r->trials->len; i++)
    {
      const DynoAccuracyTrial *trial = get_trial (r, i);
      guint rung = MAX (trial->halving.n_done, 1) - 1;
      g_autofree char *number = g_strdup_printf ("%u", i), *settings = describe_trial (r, i),
                      *epochs = g_strdup_printf ("%" G_GUINT64_FORMAT, r->rungs[rung]),
                      *value = describe_value (r, trial->values[rung]);

      dyno_html_printf (html,
                        "<tr><td class=\"number\">%s</td><td class=\"number\">%s</td>"
                        "<td class=\"number\">%s</td><td>%s <small>%s</small></td></tr>\n",
                        number, epochs, value, settings, find_reason (r, i));
    }
  g_string_append (html, "</tbody></table></div></section>\n");
}

char *
dyno_report_accuracy_html (const DynoAccuracyResult *result, const DynoJob *job, const char *device)
{
  GString *html = g_string_new (NULL);
  g_autofree char *foot =
      g_strdup_printf (ngettext ("Dyno %s; the search made %u trial.",
                                 "Dyno %s; the search made %u trials.", result->trials->len),
                       DYNO_VERSION, result->trials->len);

  dyno_report_begin (html, _ ("Dyno tuning report"), job, device);
  write_verdict (html, result);
  write_final (html, result);
  write_importance (html, result);
  write_plot (html, result);
  write_trials (html, result);
  dyno_html_printf (html, "<footer>%s</footer></main></body></html>\n", foot);
  return g_string_free (html, FALSE);
}
