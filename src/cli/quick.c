/* SPDX-License-Identifier: MIT */
/* dynoctl quick: measures what this machine can do, in under a minute. */
#include "quicktext.h"
#include "diagnose.h"
#include "diagnosistext.h"
#include "output.h"
#include "progress.h"
#include "signals.h"
#include "text.h"
#include <math.h>
#include <string.h>

static void
on_progress (const char *what, double fraction, gpointer data)
{
  const char *words = strcmp (what, "copy") == 0       ? "memory and arithmetic"
                      : strcmp (what, "loader") == 0   ? "making samples"
                      : strcmp (what, "training") == 0 ? "training on the device"
                                                       : "the device beside the CPU";

  dyno_progress_show (data, words, fraction, "");
}

static double
known (double value)
{
  return value > 0 ? value : (double) NAN;
}

static void
add_epoch (DynoJson *json, const char *key, const DynoQuickEpoch *epoch, guint n)
{
  dyno_json_begin_object (json, key);
  dyno_json_double (json, "predict_samples_per_s", epoch->predict_samples_per_s);
  dyno_json_double (json, "epoch_s", epoch->epoch_s);
  dyno_json_uint (json, "epoch_samples", n);
  dyno_json_end_object (json);
}

static void
print_json (const DynoQuick *q)
{
  const DynoCeilings *c = &q->ceilings;
  DynoJson json;

  dyno_json_init (&json, 0);
  dyno_json_begin_object (&json, NULL);
  dyno_json_string (&json, "device", q->device.name);
  dyno_json_bool (&json, "software", q->device.type == DYNO_DEVICE_TYPE_SOFTWARE);
  dyno_json_double (&json, "copy_gb_per_s", known (c->copy_bytes_per_s / 1e9));
  dyno_json_double (&json, "fp32_tflop_per_s", known (c->single_flops_per_s / 1e12));
  dyno_json_double (&json, "matrix_tflop_per_s", known (c->matrix_flops_per_s / 1e12));
  dyno_json_uint (&json, "cores", q->cores);
  dyno_json_double (&json, "loader_samples_per_s", q->loader_samples_per_s);
  dyno_json_string (&json, "workload", q->workload);
  dyno_json_bool (&json, "amp", q->amp);
  dyno_json_double (&json, "samples_per_s", q->samples_per_s);
  dyno_json_double (&json, "step_ms", q->step_ms);
  dyno_json_uint (&json, "vram_bytes", q->vram_bytes);
  dyno_json_string (&json, "cpu", q->cpu_name);
  dyno_json_double (&json, "cpu_samples_per_s", q->cpu_samples_per_s);
  dyno_json_double (&json, "beside_samples_per_s", q->beside_samples_per_s);
  add_epoch (&json, "epoch", &q->epoch, q->n_train);
  add_epoch (&json, "cpu_epoch", &q->cpu_epoch, q->n_beside);
  add_epoch (&json, "beside_epoch", &q->beside_epoch, q->n_beside);
  dyno_json_string (&json, "preset", q->preset ? q->preset->id : NULL);
  dyno_json_double (&json, "expected_least", q->expected_least);
  dyno_json_double (&json, "expected_most", q->expected_most);
  dyno_json_double (&json, "seconds", q->seconds);
  dyno_findings_add_json (&json, "findings", q->findings);
  dyno_json_end_object (&json);
  dyno_out_json (&json);
  dyno_json_clear (&json);
}

static char *
amount (double value, const char *unit)
{
  g_autofree char *number = value > 0 ? dyno_text_rate (value) : NULL;

  return number ? g_strconcat (number, " ", unit, NULL) : g_strdup ("not measured");
}

static char *
amount_of_flops (double per_s)
{
  return per_s < 1e11 ? amount (per_s / 1e9, "GFLOP/s") : amount (per_s / 1e12, "TFLOP/s");
}

/* "2,940 samples/s, and 0.72 s an epoch of 1,843 samples". */
static char *
describe_epoch (const DynoQuickEpoch *epoch, guint n)
{
  g_autofree char *rate = amount (epoch->predict_samples_per_s, "samples/s"),
                  *all = dyno_text_rate (n);

  return epoch->epoch_s > 0
             ? g_strdup_printf ("%s, and %.3g s an epoch of %s samples", rate, epoch->epoch_s, all)
             : g_steal_pointer (&rate);
}

static void
print_text (const DynoQuick *q)
{
  const DynoCeilings *c = &q->ceilings;
  g_autofree char *copy = amount (c->copy_bytes_per_s / 1e9, "GB/s"),
                  *single = amount_of_flops (c->single_flops_per_s),
                  *matrix = amount_of_flops (c->matrix_flops_per_s),
                  *loader = amount (q->loader_samples_per_s, "samples/s"),
                  *training = amount (q->samples_per_s, "samples/s"),
                  *cpu = amount (q->cpu_samples_per_s, "samples/s"),
                  *beside = amount (q->beside_samples_per_s, "samples/s"),
                  *epoch = describe_epoch (&q->epoch, q->n_train),
                  *cpu_epoch = describe_epoch (&q->cpu_epoch, q->n_beside),
                  *beside_epoch = describe_epoch (&q->beside_epoch, q->n_beside);

  dyno_out_line ("%s%s", q->device.name,
                 q->device.type == DYNO_DEVICE_TYPE_SOFTWARE ? " (software, slow)" : "");
  dyno_out_line ("memory copy    %s", copy);
  dyno_out_line ("fp32           %s", single);
  if (c->matrix_flops_per_s > 0)
    dyno_out_line ("fp16, matrix   %s", matrix);
  dyno_out_line ("samples made   %s by %u %s, 224 x 224", loader, q->cores,
                 dyno_plural (q->cores, "core", "cores"));
  dyno_out_line ("training       %s: %s%s", training, q->workload, q->amp ? ", AMP" : ", fp32");
  dyno_out_line ("predicting     %s", epoch);
  if (q->cpu_name)
    {
      dyno_out_line ("on the CPU     %s by %s, %s by the device: SimpleCNN 32 x 32, fp32", cpu,
                     q->cpu_name, beside);
      dyno_out_line ("  predicting   %s", cpu_epoch);
      dyno_out_line ("  the device   %s", beside_epoch);
    }
  if (q->preset && q->expected_least > 0)
    {
      const DynoPresetRange rate = { q->expected_least, q->expected_most };
      g_autofree char *expected = dyno_preset_quantity_describe (DYNO_PRESET_SAMPLES_PER_S, &rate);

      dyno_out_line ("expected       %s (preset %s, its guides' networks)", expected,
                     q->preset->id);
    }
  dyno_out_line ("%s", "");
  dyno_findings_print (q->findings);
  dyno_out_line ("%s", "");
  dyno_out_line ("%.0f s; dynoctl tune finds the settings for your own data", q->seconds);
}

void
dyno_quick_print (const DynoQuick *quick, gboolean json)
{
  if (json)
    print_json (quick);
  else
    print_text (quick);
}

int
dyno_verb_quick (int argc, char **argv)
{
  DynoQuickParams params = { .device = -1 };
  g_autofree char *preset = NULL;
  g_autoptr (DynoQuick) quick = NULL;
  g_autoptr (GError) error = NULL;
  gboolean as_json = FALSE;
  DynoProgress progress;
  int code;
  const GOptionEntry entries[] = {
    { "device", 0, 0, G_OPTION_ARG_INT, &params.device, "Device by its number in dynoctl devices",
      "N" },
    { "preset", 'p', 0, G_OPTION_ARG_STRING, &preset,
      "Compare with this preset (default: that of the card)", "NAME" },
    { "seconds", 0, 0, G_OPTION_ARG_DOUBLE, &params.seconds, "Of each measurement; 4 by default",
      "S" },
    { "no-cpu", 0, 0, G_OPTION_ARG_NONE, &params.without_cpu,
      "Leave out the comparison with the CPU", NULL },
    { "json", 0, 0, G_OPTION_ARG_NONE, &as_json, "One JSON object", NULL },
    { NULL },
  };

  if (!dyno_cli_parse (argc, argv, "",
                       "Measures this machine in under a minute: memory, arithmetic, making "
                       "samples, a small training, and its speed as a multiple of the CPU's.",
                       entries, "Signs: + good, ! look at it, !! wrong.", NULL, 0, &code))
    return code;
  if (params.device < -1)
    return dyno_cli_usage (argv[0], "--device %d: it is 0 or more", params.device);
  if (!(params.seconds >= 0 && params.seconds <= 10))
    return dyno_cli_usage (argv[0], "--seconds %g: it is between 0 and 10", params.seconds);
  params.preset = preset;
  dyno_signals_get_cancellable ();
  dyno_signals_catch ();
  dyno_progress_init (&progress, NULL, as_json);
  quick = dyno_quick_run (&params, on_progress, &progress, dyno_signals_get_cancellable (), &error);
  dyno_progress_clear (&progress);
  if (!quick && dyno_signals_get ())
    return (int) dyno_signals_exit_code (dyno_signals_get ());
  if (!quick)
    return dyno_cli_fail (g_steal_pointer (&error), as_json);
  dyno_quick_print (quick, as_json);
  return DYNO_EXIT_OK;
}
