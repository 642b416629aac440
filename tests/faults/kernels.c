/* SPDX-License-Identifier: MIT */
/* Kernels that fail, through the layer of tests/layer: another variant is used, and the failed one
 * is remembered.  The test has a cache folder of its own, except for compiled kernels. */
#include "../train/train-test.h"
#include "file.h"
#include "graph.h"
#include "nn-error.h"
#include "ops.h"
#include "train-error.h"
#include "vet.h"
#include <glib/gstdio.h>
#include <gmodule.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

static void (*set_faults) (const char *words);
static guint64 (*count_calls) (const char *what);

static void G_GNUC_PRINTF (1, 2) fault (const char *format, ...)
{
  va_list arguments;
  g_autofree char *words = NULL;

  va_start (arguments, format);
  words = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  set_faults (words);
}

/* Trains some steps of two linear layers, which are convolutions. */
static void
train_in (TestRun *run, const char *precision)
{
  g_autoptr (DynoJob) job = test_job ("mlp", "builtin:shapes?size=16&samples=100&classes=3");

  test_job_set (job, "model.width=0.0625", "lr=0.01", precision, NULL);
  job->max_steps = 3;
  test_run (run, job, NULL, NULL);
}

static void
train (TestRun *run)
{
  train_in (run, "amp=false");
}

static void
assert_near (const TestRun *run, const TestRun *whole)
{
  g_assert_no_error (run->error);
  g_assert_cmpint (run->state, ==, DYNO_SESSION_FINISHED);
  g_assert_cmpuint (run->losses->len, ==, whole->losses->len);
  for (guint i = 0; i < whole->losses->len; i++)
    g_assert_cmpfloat_with_epsilon (g_array_index (run->losses, double, i),
                                    g_array_index (whole->losses, double, i), 1e-4);
}

static guint
count_warnings (const TestRun *run, const char *word)
{
  guint n = 0;

  for (guint i = 0; i < run->warnings->len; i++)
    n += strstr (g_ptr_array_index (run->warnings, i), word) != NULL;
  return n;
}

static DynoDevice *
open_device (void)
{
  g_autoptr (GError) error = NULL;
  DynoDevice *device = dyno_device_open (&(DynoDeviceParams){ .index = -1 }, &error);

  g_assert_no_error (error);
  return device;
}

/* The choices on disk for the device. */
static DynoChoices *
load_choices (void)
{
  static char *key;

  if (!key)
    {
      g_autoptr (DynoDevice) device = open_device ();

      key = g_strdup (dyno_device_get_key (device));
    }
  return dyno_choices_load (key);
}

static void
forget_choices (void)
{
  g_autofree char *folder = dyno_cache_dir ("choices");

  test_remove_tree (folder);
}

/* Any pipeline may fail: a variant is replaced, named once and remembered; any other kernel ends
 * the run and is named. */
static void
test_each_pipeline (void)
{
  g_auto (TestRun) whole = { 0 };
  g_auto (TestRun) half = { 0 };
  guint n_replaced = 0, n_ended = 0;
  guint64 last_ended = 0;

  set_faults ("");
  forget_choices ();
  train (&whole);
  assert_near (&whole, &whole);
  guint64 all = count_calls ("pipelines");
  g_assert_cmpuint (all, >, 10);
  for (guint64 n = 1; n <= all; n += 1 + n / 8)
    {
      g_auto (TestRun) run = { 0 };
      g_auto (TestRun) again = { 0 };

      forget_choices ();
      fault ("pipeline=%" G_GUINT64_FORMAT, n);
      train (&run);
      set_faults ("");
      g_autoptr (DynoChoices) choices = load_choices ();
      if (run.error)
        {
          g_assert_error (run.error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_SHADER);
          g_assert_nonnull (strstr (run.error->message, ".comp"));
          g_assert_null (strstr (run.error->message, "amp")); /* the run is fp32 already */
          last_ended = n;
          g_assert_cmpuint (dyno_choices_count_refusals (choices), ==, 0);
          n_ended++;
          continue;
        }
      n_replaced++;
      assert_near (&run, &whole);
      g_assert_cmpuint (count_warnings (&run, "is not used here"), ==, 1);
      g_assert_true (test_has_warning (&run, "conv2d/"));
      g_assert_cmpuint (dyno_choices_count_refusals (choices), ==, 1);
      if (n_replaced > 1)
        continue;
      train (&again);
      assert_near (&again, &run);
      g_assert_cmpuint (count_warnings (&again, "is not used here"), ==, 0);
    }
  g_test_message ("%u replaced, %u ended", n_replaced, n_ended);
  g_assert_cmpuint (n_replaced, >=, 2);
  g_assert_cmpuint (n_ended, >=, 2);
  /* fp16 has other pipelines, in another order than fp32: the loop goes down to the next pipeline
   * that cannot be replaced. */
  for (guint64 n = last_ended; n > 0 && !half.error; n--)
    {
      test_run_clear (&half);
      forget_choices ();
      fault ("pipeline=%" G_GUINT64_FORMAT, n);
      train_in (&half, "amp=true");
      set_faults ("");
    }
  g_assert_error (half.error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_SHADER);
  g_assert_true (
      g_str_has_suffix (half.error->message, "update the driver, or train with amp=false"));
  forget_choices ();
}

/* The kernels of a CPU's tiles, which have workgroups of 8 (and many constants), compute nothing:
 * the self-test detects them before they are used, others replace them, and this is remembered.
 * Without the fault, a start tests once. */
static void
test_wrong_results (void)
{
  g_auto (TestRun) whole = { 0 };
  g_auto (TestRun) warm = { 0 };
  g_auto (TestRun) run = { 0 };
  g_auto (TestRun) again = { 0 };
  guint64 cold_submits, n_kernels;

  g_setenv ("DYNO_SELF_TEST", "1", TRUE);
  set_faults ("");
  forget_choices ();
  train (&whole);
  cold_submits = count_calls ("submits");
  n_kernels = count_calls ("pipelines");
  train (&warm);
  assert_near (&warm, &whole);
  g_assert_cmpuint (count_calls ("submits"), <, cold_submits);
  g_assert_cmpuint (count_calls ("pipelines"), <, n_kernels);

  forget_choices ();
  fault ("%s", "idle-size=8,idle-constant=8");
  train (&run);
  assert_near (&run, &whole);
  g_assert_cmpuint (count_warnings (&run, "is not used here"), >=, 3);
  g_assert_cmpuint (count_warnings (&run, "self-test"), ==,
                    count_warnings (&run, "is not used here"));
  g_assert_true (test_has_warning (&run, "conv2d.wgrad f32 lanes"));
  fault ("%s", "idle-size=8,idle-constant=8");
  train (&again);
  assert_near (&again, &whole);
  g_assert_cmpuint (count_warnings (&again, "is not used here"), ==, 0);
  g_unsetenv ("DYNO_SELF_TEST");
  set_faults ("");
  forget_choices ();
}

static void
count_refused (const char *variant, const char *why, gpointer data)
{
  g_test_message ("%s: %s", variant, why);
  (*(guint *) data)++;
}

/* If no variant of a choice is left, the error names one, and the next start tries again. */
static void
test_none_left (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoGraph) graph = dyno_graph_new (&(DynoGraphParams){ .batch = 1 });
  guint n_refused = 0;
  DynoVetWatch watch = { .refused = count_refused, .data = &n_refused };

  dyno_conv2d (graph, dyno_graph_activation (graph, "x", 1, 8, 8, 8), "conv",
               &(DynoConv2dParams){ .out_channels = 8,
                                    .kernel_h = 3,
                                    .kernel_w = 3,
                                    .stride_h = 1,
                                    .stride_w = 1,
                                    .pad_h = 1,
                                    .pad_w = 1 });
  set_faults ("pipelines=1");
  g_autoptr (DynoDevice) device = open_device ();
  g_autoptr (DynoChoices) choices = dyno_choices_load (dyno_device_get_key (device));
  g_autoptr (DynoLowering) lowering = dyno_vet_lower (device, graph, choices, &watch, NULL, &error);
  g_assert_null (lowering);
  g_assert_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_KERNEL);
  g_test_message ("%s", error->message);
  g_assert_nonnull (strstr (error->message, "conv2d/forward.comp"));
  g_assert_cmpuint (n_refused, >=, 5);
  g_autoptr (DynoChoices) kept = dyno_choices_load (dyno_device_get_key (device));
  g_assert_cmpuint (dyno_choices_count_refusals (kept), ==, 0);
  set_faults ("");
}

/* With one processor, and so one compiling thread, the N-th pipeline is the same in each run. */
static void
use_one_processor (void)
{
  cpu_set_t set;

  g_assert_cmpint (sched_getaffinity (0, sizeof set, &set), ==, 0);
  for (int i = 0, found = 0; i < CPU_SETSIZE; i++)
    if (CPU_ISSET (i, &set) && found++ > 0)
      CPU_CLR (i, &set);
  g_assert_cmpint (sched_setaffinity (0, sizeof set, &set), ==, 0);
}

static void
use_own_cache (void)
{
  static const char *const shared[] = { "dyno/shaders", "dyno/pipelines", "mesa_shader_cache" };
  g_autofree char *folder = g_dir_make_tmp ("dyno-kernels-XXXXXX", NULL),
                  *dyno = g_build_filename (folder, "dyno", NULL);

  g_assert_cmpint (g_mkdir (dyno, 0755), ==, 0);
  for (guint i = 0; g_getenv ("XDG_CACHE_HOME") && i < G_N_ELEMENTS (shared); i++)
    {
      g_autofree char *from = g_build_filename (g_getenv ("XDG_CACHE_HOME"), shared[i], NULL),
                      *to = g_build_filename (folder, shared[i], NULL);
      g_assert_cmpint (g_mkdir_with_parents (from, 0755), ==, 0);
      g_assert_cmpint (symlink (from, to), ==, 0);
    }
  g_setenv ("XDG_CACHE_HOME", folder, TRUE);
}

int
main (int argc, char **argv)
{
  GModule *module;
  int code;

  use_one_processor ();
  use_own_cache ();
  g_test_init (&argc, &argv, NULL);
  module = g_module_open (g_getenv ("DYNO_FAULTS_LAYER"), G_MODULE_BIND_LAZY);
  g_assert_nonnull (module);
  g_assert_true (g_module_symbol (module, "dyno_faults_set", (gpointer *) &set_faults));
  g_assert_true (g_module_symbol (module, "dyno_faults_count", (gpointer *) &count_calls));
  g_test_add_func ("/faults/kernels/one-that-fails-is-replaced", test_each_pipeline);
  g_test_add_func ("/faults/kernels/one-that-computes-wrongly-is-replaced", test_wrong_results);
  g_test_add_func ("/faults/kernels/none-left-is-an-error", test_none_left);
  code = g_test_run ();
  test_remove_tree (g_getenv ("XDG_CACHE_HOME"));
  return code;
}
