/* SPDX-License-Identifier: MIT */
/* Writes the report's frame and its upper part: the verdict, before and after, the gain of each
 * setting, reasons and advice. */
#include "parts.h"
#include "reporthtml-private.h"
#include "amount.h"
#include "formats.h"
#include "intl.h"
#include "space.h"
#include <gio/gio.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "dyno-report.h"

#define STYLE "/io/github/gpudyno/Dyno/report/reporthtml.css"

void
dyno_report_context_init (DynoReportContext *context)
{
  g_autofree char *text = NULL;
  char *name, *end;
  long pages = sysconf (_SC_PHYS_PAGES), size = sysconf (_SC_PAGESIZE);

  *context = (DynoReportContext){ 0 };
  if (pages > 0 && size > 0)
    context->ram_bytes = (guint64) pages * (guint64) size;
  if (!g_file_get_contents ("/proc/cpuinfo", &text, NULL, NULL))
    return;
  name = strstr (text, "model name");
  name = name ? strchr (name, ':') : NULL;
  if (!name)
    return;
  end = strchr (name, '\n');
  if (end)
    *end = '\0';
  g_strlcpy (context->cpu, g_strstrip (name + 1), sizeof context->cpu);
}

char *
dyno_report_rate_text (double rate)
{
  g_autofree char *plain = NULL;
  gsize n;

  if (!isfinite (rate) || rate <= 0)
    return g_strdup ("–");
  if (rate < 100)
    return g_strdup_printf ("%.*f", rate < 10 ? 2 : 1, rate);
  plain = g_strdup_printf ("%.0f", rate);
  n = strlen (plain);
  if (n < 4)
    return g_steal_pointer (&plain);
  return g_strdup_printf ("%.*s\u202f%s", (int) (n - 3), plain, plain + n - 3);
}

char *
dyno_report_value_text (const DynoSettingInfo *info, const char *value)
{
  if (info && info->type == DYNO_SETTING_DOUBLE)
    return g_strdup_printf ("%.4g", g_ascii_strtod (value, NULL));
  if (!info || info->type != DYNO_SETTING_BOOL)
    return g_strdup (value);
  return g_strdup (g_strcmp0 (value, "true") == 0    ? _ ("on")
                   : g_strcmp0 (value, "false") == 0 ? _ ("off")
                                                     : value);
}

gboolean
dyno_report_has (const DynoTrial *trial)
{
  return trial->samples_per_s > 0 && isfinite (trial->samples_per_s);
}

/* --- verdict ----------------------------------------------------------------------------------- */

static char *
factor_text (double factor)
{
  return g_strdup_printf ("%.*f×", factor < 10 ? 2 : 1, factor);
}

/* The report claims no more than was proven. */
static char *
headline (const DynoTuneResult *result)
{
  gboolean over_today = isfinite (result->gain) && result->gain > 0,
           over_baseline = isfinite (result->speedup) && result->speedup > 0;
  g_autofree char *factor = NULL;

  if (!dyno_tune_result_has_best (result))
    return g_strdup (_ ("Nothing was found: no settings ran to the end"));
  if (result->keep_today)
    return g_strdup (result->proven ? _ ("Your settings are already as fast")
                                    : _ ("Nothing faster than your settings was found so far"));
  if (result->inside_noise)
    return g_strdup (_ ("What was found may be no faster"));
  if ((!over_today && !over_baseline) || !dyno_tune_result_claims_gain (result))
    return g_strdup (_ ("Settings that run"));
  factor = factor_text (over_today ? result->gain : result->speedup);
  if (result->proven)
    return g_strdup_printf (over_today ? _ ("%s the speed of your settings")
                                       : _ ("%s the speed of the base line"),
                            factor);
  return g_strdup_printf (over_today ? _ ("At a first look %s the speed of your settings")
                                     : _ ("At a first look %s the speed of the base line"),
                          factor);
}

/* "8 399 samples/s (95 %: 8 273 – 8 509), 3.09 GiB of device memory, 8.91 GiB left of the limit" */
static char *
describe_rate (const DynoTuneResult *result)
{
  const DynoTrial *best = &result->best;
  g_autofree char *rate = dyno_report_rate_text (best->samples_per_s),
                  *low = dyno_report_rate_text (best->low),
                  *high = dyno_report_rate_text (best->high),
                  *memory = dyno_amount_bytes (best->vram_bytes, "\u00a0"),
                  *margin = dyno_amount_bytes (result->margin_bytes, "\u00a0");
  GString *text = g_string_new (NULL);

  g_string_append_printf (text, _ ("%s samples/s"), rate);
  if (best->low > 0 && best->low < best->high)
    g_string_append_printf (text, _ (" (95 %%: %s – %s)"), low, high);
  if (best->vram_bytes > 0)
    g_string_append_printf (text, _ (", %s of device memory"), memory);
  if (result->margin_bytes > 0)
    g_string_append_printf (text, _ (", %s left of the limit"), margin);
  return g_string_free (text, FALSE);
}

static void
write_verdict (DynoReport *report)
{
  const DynoTuneResult *result = report->result;
  g_autofree char *head = headline (result);
  const char *state = result->proven ? "good" : "open";

  dyno_html_printf (report->html, "<section class=\"hero %s\"><h1>%s</h1>", state, head);
  if (dyno_tune_result_has_best (result))
    {
      g_autofree char *words = dyno_trial_describe (&result->best.settings);
      g_autofree char *rate = describe_rate (result);

      dyno_html_printf (report->html, "<p class=\"settings\"><b>%s</b><br/>%s</p>", words, rate);
      dyno_html_printf (
          report->html, "<p class=\"proof\"><span class=\"badge\">%s</span> %s</p>",
          result->proven ? _ ("proven") : _ ("not proven"),
          result->proven
              ? _ ("Base line, your settings and the best ones ran again in turn, for longer, with "
                   "validation.")
              : _ ("What was measured does not prove it: the reasons are below. Take the "
                   "numbers as a first look."));
    }
  g_string_append (report->html, "</section>\n");
}

/* --- before and after -------------------------------------------------------------------------- */

void
dyno_report_put_percent (GString *html, const char *property, double value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  g_string_append_printf (
      html, "%s:%s%%;", property,
      g_ascii_formatd (text, sizeof text, "%.2f", CLAMP (value, 0.0, 1.0) * 100));
}

/* One bar; its whiskers show the interval. */
static void
write_bar (DynoReport *report, const char *name, const char *class, const DynoTrial *trial,
           double most)
{
  GString *html = report->html;
  double base = report->result->baseline.samples_per_s;
  g_autofree char *factor = base > 0 && trial != &report->result->baseline
                                    && dyno_tune_result_claims_gain (report->result)
                                ? factor_text (trial->samples_per_s / base)
                                : NULL;
  g_autofree char *rate = dyno_report_rate_text (trial->samples_per_s),
                  *words = dyno_trial_describe (&trial->settings),
                  *memory = dyno_amount_bytes (trial->vram_bytes, "\u00a0");

  dyno_html_printf (html,
                    "<div class=\"bar %s\"><div class=\"who\"><b>%s</b><span>%s</span></div>"
                    "<div class=\"track\"><i style=\"",
                    class, name, words);
  dyno_report_put_percent (html, "width", trial->samples_per_s / most);
  g_string_append (html, "\"></i>");
  if (trial->low > 0 && trial->low < trial->high)
    {
      g_string_append (html, "<u style=\"");
      dyno_report_put_percent (html, "left", trial->low / most);
      dyno_report_put_percent (html, "width", (trial->high - trial->low) / most);
      g_string_append (html, "\"></u>");
    }
  g_string_append (html, "</div><div class=\"rate\">");
  if (factor)
    dyno_html_printf (html, "<em>%s</em> ", factor);
  dyno_html_printf (html, "<b>%s</b><span>%s", rate, _ ("samples/s"));
  if (trial->vram_bytes > 0)
    dyno_html_printf (html, ", %s", memory);
  g_string_append (html, "</span></div></div>\n");
}

/* Samples of an epoch, 0: not known. */
static guint64
count_training (const DynoReport *report)
{
  const DynoDatasetInfo *data = report->context->data;
  DynoPartCounts counts;

  if (!data)
    return 0;
  dyno_job_count_parts (report->result->job, data, &counts);
  return counts.n_train;
}

/* Writes a row: the rate, the share of the time in which the device had work, the time of a
 * training, and the memory. */
static void
write_effort (DynoReport *report, const char *name, const DynoTrial *trial)
{
  double epochs = (double) report->result->job->settings.epochs,
         seconds = epochs * (double) count_training (report) / trial->samples_per_s;
  gboolean knows_steps = trial->step_ms > 0 && trial->wait_data_ms >= 0;
  g_autofree char *rate = dyno_report_rate_text (trial->samples_per_s),
                  *busy = knows_steps ? g_strdup_printf (
                              "%.0f\u00a0%%", 100 * (1 - trial->wait_data_ms / trial->step_ms))
                                      : g_strdup ("–"),
                  *time = seconds > 0 ? dyno_amount_duration (seconds) : g_strdup ("–"),
                  *memory = trial->vram_bytes > 0 ? dyno_amount_bytes (trial->vram_bytes, "\u00a0")
                                                  : g_strdup ("–");

  dyno_html_printf (report->html,
                    "<tr><th>%s</th><td class=\"number\">%s</td><td class=\"number\">%s</td>"
                    "<td class=\"number\">%s</td><td class=\"number\">%s</td></tr>\n",
                    name, rate, busy, memory, time);
}

/* The parts of a run's time besides training that its rate includes; NULL: none of them was
 * measured.  g_free. */
static char *
describe_ends (const DynoTrial *best)
{
  g_autofree char *rate = dyno_report_rate_text (best->train_samples_per_s);

  if (!(best->validation_s + best->epoch_end_s > 0) || !(best->train_samples_per_s > 0))
    return NULL;
  return g_strdup_printf (_ ("With the best settings training by itself runs at %s samples/s; "
                             "validation takes %.2f s of each epoch, saving and the rest of its "
                             "end %.2f s."),
                          rate, best->validation_s, best->epoch_end_s);
}

static void
write_comparison (DynoReport *report)
{
  const DynoTuneResult *r = report->result;
  const struct {
    const char *name, *class;
    const DynoTrial *trial;
  } rows[] = { { _ ("Base line"), "base", &r->baseline },
               { _ ("Your settings"), "today", &r->today },
               { _ ("Best"), "best", &r->best },
               { _ ("Fastest of all"), "fastest", &r->fastest } };
  gint64 n_epochs = r->job->settings.epochs;
  g_autofree char *ends = describe_ends (&r->best),
                  *epochs = g_strdup_printf (
                      ngettext ("%d epoch takes", "%d epochs take", (gulong) n_epochs),
                      (int) n_epochs);
  guint n = G_N_ELEMENTS (rows);
  double most = 0;

  if (!dyno_report_has (&r->fastest) || dyno_space_same (&r->fastest.settings, &r->best.settings))
    n--;
  for (guint i = 0; i < n; i++)
    if (dyno_report_has (rows[i].trial))
      most = MAX (most, MAX (rows[i].trial->samples_per_s, rows[i].trial->high));
  if (most <= 0)
    return;
  dyno_html_printf (report->html, "<section><h2>%s</h2><div class=\"bars\">\n",
                    _ ("Before and after"));
  for (guint i = 0; i < n; i++)
    if (dyno_report_has (rows[i].trial))
      write_bar (report, rows[i].name, rows[i].class, rows[i].trial, most);
  dyno_html_printf (report->html,
                    "</div><table class=\"effort\"><thead><tr><th></th><th>%s</th><th>%s</th>"
                    "<th>%s</th><th>%s</th></tr></thead><tbody>\n",
                    _ ("samples/s"), _ ("device at work"), _ ("memory"), epochs);
  for (guint i = 0; i < n; i++)
    if (dyno_report_has (rows[i].trial))
      write_effort (report, rows[i].name, rows[i].trial);
  dyno_html_printf (report->html, "</tbody></table><p class=\"note\">%s %s</p></section>\n",
                    _ ("Rates are those of a whole run: training samples by the time that passed, "
                       "validation and ends of epochs included. The thin lines are 95 percent "
                       "intervals."),
                    ends ? ends : "");
}

static void
write_gains (DynoReport *report)
{
  const DynoTuneResult *r = report->result;
  double most = 0;

  for (guint i = 0; i < r->n_gains; i++)
    if (isfinite (r->gains[i].factor) && r->gains[i].factor > 0)
      most = MAX (most, fabs (log (r->gains[i].factor)));
  if (r->n_gains == 0)
    return;
  dyno_html_printf (report->html, "<section><h2>%s</h2><table class=\"gains\"><tbody>\n",
                    _ ("What each setting brought"));
  for (guint i = 0; i < r->n_gains; i++)
    {
      const DynoTuneGain *gain = &r->gains[i];
      const DynoSettingInfo *info = dyno_setting_find (gain->key);
      gboolean known = isfinite (gain->factor) && gain->factor > 0;
      g_autofree char *factor = known ? factor_text (gain->factor) : g_strdup ("–"),
                      *from = dyno_report_value_text (info, gain->from),
                      *to = dyno_report_value_text (info, gain->to);

      dyno_html_printf (report->html,
                        "<tr><th>%s</th><td class=\"change\">%s → <b>%s</b></td>"
                        "<td class=\"share\"><i class=\"%s\" style=\"",
                        info ? _ (info->title) : gain->key, from, to,
                        known && gain->factor < 1 ? "loss" : "win");
      dyno_report_put_percent (report->html, "width",
                               known && most > 0 ? fabs (log (gain->factor)) / most : 0);
      dyno_html_printf (report->html, "\"></i></td><td class=\"number\">%s</td></tr>\n", factor);
    }
  dyno_html_printf (report->html, "</tbody></table><p class=\"note\">%s</p></section>\n",
                    _ ("On the way from the base line to the best; the factors multiply. –: "
                       "measured together with the next that has a factor."));
}

/* --- reasons and advice ------------------------------------------------------------------------ */

static const char *
preset_title (DynoPresetVerdict verdict)
{
  switch (verdict)
    {
    case DYNO_PRESET_VERDICT_HOLDS:
      return _ ("The preset's advice holds");
    case DYNO_PRESET_VERDICT_TOO_BIG:
      return _ ("The preset asks for too much");
    case DYNO_PRESET_VERDICT_LEAVES_UNUSED:
      return _ ("The preset leaves speed unused");
    case DYNO_PRESET_VERDICT_FAILED:
      return _ ("The preset's settings failed");
    case DYNO_PRESET_VERDICT_UNKNOWN:
    default:
      return _ ("The preset");
    }
}

static void
write_advice (DynoReport *report, const char *title, const char *text)
{
  if (text)
    dyno_html_printf (report->html, "<section class=\"advice\"><h3>%s</h3><p>%s</p></section>\n",
                      title, text);
}

/* TRUE: the reason has a card or a figure of its own. */
static gboolean
is_distinguished (const DynoTuneResult *r, const char *reason)
{
  return g_strcmp0 (reason, r->lr_advice) == 0 || g_strcmp0 (reason, r->preset_text) == 0
         || g_strcmp0 (reason, r->amp_text) == 0;
}

static void
write_reasons (DynoReport *report)
{
  const DynoTuneResult *r = report->result;
  GString *html = report->html;

  if (r->reasons && r->reasons[0])
    {
      dyno_html_printf (html, "<section><h2>%s</h2><ul class=\"reasons\">\n", _ ("Why"));
      for (guint i = 0; r->reasons[i]; i++)
        if (!is_distinguished (r, r->reasons[i]))
          dyno_html_printf (html, "<li>%s</li>\n", r->reasons[i]);
      g_string_append (html, "</ul></section>\n");
    }
  g_string_append (html, "<div class=\"cards\">\n");
  write_advice (report, _ ("Learning rate"), r->lr_advice);
  write_advice (report, preset_title (r->preset_verdict), r->preset_text);
  if (r->stopped)
    write_advice (report, _ ("Stopped"),
                  _ ("The search was stopped before it was over; what it had measured is here."));
  g_string_append (html, "</div>\n");
}

/* --- the page ---------------------------------------------------------------------------------- */

static void
write_head (GString *html, const char *title, const DynoJob *job)
{
  g_autoptr (GBytes) style = g_resource_lookup_data (dyno_report_get_resource (), STYLE,
                                                     G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);

  dyno_html_printf (html,
                    "<!DOCTYPE html>\n"
                    "<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"%s\"><head>\n"
                    "<meta charset=\"UTF-8\"/>\n"
                    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
                    "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
                    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                    "style-src 'unsafe-inline'\"/>\n"
                    "<title>%s: %s, %s</title>\n<style>\n",
                    /* TRANSLATORS: the code of your language, for browsers: "de" */
                    C_ ("language of the report", "en"), title, job->model,
                    job->data ? job->data : "");
  g_string_append_len (html, g_bytes_get_data (style, NULL), (gssize) g_bytes_get_size (style));
  g_string_append (html, "</style></head><body><main>\n");
}

void
dyno_report_begin (GString *html, const char *title, const DynoJob *job, const char *device)
{
  g_autofree char *day = dyno_export_day ();

  write_head (html, title, job);
  dyno_html_printf (html, "<header><p class=\"brand\">%s</p><p>", title);
  dyno_html_printf (html, "<b>%s</b> · %s", job->model, job->data ? job->data : "–");
  if (device)
    dyno_html_printf (html, " · %s", device);
  dyno_html_printf (html, " · %s</p></header>\n", day);
}

char *
dyno_report_html (const DynoTuneResult *result, const DynoReportContext *context)
{
  DynoReport report = { g_string_new (NULL), result, context };
  g_autofree char *took = dyno_amount_duration (result->seconds), *foot = NULL;

  dyno_report_begin (report.html, _ ("Dyno tuning report"), result->job, result->device);
  write_verdict (&report);
  write_comparison (&report);
  write_gains (&report);
  write_reasons (&report);
  dyno_report_write_plots (&report);
  dyno_report_write_losses (&report);
  dyno_report_write_trials (&report);
  dyno_report_write_settings (&report);
  dyno_report_write_machine (&report);
  foot = g_strdup_printf (ngettext ("Dyno %s; the search took %s and made %u trial.",
                                    "Dyno %s; the search took %s and made %u trials.",
                                    result->trials->len),
                          DYNO_VERSION, took, result->trials->len);
  dyno_html_printf (report.html, "<footer>%s</footer></main></body></html>\n", foot);
  return g_string_free (report.html, FALSE);
}
