/* SPDX-License-Identifier: MIT */
/* The report's tables: every trial, the settings as text, the machine. */
#include "amount.h"
#include "formats.h"
#include "intl.h"
#include "reporthtml-private.h"
#include "space.h"
#include <math.h>
#include <string.h>

#define GAP "\u00a0" /* between a number and its unit */

/* --- trials ------------------------------------------------------------------------------------ */

static const char *
stage_title (const char *stage)
{
  static const struct {
    const char *stage, *title;
  } titles[] = { { "baseline", N_ ("base line") }, { "today", N_ ("your settings") },
                 { "preset", N_ ("preset") },      { "search", N_ ("search") },
                 { "proof", N_ ("proof") },        { "goal", N_ ("what is learnt") } };

  for (guint i = 0; i < G_N_ELEMENTS (titles); i++)
    if (g_strcmp0 (stage, titles[i].stage) == 0)
      return _ (titles[i].title);
  return stage ? stage : "";
}

static const char *
outcome_title (DynoTrialOutcome outcome)
{
  switch (outcome)
    {
    case DYNO_TRIAL_OK:
      return _ ("ok");
    case DYNO_TRIAL_DOES_NOT_FIT:
      return _ ("does not fit");
    case DYNO_TRIAL_OUT_OF_MEMORY:
      return _ ("out of memory");
    case DYNO_TRIAL_DIVERGED:
      return _ ("diverged");
    case DYNO_TRIAL_DROPPED:
      return _ ("dropped");
    case DYNO_TRIAL_FAILED:
    default:
      return _ ("failed");
    }
}

static void
write_number (GString *html, gboolean known, char *text)
{
  dyno_html_printf (html, "<td class=\"number\">%s</td>", known ? text : "");
  g_free (text);
}

static void
write_trial (DynoReport *report, const DynoTrial *t)
{
  GString *html = report->html;
  g_autofree char *words = dyno_trial_describe (&t->settings),
                  *number = g_strdup_printf ("%u", t->number),
                  *low = dyno_report_rate_text (t->low), *high = dyno_report_rate_text (t->high);
  gboolean ran = dyno_report_has (t),
           is_best = dyno_report_has (&report->result->best)
                     && dyno_space_same (&t->settings, &report->result->best.settings);

  dyno_html_printf (html, "<tr class=\"%s%s\"><td class=\"number\">%s</td><td>%s</td>",
                    dyno_trial_outcome_class (t->outcome), is_best ? " best" : "", number,
                    stage_title (t->stage));
  dyno_html_printf (html, "<td>%s", words);
  if (t->text)
    dyno_html_printf (html, "<small>%s</small>", t->text);
  g_string_append (html, "</td>");
  write_number (html, ran, dyno_report_rate_text (t->samples_per_s));
  write_number (html, ran && t->low < t->high, g_strdup_printf ("%s – %s", low, high));
  write_number (html, t->predicted > 0, dyno_report_rate_text (t->predicted));
  write_number (html, t->vram_bytes > 0, dyno_amount_bytes (t->vram_bytes, GAP));
  write_number (html, t->planned_bytes > 0, dyno_amount_bytes (t->planned_bytes, GAP));
  write_number (html, ran, g_strdup_printf ("%.2f", t->step_ms));
  write_number (html, ran, g_strdup_printf ("%.2f", t->wait_data_ms));
  dyno_html_printf (html, "<td class=\"outcome\">%s</td></tr>\n", outcome_title (t->outcome));
}

/* The difference between the planned and the allocated memory, over all trials. */
static char *
describe_plan (const GPtrArray *trials)
{
  double most = 0;
  guint n = 0;

  for (guint i = 0; i < trials->len; i++)
    {
      const DynoTrial *t = trials->pdata[i];

      if (t->vram_bytes == 0 || t->planned_bytes == 0)
        continue;
      n++;
      most = MAX (most, fabs ((double) t->vram_bytes / (double) t->planned_bytes - 1));
    }
  if (n == 0)
    return g_strdup ("");
  if (most == 0)
    return g_strdup_printf (ngettext ("Planned and measured memory are equal in the one trial "
                                      "that has both.",
                                      "Planned and measured memory are equal in all %u trials "
                                      "that have both.",
                                      n),
                            n);
  return g_strdup_printf (_ ("Planned and measured memory differ by at most %.2f %%."), most * 100);
}

void
dyno_report_write_trials (DynoReport *report)
{
  const GPtrArray *trials = report->result->trials;
  const char *const heads[] = {
    "#",          _ ("stage"),   _ ("settings"),  _ ("samples/s"),    _ ("95 %"),   _ ("predicted"),
    _ ("memory"), _ ("planned"), _ ("step (ms)"), _ ("waiting (ms)"), _ ("outcome")
  };
  g_autofree char *plan = describe_plan (trials);

  if (trials->len == 0)
    return;
  dyno_html_printf (report->html,
                    "<section><h2>%s</h2><div class=\"wide\"><table class=\"trials\">",
                    _ ("Every trial"));
  g_string_append (report->html, "<thead><tr>");
  for (guint i = 0; i < G_N_ELEMENTS (heads); i++)
    dyno_html_printf (report->html, "<th>%s</th>", heads[i]);
  g_string_append (report->html, "</tr></thead><tbody>\n");
  for (guint i = 0; i < trials->len; i++)
    write_trial (report, trials->pdata[i]);
  dyno_html_printf (report->html, "</tbody></table></div><p class=\"note\">%s</p></section>\n",
                    plan);
}

/* --- settings ---------------------------------------------------------------------------------- */

static void
write_changes (DynoReport *report, const DynoSettings *from, const DynoSettings *to)
{
  guint n;
  const DynoSettingInfo *table = dyno_setting_list (&n);
  gboolean begun = FALSE;

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *a = dyno_settings_get (from, table[i].key),
                      *b = dyno_settings_get (to, table[i].key);

      g_autofree char *a_shown = dyno_report_value_text (&table[i], a),
                      *b_shown = dyno_report_value_text (&table[i], b);

      if (g_str_equal (a, b))
        continue;
      if (!begun)
        g_string_append (report->html, "<table class=\"changes\"><tbody>\n");
      begun = TRUE;
      dyno_html_printf (report->html,
                        "<tr><th>%s</th><td><code>%s</code></td><td>%s → <b>%s</b></td></tr>\n",
                        _ (table[i].title), table[i].key, a_shown, b_shown);
    }
  if (begun)
    g_string_append (report->html, "</tbody></table>\n");
  else
    dyno_html_printf (report->html, "<p>%s</p>", _ ("No setting is other than yours."));
}

void
dyno_report_write_settings (DynoReport *report)
{
  const DynoTuneResult *r = report->result;
  g_autoptr (DynoJob) job = NULL;
  g_autofree char *text = NULL;
  DynoExportContext context = { .device = r->device };

  if (!dyno_report_has (&r->best))
    return;
  job = dyno_job_copy (r->job);
  job->settings = r->best.settings;
  if (r->lr > 0)
    job->settings.lr = r->lr;
  context.job = job;
  context.samples_per_s = r->best.samples_per_s;
  context.vram_bytes = r->best.vram_bytes;
  text = dyno_exporter_keyfile.write (&context);
  dyno_html_printf (report->html, "<section><h2>%s</h2>", _ ("Settings"));
  write_changes (report, &r->job->settings, &job->settings);
  dyno_html_printf (report->html, "<details><summary>%s</summary><p class=\"note\">%s</p><pre>",
                    _ ("All of them, as a file"),
                    _ ("One click selects the text. Saved as best.ini it is what dynoctl train "
                       "--settings best.ini reads."));
  for (char *line = text, *end; line && *line; line = end)
    {
      /* line breaks belong to the text: dyno_html_text shows them as signs */
      end = strchr (line, '\n');
      if (end)
        *end++ = '\0';
      dyno_html_printf (report->html, "%s\n", line);
    }
  g_string_append (report->html, "</pre></details></section>\n");
}

/* --- machine ----------------------------------------------------------------------------------- */

static void
write_fact (DynoReport *report, const char *name, const char *value)
{
  if (value && *value)
    dyno_html_printf (report->html, "<dt>%s</dt><dd>%s</dd>\n", name, value);
}

static void
write_device (DynoReport *report, const DynoDeviceInfo *device)
{
  g_autofree char *memory = dyno_amount_bytes (device->vram_bytes, GAP),
                  *matrix = dyno_device_info_matrix_words (device);

  write_fact (report, _ ("Driver"), device->driver);
  write_fact (report, _ ("Device memory"), memory);
  write_fact (report, _ ("Matrix units"), matrix);
  write_fact (report, "fp16", device->fp16 ? _ ("yes") : _ ("no"));
}

static void
write_data (DynoReport *report, const DynoDatasetInfo *data)
{
  g_autofree char *samples = g_strdup_printf ("%" G_GUINT64_FORMAT, data->n_samples),
                  *bytes = dyno_amount_bytes (data->size_bytes, GAP),
                  *size = g_strdup_printf ("%u×%u", data->max_width, data->max_height);

  write_fact (report, _ ("Samples"), samples);
  write_fact (report, _ ("Largest sample"), data->max_width > 0 ? size : NULL);
  write_fact (report, _ ("On disk"), data->size_bytes > 0 ? bytes : NULL);
}

void
dyno_report_write_machine (DynoReport *report)
{
  const DynoTuneResult *r = report->result;
  const DynoReportContext *c = report->context;
  g_autofree char *cores = g_strdup_printf ("%u", r->n_cores),
                  *ram = dyno_amount_bytes (c->ram_bytes, GAP),
                  *limit = dyno_amount_bytes (c->limit_bytes, GAP);

  dyno_html_printf (report->html, "<section><h2>%s</h2><dl>\n", _ ("Machine and data"));
  write_fact (report, _ ("Card"), r->device);
  if (c->device)
    write_device (report, c->device);
  write_fact (report, _ ("Limit of device memory"), c->limit_bytes > 0 ? limit : NULL);
  write_fact (report, "CPU", c->cpu);
  write_fact (report, _ ("Cores"), r->n_cores > 0 ? cores : NULL);
  write_fact (report, "RAM", c->ram_bytes > 0 ? ram : NULL);
  write_fact (report, _ ("Model"), r->job->model);
  write_fact (report, _ ("Preset"), r->job->preset);
  write_fact (report, _ ("Data"), r->job->data);
  if (c->data)
    write_data (report, c->data);
  g_string_append (report->html, "</dl></section>\n");
}
