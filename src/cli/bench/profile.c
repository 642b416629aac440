/* SPDX-License-Identifier: MIT */
/* dynoctl profile: the time of a step of a job, layer by layer: forward and backward pass, and the
 * memory in use.  It trains one step on the job's data with a learning rate of 0, then times the
 * dispatches of a step one after the other.  Dispatches that overlap in a run do not overlap here,
 * so the sum exceeds the time of a step. */
#include "chrometrace.h"
#include "engine.h"
#include "job-options.h"
#include "layertimes.h"
#include "amount.h"
#include "op.h"
#include "output.h"
#include "progress.h"
#include "signals.h"
#include "text.h"
#include "uploader.h"
#include <string.h>

#define MOST_REPEATS 101

typedef struct {
  const DynoCliJob *cli_job;
  DynoEngine *engine;
  GPtrArray *dispatches; /* DynoDispatch, owned by the program */
  double *times_us;      /* of each dispatch */
  guint *layer_of;       /* index into layers for each dispatch */
  guint64 *live_bytes;   /* memory in use during each dispatch */
  GArray *layers;        /* DynoLayerTimes */
} Profile;

static void
profile_clear (Profile *p)
{
  g_clear_pointer (&p->layers, g_array_unref);
  g_clear_pointer (&p->engine, dyno_engine_free);
  g_free (p->times_us);
  g_free (p->layer_of);
  g_free (p->live_bytes);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Profile, profile_clear)

static void
on_progress (const char *what, guint done, guint total, gpointer data)
{
  const char *words = strcmp (what, "compile") == 0 ? "compiling kernels" : what;

  dyno_progress_show (data, words, total > 0 ? (double) done / total : 0, "");
}

static void
on_warning (const char *text, gpointer data)
{
  dyno_error_line ("dynoctl profile: warning: %s", text);
}

/* --- measuring -------------------------------------------------------------------------------- */

/* Runs one step, so that slot 0 holds a batch of the data. */
static gboolean
run_step (DynoEngine *engine, GError **error)
{
  GCancellable *cancellable = dyno_signals_get_cancellable ();
  const DynoStepOrder order = { .batches = 1 };
  DynoStepResult result;
  gboolean has_result, unfinished;

  if (engine->training.uploader)
    dyno_loader_start_epoch (dyno_uploader_get_loader (engine->training.uploader), 0, 0);
  return dyno_stepper_run (engine->stepper, &order, &engine->job->settings, cancellable,
                           cancellable, &result, &has_result, error)
         && dyno_stepper_drain (engine->stepper, &result, &has_result, &unfinished, error);
}

static gboolean
build (Profile *p, DynoProgress *progress, GError **error)
{
  const DynoEngineWatch watch = { on_progress, on_warning, progress };
  GCancellable *cancellable = dyno_signals_get_cancellable ();
  guint64 tracked;

  p->engine = dyno_engine_open_split (NULL, p->cli_job->job, p->cli_job->dataset, &watch, error);
  return p->engine && dyno_engine_shrink (p->engine, error)
         && dyno_engine_autotune (p->engine, &watch, cancellable, error)
         && dyno_engine_build (p->engine, &watch, cancellable, error)
         && dyno_engine_initialise (p->engine, &watch, &tracked, error);
}

static gboolean
measure (Profile *p, guint repeats, GError **error)
{
  DynoLowering *lowering;

  if (!run_step (p->engine, error))
    return FALSE;
  lowering = dyno_program_get_lowering (dyno_engine_get_program (p->engine));
  p->dispatches = dyno_lowering_get_dispatches (lowering);
  p->times_us = g_new0 (double, p->dispatches->len + 1);
  p->layer_of = g_new0 (guint, p->dispatches->len + 1);
  if (!dyno_program_time_dispatches (dyno_engine_get_program (p->engine), repeats, p->times_us,
                                     dyno_signals_get_cancellable (), error))
    return FALSE;
  p->live_bytes = dyno_dispatches_live_bytes (p->dispatches);
  p->layers = dyno_layer_times_list (lowering, p->times_us, p->layer_of);
  return TRUE;
}

/* --- output ----------------------------------------------------------------------------------- */

static const DynoLayerTimes *
get_layer (const Profile *p, guint i)
{
  return &g_array_index (p->layers, DynoLayerTimes, i);
}

static double
get_us (const DynoLayerTimes *layer)
{
  return layer->us[DYNO_STAGE_FORWARD] + layer->us[DYNO_STAGE_BACKWARD]
         + layer->us[DYNO_STAGE_OPTIMIZER];
}

/* The sums over all layers.  *peak: the name of the first layer with the maximum of memory. */
static DynoLayerTimes
add_up (const Profile *p, const char **peak)
{
  DynoLayerTimes sum = { .name = NULL };

  *peak = "";
  for (guint i = 0; i < p->layers->len; i++)
    {
      const DynoLayerTimes *layer = get_layer (p, i);

      for (guint stage = 0; stage < G_N_ELEMENTS (sum.us); stage++)
        sum.us[stage] += layer->us[stage];
      sum.flops += layer->flops;
      sum.bytes += layer->bytes;
      sum.dispatches += layer->dispatches;
      if (layer->live_bytes > sum.live_bytes)
        *peak = layer->name;
      sum.live_bytes = MAX (sum.live_bytes, layer->live_bytes);
    }
  return sum;
}

static void
print_members (DynoJson *json, const DynoLayerTimes *layer)
{
  dyno_json_double (json, "forward_us", layer->us[DYNO_STAGE_FORWARD]);
  dyno_json_double (json, "backward_us", layer->us[DYNO_STAGE_BACKWARD]);
  dyno_json_double (json, "optimizer_us", layer->us[DYNO_STAGE_OPTIMIZER]);
  dyno_json_double (json, "gflop", (double) layer->flops / 1e9);
  dyno_json_double (json, "mb", (double) layer->bytes / 1e6);
  dyno_json_uint (json, "live_bytes", layer->live_bytes);
  dyno_json_uint (json, "dispatches", layer->dispatches);
}

static void
print_json (const Profile *p)
{
  const char *peak;
  const DynoLayerTimes sum = add_up (p, &peak);
  DynoJson json;

  for (guint i = 0; i <= p->layers->len; i++)
    {
      const DynoLayerTimes *layer = i < p->layers->len ? get_layer (p, i) : &sum;

      dyno_json_init (&json, 0);
      dyno_json_begin_object (&json, NULL);
      dyno_json_string (&json, "event", layer == &sum ? "total" : "layer");
      if (layer == &sum)
        {
          dyno_json_string (&json, "device", dyno_device_get_info (p->engine->device)->name);
          dyno_json_string (&json, "model", p->engine->job->model);
          dyno_json_int (&json, "batch_size", p->engine->job->settings.batch_size);
          dyno_json_uint (&json, "micro_batches", p->engine->parts);
          dyno_json_bool (&json, "amp", p->engine->job->settings.amp);
          dyno_json_string (&json, "peak_layer", peak);
        }
      else
        {
          dyno_json_string (&json, "name", layer->name);
          dyno_json_string (&json, "kind", layer->kind);
        }
      print_members (&json, layer);
      dyno_json_end_object (&json);
      dyno_out_json (&json);
      dyno_json_clear (&json);
    }
}

static char *
milliseconds (double us)
{
  return us > 0 ? g_strdup_printf ("%.3f", us / 1e3) : g_strdup ("");
}

static void
add_row (DynoTable *table, const char *name, const char *kind, const DynoLayerTimes *layer,
         double total_us)
{
  double us = get_us (layer);

  dyno_table_add (
      table, g_strdup (name), g_strdup (kind), milliseconds (layer->us[DYNO_STAGE_FORWARD]),
      milliseconds (layer->us[DYNO_STAGE_BACKWARD]), milliseconds (layer->us[DYNO_STAGE_OPTIMIZER]),
      total_us > 0 ? g_strdup_printf ("%.1f %%", 100 * us / total_us) : g_strdup ("-"),
      g_strdup_printf ("%.2f", (double) layer->flops / 1e9),
      us > 0 ? dyno_text_rate ((double) layer->flops / us / 1e6) : g_strdup ("-"),
      dyno_amount_bytes (layer->live_bytes, " "), NULL);
}

static void
print_text (const Profile *p)
{
  g_autoptr (DynoTable) table =
      dyno_table_new ("layer", "kind", "forward ms", "backward ms", "optimizer ms", "share",
                      "GFLOP", "TFLOP/s", "in use", NULL);
  const DynoSettings *s = &p->engine->job->settings;
  const char *peak;
  const DynoLayerTimes sum = add_up (p, &peak);
  g_autofree char *most = dyno_amount_bytes (sum.live_bytes, " ");

  for (guint i = 0; i < p->layers->len; i++)
    add_row (table, get_layer (p, i)->name, get_layer (p, i)->kind, get_layer (p, i),
             get_us (&sum));
  add_row (table, "sum", "", &sum, get_us (&sum));
  dyno_out_line ("%s, batch %" G_GINT64_FORMAT ", %s on %s: %u %s one after the other",
                 p->engine->job->model, s->batch_size / p->engine->parts, s->amp ? "AMP" : "fp32",
                 dyno_device_get_info (p->engine->device)->name, sum.dispatches,
                 dyno_plural (sum.dispatches, "kernel", "kernels"));
  if (p->engine->parts > 1)
    dyno_out_line ("a micro-batch: a batch of %" G_GINT64_FORMAT " goes through the device in %u",
                   s->batch_size, p->engine->parts);
  if (get_us (&sum) <= 0)
    dyno_out_line ("this device has no timestamps: times read 0");
  dyno_table_print (table);
  dyno_out_line ("%s", "");
  dyno_out_line ("most memory of activations: %s, in %s", most, peak);
}

/* --- as a trace ------------------------------------------------------------------------------- */

/* The end of the successive dispatches from `first` on with the same stage and, if layer is TRUE,
 * the same layer. */
static guint
find_end (const Profile *p, guint first, gboolean layer)
{
  guint end = first + 1;

  while (end < p->dispatches->len
         && ((const DynoDispatch *) p->dispatches->pdata[end])->stage
                == ((const DynoDispatch *) p->dispatches->pdata[first])->stage
         && (!layer || p->layer_of[end] == p->layer_of[first]))
    end++;
  return end;
}

static void
trace_span (DynoTrace *trace, const Profile *p, guint first, guint end, const char *name,
            const char *category, double at_us)
{
  double us = 0;
  DynoJson *json;

  for (guint i = first; i < end; i++)
    us += p->times_us[i];
  json = dyno_trace_begin (trace, 1, 1, name, category, at_us, us);
  dyno_json_double (json, "us", us);
  dyno_trace_end (trace);
}

static void
trace_dispatch (DynoTrace *trace, const Profile *p, guint i, double at_us)
{
  const DynoDispatch *d = p->dispatches->pdata[i];
  g_autofree char *name = g_strdup_printf ("%s %s", d->node->name, d->pass);
  DynoJson *json = dyno_trace_begin (trace, 1, 1, name, "kernel", at_us, p->times_us[i]);

  dyno_json_string (json, "op", d->node->op->name);
  dyno_json_string (json, "kernel", d->spec.shader);
  dyno_json_double (json, "gflop", (double) d->flops / 1e9);
  dyno_json_double (json, "mb", (double) d->bytes / 1e6);
  dyno_trace_end (trace);
  dyno_trace_count (trace, 1, "activations", "MB", at_us, (double) p->live_bytes[i] / 1e6);
}

/* Spans of stages contain those of layers, which contain those of kernels; the memory in use is a
 * curve. */
static gboolean
write_trace (const Profile *p, const char *path, GError **error)
{
  g_autoptr (DynoTrace) trace = dyno_trace_new (path, error);
  guint stage_end = 0, layer_end = 0;
  double at_us = 0;

  if (!trace)
    return FALSE;
  dyno_trace_name_process (trace, 1, p->engine->job->model);
  dyno_trace_name_thread (trace, 1, 1, dyno_device_get_info (p->engine->device)->name);
  for (guint i = 0; i < p->dispatches->len; i++)
    {
      if (i == stage_end)
        {
          stage_end = find_end (p, i, FALSE);
          trace_span (trace, p, i, stage_end,
                      dyno_stage_name (((const DynoDispatch *) p->dispatches->pdata[i])->stage),
                      "stage", at_us);
        }
      if (i == layer_end)
        {
          layer_end = find_end (p, i, TRUE);
          trace_span (trace, p, i, layer_end, get_layer (p, p->layer_of[i])->name, "layer", at_us);
        }
      trace_dispatch (trace, p, i, at_us);
      at_us += p->times_us[i];
    }
  dyno_trace_count (trace, 1, "activations", "MB", at_us, 0);
  return dyno_trace_finish (g_steal_pointer (&trace), error);
}

/* --- the verb --------------------------------------------------------------------------------- */

static gboolean
run (Profile *p, guint repeats, const char *trace, gboolean as_json, GError **error)
{
  DynoProgress progress;

  dyno_progress_init (&progress, NULL, as_json);
  gboolean good = build (p, &progress, error) && measure (p, repeats, error);
  dyno_progress_clear (&progress);
  if (!good || (trace && !write_trace (p, trace, error)))
    return FALSE;
  if (as_json)
    print_json (p);
  else
    print_text (p);
  return TRUE;
}

int
dyno_verb_profile (int argc, char **argv)
{
  g_auto (DynoJobOptions) options = { 0 };
  g_auto (DynoCliJob) cli_job = { 0 };
  g_auto (Profile) profile = { 0 };
  g_autofree GOptionEntry *entries = NULL;
  g_autofree char *trace = NULL;
  g_autoptr (GError) error = NULL;
  gint64 repeats = 11;
  int code;
  const GOptionEntry own[] = {
    { "repeats", 0, 0, G_OPTION_ARG_INT64, &repeats,
      "Time each kernel so often, and take the median (default: 11)", "N" },
    { "trace", 0, 0, G_OPTION_ARG_FILENAME, &trace,
      "Also write the step as a trace to FILE, which Perfetto opens: stages, layers, kernels, "
      "memory",
      "FILE" },
    { NULL },
  };

  dyno_job_options_init (&options);
  entries = dyno_job_options_entries (&options, own);
  if (!dyno_cli_parse (
          argc, argv, "--data DATA --model MODEL",
          "Shows the time of a step, layer by layer: forward, backward, memory in use.", entries,
          NULL, NULL, 0, &code))
    return code;
  if (repeats < 1 || repeats > MOST_REPEATS)
    return dyno_cli_usage (argv[0], "--repeats is 1 to %d", MOST_REPEATS);
  dyno_signals_get_cancellable ();
  dyno_signals_catch ();
  if (!dyno_job_options_resolve (argv[0], &options, &cli_job, &code))
    return code;
  profile.cli_job = &cli_job;
  if (!run (&profile, (guint) repeats, trace, options.json, &error))
    {
      if (dyno_signals_get ())
        return dyno_signals_exit_code (dyno_signals_get ());
      return dyno_cli_fail (g_steal_pointer (&error), options.json);
    }
  return DYNO_EXIT_OK;
}
