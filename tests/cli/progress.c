/* SPDX-License-Identifier: MIT */
/* The plain progress lines of a run, as they are printed without a terminal, and its end; frames of
 * dynoctl watch. */
#include "progress.h"
#include "watchframe.h"
#include <math.h>
#include <string.h>

/* Makes the next line due, whatever time it is. */
static void
make_due (DynoProgress *progress)
{
  progress->last_us = -(gint64) G_MAXINT64 / 2;
}

static void
print_latest (void)
{
  DynoProgress progress;

  dyno_progress_init (&progress, NULL, FALSE);
  make_due (&progress);
  dyno_progress_show (&progress, "compiling", 0, "1 of 3");
  make_due (&progress);
  dyno_progress_tick (&progress);
  make_due (&progress);
  dyno_progress_show (&progress, "compiling", 0, "2 of 3");
  /* Each line has its own time: that of the next one begins anew. */
  progress.news_us -= (gint64) 3700 * G_USEC_PER_SEC;
  make_due (&progress);
  dyno_progress_tick (&progress);
  make_due (&progress);
  dyno_progress_show (&progress, "compiling", 0, "3 of 3");
  make_due (&progress);
  dyno_progress_tick (&progress);
}

/* A line that has not changed for long is printed again with its duration; the next line is new and
 * has none. */
static void
test_lines_say_how_long_they_stand (void)
{
  if (g_test_subprocess ())
    {
      print_latest ();
      return;
    }
  g_test_trap_subprocess (NULL, 0, 0);
  g_test_trap_assert_passed ();
  g_test_trap_assert_stdout ("*compiling 1 of 3\ncompiling 1 of 3  (for *)\ncompiling 2 of 3\n"
                             "compiling 2 of 3  (for 1:01:*)\ncompiling 3 of 3\n"
                             "compiling 3 of 3  (for * s)\n");
}

static void
print_epoch (void)
{
  g_autoptr (DynoRunView) view = dyno_run_view_new (FALSE);
  DynoEvent event = { .type = DYNO_EVENT_METRICS };
  DynoProgress progress;
  DynoEpochMetrics epoch = {
    .epoch = 1, .step = 9, .train_loss = 0.5, .val_loss = (double) NAN, .samples_per_s = 7
  };
  static const char *const parts[] = { NULL, "yaw", "pitch", "roll" };

  event.metrics.n = G_N_ELEMENTS (parts);
  for (guint i = 0; i < event.metrics.n; i++)
    event.metrics.infos[i] = (DynoMetricInfo){ .name = i ? parts[i] : "mean_error",
                                               .title = "Mean error",
                                               .part = parts[i],
                                               .unit = "degrees",
                                               .output = (gint) i - 1,
                                               .format = DYNO_METRIC_NUMBER };
  dyno_run_view_take_event (view, &event);
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    epoch.train_metrics[i] = i + 0.5;
  dyno_run_view_take_epoch (view, &epoch);
  dyno_progress_init (&progress, view, FALSE);
  dyno_progress_epoch (&progress);
}

static void
test_parts_of_a_metric_are_in_one_bracket (void)
{
  if (g_test_subprocess ())
    {
      print_epoch ();
      return;
    }
  g_test_trap_subprocess (NULL, 0, 0);
  g_test_trap_assert_passed ();
  g_test_trap_assert_stdout ("*  loss 0.5000  mean error 0.5000 degrees (yaw 1.5000 degrees, pitch "
                             "2.5000 degrees, roll 3.5000 degrees)  7.0 samples/s  *\n*");
}

/* The metric that chooses the best epoch comes last, of the training and of the validation; one that
 * only the validation has, of the validation. */
static void
print_chosen (void)
{
  g_autoptr (DynoRunView) view = dyno_run_view_new (FALSE);
  DynoEvent event = { .type = DYNO_EVENT_METRICS };
  DynoProgress progress;
  DynoEpochMetrics epoch = { .epoch = 1,
                             .step = 9,
                             .train_loss = 0.5,
                             .val_loss = 0.25,
                             .samples_per_s = 7,
                             .train_metrics = { 0.5, 1.5, 2.5 },
                             .val_metrics = { 3.5, 4.5, 5.5 } };
  static const char *const names[] = { "first", "second", "third" };

  event.metrics.n = G_N_ELEMENTS (names);
  for (guint i = 0; i < event.metrics.n; i++)
    event.metrics.infos[i] = (DynoMetricInfo){ .name = names[i],
                                               .title = names[i],
                                               .unit = "",
                                               .of_validation = i == 2,
                                               .format = DYNO_METRIC_NUMBER };
  for (guint i = 0; i < event.metrics.n; i++)
    {
      g_autoptr (DynoJob) job = dyno_job_new ();

      job->settings.best_metric = g_quark_from_static_string (names[i]);
      dyno_run_view_begin (view, job);
      dyno_run_view_take_event (view, &event);
      dyno_run_view_take_epoch (view, &epoch);
      dyno_progress_init (&progress, view, FALSE);
      dyno_progress_epoch (&progress);
    }
}

static void
test_chosen_metric_comes_last (void)
{
  if (g_test_subprocess ())
    {
      print_chosen ();
      return;
    }
  g_test_trap_subprocess (NULL, 0, 0);
  g_test_trap_assert_passed ();
  g_test_trap_assert_stdout (
      "*  loss 0.5000  first 0.5000  validation loss 0.2500  first 3.5000  7.0 samples/s  *\n"
      "*  loss 0.5000  first 0.5000  second 1.5000  validation loss 0.2500  first 3.5000  second "
      "4.5000  7.0 samples/s  *\n"
      "*  loss 0.5000  first 0.5000  validation loss 0.2500  first 3.5000  third 5.5000  7.0 "
      "samples/s  *\n*");
}

/* The end states the time of the whole run, and of a resumed one the steps and the time of this
 * process too; only a run that has steps left is to be resumed. */
static void
test_the_end_of_a_run_in_words (void)
{
  const struct {
    guint64 steps, begin_steps, whole_steps, best_epoch;
    double seconds, begin_seconds, rate;
    const char *best, *folder, *words;
  } rows[] = {
    { 1, 0, 0, 0, 2, 0, 0, NULL, "run", "done: 1 step in 2.0 s" },
    { 280, 0, 0, 5, 50, 0, 187, "accuracy 99.00 %", "run",
      "done: 280 steps in 0:50, 187 samples/s, best validation accuracy 99.00 % (epoch 5)" },
    { 27, 9, 0, 0, 3700, 3600, 0, NULL, "run",
      "done: 27 steps in 1:01:40, 18 of them now in 1:40" },
    { 9, 5, 27, 0, 8, 6, 20, NULL, "a run",
      "stopped after 9 of 27 steps as asked, in 8.0 s, 4 of them now in 2.0 s, 20.0 samples/s; "
      "resume with: dynoctl train --resume a run" },
    { 9, 0, 27, 0, 8, 0, 0, NULL, NULL, "stopped after 9 of 27 steps as asked, in 8.0 s" },
    /* Clocks of two processes may differ a little. */
    { 9, 9, 0, 0, 6, 6.5, 0, NULL, "run", "done: 9 steps in 6.0 s, 0 of them now in 0.0 s" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (DynoEvent) event = dyno_event_new (DYNO_EVENT_DONE);
      event->done.steps = rows[i].steps;
      event->done.begin_steps = rows[i].begin_steps;
      event->done.whole_steps = rows[i].whole_steps;
      event->done.best_epoch = rows[i].best_epoch;
      event->done.seconds = rows[i].seconds;
      event->done.begin_seconds = rows[i].begin_seconds;
      g_autofree char *words =
          dyno_progress_describe_end (event, rows[i].best, rows[i].rate, rows[i].folder);
      g_assert_cmpstr (words, ==, rows[i].words);
    }
}

/* --- dynoctl watch ---------------------------------------------------------------------------- */

/* A run and a machine whose values all differ. */
typedef struct {
  DynoWatchStatus run;
  DynoSensorReading machine;
  DynoWatchView view;
} Watched;

static void
watched_init (Watched *w)
{
  static const double values[DYNO_N_SENSORS] = {
    [DYNO_SENSOR_GPU_BUSY] = 92,
    [DYNO_SENSOR_GPU_TEMPERATURE] = 61,
    [DYNO_SENSOR_GPU_POWER] = 350,
    [DYNO_SENSOR_GPU_POWER_LIMIT] = 700,
    [DYNO_SENSOR_GPU_CLOCK] = 1800,
    [DYNO_SENSOR_VRAM_OWN] = 3221225472,
    [DYNO_SENSOR_VRAM_ALL] = 5368709120,
    [DYNO_SENSOR_VRAM_TOTAL] = 10737418240,
    [DYNO_SENSOR_GPU_OTHERS] = 2,
    [DYNO_SENSOR_CPU_BUSY] = 40,
    [DYNO_SENSOR_CPU_OWN] = 30,
    [DYNO_SENSOR_RAM_USED] = 2147483648,
    [DYNO_SENSOR_RAM_TOTAL] = 8589934592,
    [DYNO_SENSOR_SWAP_IN_PER_S] = 1048576,
    [DYNO_SENSOR_DISK_READ_PER_S] = 2097152,
    [DYNO_SENSOR_PRESSURE_CPU] = 1,
    [DYNO_SENSOR_PRESSURE_IO] = 2,
    [DYNO_SENSOR_PRESSURE_MEMORY] = 3,
  };

  memset (w, 0, sizeof *w);
  w->run = (DynoWatchStatus){ .folder = "runs/one",
                              .state = DYNO_WATCH_RUNNING,
                              .silent_s = 75,
                              .what = (char *) "resnet18 on shapes",
                              .device = (char *) "Card of the run",
                              .epochs = 4,
                              .epoch = 2,
                              .steps = 40,
                              .step = 10,
                              .loss = 0.5,
                              .val_loss = 0.75,
                              .samples_per_s = 150,
                              .step_ms = 10,
                              .wait_data_ms = 4,
                              .metric = (char *) "accuracy",
                              .val_metric = 0.625,
                              .eta_s = 90,
                              .has_sensors = TRUE };
  memcpy (w->run.sensors.values, values, sizeof values);
  w->run.sensors.throttle_reasons = DYNO_THROTTLE_POWER;
  dyno_sensor_reading_init (&w->machine);
  w->machine.values[DYNO_SENSOR_GPU_BUSY] = 7;
  w->machine.values[DYNO_SENSOR_VRAM_OWN] = 1048576;
  w->machine.values[DYNO_SENSOR_VRAM_TOTAL] = 1073741824;
  w->machine.values[DYNO_SENSOR_GPU_OTHERS] = 1;
  w->machine.values[DYNO_SENSOR_CPU_OWN] = 5;
  w->machine.n_cores = 5;
  memcpy (w->machine.core_busy, (float[]){ 100, 0, 50, (float) NAN, 25 }, 5 * sizeof (float));
  w->view = (DynoWatchView){
    .run = &w->run, .machine = &w->machine, .device = "Card", .width = 100, .height = 11
  };
}

static void
check_lines (GPtrArray *lines, const char *expected)
{
  g_autofree char *text = NULL;

  g_ptr_array_add (lines, NULL);
  text = g_strjoinv ("\n", (char **) lines->pdata);
  g_test_message ("%s", text);
  g_assert_cmpstr (text, ==, expected);
  g_ptr_array_unref (lines);
}

/* Every block of a frame and every part of a line, of a run and of the machine; screens of each
 * height show what matters most. */
static void
test_frames (void)
{
  Watched w;

  watched_init (&w);
  check_lines (
      dyno_watch_frame (&w.view),
      " dynoctl watch  runs/one                                                                    "
      "running \n"
      "Card of the run  resnet18 on shapes\n"
      "epoch  ████████▎························  25 %  2 of 4  step 10  ETA 1:30\n"
      "150 samples/s  loss 0.5000  validation 0.7500  accuracy 0.625  waits for data 40 %\n"
      "GPU    ███████████████████████··  92 %  61 °C  350 of 700 W  1800 MHz  held back: power\n"
      "VRAM   ████████████▌············ 5.00 GiB of 10.0 GiB  run 3.00 GiB  2 other programs\n"
      "CPU    ██████████···············  40 %  run 30 %  waits 1 %\n"
      "Cores  █▁▅▁▃\n"
      "RAM    ██████▎·················· 2.00 GiB of 8.00 GiB  swap in 1.00 MiB/s  waits 3 %\n"
      "Disk   run reads 2.00 MiB/s  waits 2 %\n"
      "q: quit");
  check_lines (dyno_watch_lines (&w.view),
               "runs/one: running, epoch 2 of 4, step 10 of 40, 150 samples/s  loss 0.5000  "
               "validation 0.7500  accuracy 0.625  waits for data 40 %  ETA 1:30\n"
               "GPU 92 %, 61 °C, 350 W, 1800 MHz; VRAM 5.00 GiB of 10.0 GiB; CPU 40 %; RAM 2.00 "
               "GiB of 8.00 GiB; disks waited for 2 %; held back: power");
  /* Old values of the run are replaced by those of the machine, which are no run's. */
  w.run.has_sensors = FALSE;
  w.view.width = 50;
  w.run.state = DYNO_WATCH_SILENT;
  w.run.wait_data_ms = 14;
  w.run.device = NULL;
  check_lines (dyno_watch_frame (&w.view), " dynoctl watch  runs/one         no news for 1:15 \n"
                                           "Card  resnet18 on shapes\n"
                                           "epoch   25 %  2 of 4  step 10\n"
                                           "150 samples/s  loss 0.5000  validation 0.7500  acc\n"
                                           "GPU    ▊·········   7 %\n"
                                           "VRAM   ·········· not available of 1.00 GiB  1 oth\n"
                                           "CPU    ·········· not available\n"
                                           "Cores  █▁▅▁▃\n"
                                           "RAM    ·········· not available\n"
                                           "Disk   waits not available\n"
                                           "q: quit");
  check_lines (dyno_watch_lines (&w.view),
               "runs/one: no news for 1:15, epoch 2 of 4, step 10 of 40, 150 samples/s  loss "
               "0.5000  validation 0.7500  accuracy 0.625  waits for data 100 %\n"
               "GPU 7 %; VRAM not available of 1.00 GiB; CPU not available; RAM not available; "
               "disks waited for not available");
  w.view.width = 10;
  w.view.height = 4;
  w.view.run = NULL;
  check_lines (dyno_watch_frame (&w.view), " dynoctl  \n"
                                           "GPU    ▏· \n"
                                           "VRAM   ·· \n"
                                           "q: quit");
  w.view.height = 7;
  check_lines (dyno_watch_frame (&w.view), " dynoctl  \n"
                                           "Card\n"
                                           "GPU    ▏· \n"
                                           "VRAM   ·· \n"
                                           "CPU    ·· \n"
                                           "RAM    ·· \n"
                                           "q: quit");
  w.view.height = 11;
  w.view.device = NULL;
  check_lines (dyno_watch_frame (&w.view), " dynoctl  \n"
                                           "no GPU\n"
                                           "GPU    ▏· \n"
                                           "VRAM   ·· \n"
                                           "CPU    ·· \n"
                                           "Cores  █▅▃\n"
                                           "RAM    ·· \n"
                                           "Disk   wai\n"
                                           "\n"
                                           "\n"
                                           "q: quit");
  /* The lowest screens have no line for keys. */
  w.view.run = &w.run;
  w.view.width = 40;
  w.view.height = 3;
  w.run.step_ms = 0;
  w.run.steps = 0;
  w.run.epochs = 0;
  w.run.val_metric = (double) NAN;
  w.run.samples_per_s = (double) NAN;
  w.run.silent_s = (double) NAN;
  check_lines (dyno_watch_frame (&w.view), " dynoctl watch  run nothing written yet \n"
                                           "epoch  2  step 10\n"
                                           "- samples/s  loss 0.5000  validation 0.7");
  check_lines (dyno_watch_lines (&w.view),
               "runs/one: nothing written yet, epoch 2, step 10, - samples/s  loss 0.5000  "
               "validation 0.7500\n"
               "GPU 7 %; VRAM not available of 1.00 GiB; CPU not available; RAM not available; "
               "disks waited for not available");
  /* Plots use the rows that are left: side by side on a wide screen. */
  watched_init (&w);
  w.run.rate = dyno_series_new ("samples/s", "");
  w.run.loss_series = dyno_series_new ("loss", "");
  w.run.gpu = dyno_series_new ("GPU", "%");
  w.view.cpu = dyno_series_new ("CPU", "%");
  for (guint i = 1; i <= 4; i++)
    {
      dyno_series_append (w.run.rate, i, 100 * i);
      dyno_series_append (w.run.loss_series, i, 5 - i);
      dyno_series_append (w.run.gpu, i == 1 ? 0 : 100 * i, 25 * i);
      dyno_series_append (w.view.cpu, i, 10);
    }
  w.view.width = 90;
  w.view.height = 20;
  check_lines (
      dyno_watch_frame (&w.view),
      " dynoctl watch  runs/one                                                          running \n"
      "Card of the run  resnet18 on shapes\n"
      "epoch  ███████▌······················  25 %  2 of 4  step 10  ETA 1:30\n"
      "150 samples/s  loss 0.5000  validation 0.7500  accuracy 0.625  waits for data 40 %\n"
      "GPU    ████████████████████▎·  92 %  61 °C  350 of 700 W  1800 MHz  held back: power\n"
      "VRAM   ███████████··········· 5.00 GiB of 10.0 GiB  run 3.00 GiB  2 other programs\n"
      "CPU    ████████▊·············  40 %  run 30 %  waits 1 %\n"
      "Cores  █▁▅▁▃\n"
      "RAM    █████▌················ 2.00 GiB of 8.00 GiB  swap in 1.00 MiB/s  waits 3 %\n"
      "Disk   run reads 2.00 MiB/s  waits 2 %\n"
      "samples/s  400                               loss  1.0000\n"
      "     400                        ▂▂▂▂▂▂▂▂▂▂▂█        4 ███████████                        \n"
      "                    ▅▅▅▅▅▅▅▅▅▅▅▅████████████          ███████████████████████▁▁▁▁▁▁▁▁▁▁▁ \n"
      "       0 ▇▇▇▇▇▇▇▇▇▇▇████████████████████████        1 ██████████████████████████████████▁\n"
      "GPU busy, last 5 minutes  100 %\n"
      "     100                        ▂▂▂▂▂▂▂▂▂▂▂█\n"
      "                    ▅▅▅▅▅▅▅▅▅▅▅▅████████████\n"
      "       0 ▇▇▇▇▇▇▇▇▇▇▇████████████████████████\n"
      "\n"
      "q: quit");
  w.view.width = 30;
  w.run.has_sensors = FALSE; /* the machine has only a plot of the CPU */
  w.view.height = 25;
  check_lines (dyno_watch_frame (&w.view), " dynoctl watch  runs/ running \n"
                                           "Card of the run  resnet18 on s\n"
                                           "epoch   25 %  2 of 4  step 10 \n"
                                           "150 samples/s  loss 0.5000  va\n"
                                           "GPU    ▍·····   7 %\n"
                                           "VRAM   ······ not available of\n"
                                           "CPU    ······ not available\n"
                                           "Cores  █▁▅▁▃\n"
                                           "RAM    ······ not available\n"
                                           "Disk   waits not available\n"
                                           "samples/s  400\n"
                                           "     400              ▂▂▂▂▂▂█\n"
                                           "               ▅▅▅▅▅▅▅███████\n"
                                           "       0 ▇▇▇▇▇▇██████████████\n"
                                           "loss  1.0000\n"
                                           "       4 ██████              \n"
                                           "         █████████████▁▁▁▁▁▁ \n"
                                           "       1 ███████████████████▁\n"
                                           "CPU busy, last 5 minutes  10 %\n"
                                           "     100                     \n"
                                           "                             \n"
                                           "       0 ▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃\n"
                                           "\n"
                                           "\n"
                                           "q: quit");
  dyno_series_free (w.run.rate);
  dyno_series_free (w.run.loss_series);
  dyno_series_free (w.run.gpu);
  dyno_series_free (w.view.cpu);
}

/* The last column shows the last value, at any width: here the sum of its columns is not exactly
 * the end of the plot. */
static void
test_last_column_is_the_last_value (void)
{
  static const double ends[][2] = { { 0.2, 0.9 }, { 0.3, 2.2 }, { 1.3, 3.9 }, { 0, 1 } };

  for (guint i = 0; i < G_N_ELEMENTS (ends); i++)
    {
      g_autoptr (DynoSeries) rate = dyno_series_new ("samples/s", "");

      dyno_series_append (rate, ends[i][0], 10);
      dyno_series_append (rate, ends[i][1], 1000);
      for (guint width = 30; width < 110; width++)
        {
          g_autoptr (GPtrArray) lines = NULL;
          guint n_tops = 0;
          Watched w;

          watched_init (&w);
          w.run.rate = rate;
          w.view.width = width;
          w.view.height = 25;
          lines = dyno_watch_frame (&w.view);
          for (guint k = 0; k < lines->len; k++)
            if (g_str_has_prefix (lines->pdata[k], "    1000 "))
              {
                g_assert_true (g_str_has_suffix (lines->pdata[k], "█"));
                n_tops++;
              }
          g_assert_cmpuint (n_tops, ==, 1);
        }
    }
}

/* From 60 columns on the bars are wider, and the epochs have one; a line is coloured by parts. */
static void
test_width_of_bars (void)
{
  Watched w;

  watched_init (&w);
  for (guint width = 59; width <= 60; width++)
    {
      g_autoptr (GPtrArray) lines = NULL;
      const char *epoch, *gpu;

      w.view.width = width;
      lines = dyno_watch_frame (&w.view);
      epoch = lines->pdata[2];
      gpu = lines->pdata[4];
      g_assert_cmpint (strstr (epoch, "█") != NULL, ==, width >= 60);
      g_assert_cmpint (g_utf8_pointer_to_offset (gpu, strstr (gpu, "92 %")), ==,
                       7 + (width >= 60 ? 15 : 11) + 2);
    }
  w.view.colour = TRUE;
  w.view.width = 100;
  {
    g_autoptr (GPtrArray) lines = dyno_watch_frame (&w.view);

    g_assert_true (g_str_has_prefix (lines->pdata[0], "\033[7m dynoctl watch"));
    g_assert_true (g_str_has_suffix (lines->pdata[0], "\033[0m"));
    g_assert_nonnull (strstr (lines->pdata[2], "\033[1m 25 %  \033[0m"));
    g_assert_null (strchr (lines->pdata[3], '\033'));
    g_assert_nonnull (strstr (lines->pdata[4], "\033[31m  held back: power"));
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli/progress/lines-say-how-long-they-stand",
                   test_lines_say_how_long_they_stand);
  g_test_add_func ("/cli/progress/parts-of-a-metric-are-in-one-bracket",
                   test_parts_of_a_metric_are_in_one_bracket);
  g_test_add_func ("/cli/progress/chosen-metric-comes-last", test_chosen_metric_comes_last);
  g_test_add_func ("/cli/watch/last-column-is-the-last-value", test_last_column_is_the_last_value);
  g_test_add_func ("/cli/progress/the-end-of-a-run-in-words", test_the_end_of_a_run_in_words);
  g_test_add_func ("/cli/watch/frames", test_frames);
  g_test_add_func ("/cli/watch/width-of-bars", test_width_of_bars);
  return g_test_run ();
}
