/* SPDX-License-Identifier: MIT */
/* The run of the window: its monitor, its page, and the masks of its validation samples. */
#include "parts.h"
#include "datasampler.h"
#include "maskcard.h"
#include "maskpicture.h"
#include "runpage.h"
#include "watchedmasks.h"
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

/* --- the monitor -------------------------------------------------------------------------------- */

typedef struct {
  DynoRunMonitor *monitor;
  GString *log; /* the signals but "changed", a line each */
} Fixture;

static void
note_failure (DynoRunMonitor *monitor, const GError *error, Fixture *f)
{
  g_assert_true (dyno_run_monitor_is_active (monitor));
  g_string_append (f->log, "failed\n");
}

static void
note_warning (DynoRunMonitor *monitor, const char *text, Fixture *f)
{
  g_string_append_printf (f->log, "%s\n", text);
}

static void
note_end (DynoRunMonitor *monitor, Fixture *f)
{
  g_assert_false (dyno_run_monitor_is_active (monitor));
  g_string_append (f->log, "done\n");
}

static void
set_up (Fixture *f, gconstpointer data)
{
  f->monitor = dyno_run_monitor_new ();
  f->log = g_string_new (NULL);
  g_signal_connect (f->monitor, "failed", G_CALLBACK (note_failure), f);
  g_signal_connect (f->monitor, "warning", G_CALLBACK (note_warning), f);
  g_signal_connect (f->monitor, "done", G_CALLBACK (note_end), f);
}

static void
tear_down (Fixture *f, gconstpointer data)
{
  g_object_unref (f->monitor);
  g_string_free (f->log, TRUE);
}

/* A job that fails at its beginning, since there is nothing to resume. */
static DynoJob *
make_failing_job (void)
{
  DynoJob *job = dyno_job_new ();

  job->data = g_strdup ("builtin:shapes?size=16&samples=64");
  job->resume = g_strdup ("/nowhere/at/all");
  return job;
}

static gboolean
drain (gpointer monitor)
{
  dyno_run_monitor_drain (monitor);
  return !dyno_run_monitor_is_active (monitor);
}

static gboolean
wake (gpointer data)
{
  return G_SOURCE_CONTINUE;
}

/* Drains until the run is over. */
static void
wait_for_end (DynoRunMonitor *monitor)
{
  guint idle = g_idle_add (wake, NULL);

  parts_wait (drain, monitor);
  g_source_remove (idle);
}

/* Each run has a folder of its own in the folder that was set last; one that cannot begin leaves the
 * run before it as it was. */
static void
test_each_run_has_its_folder (Fixture *f, gconstpointer data)
{
  g_autofree char *file = g_build_filename (g_get_home_dir (), "a file", NULL),
                  *runs = g_build_filename (g_get_home_dir (), "all runs", NULL),
                  *own = dyno_run_monitor_get_runs_folder (f->monitor), *last = NULL;
  g_autoptr (DynoJob) job = make_failing_job ();
  g_autoptr (GError) error = NULL;

  g_assert_true (g_file_set_contents (file, "x", 1, NULL));
  g_assert_cmpfloat (dyno_run_monitor_get_elapsed (f->monitor), ==, -1);
  dyno_run_monitor_stop (f->monitor); /* there is nothing to stop */
  g_assert_cmpint (dyno_run_monitor_get_status (f->monitor)->state, ==, DYNO_SESSION_NEW);
  dyno_run_monitor_set_runs_folder (f->monitor, runs);
  for (guint i = 1; i <= 3; i++)
    {
      g_assert_true (dyno_run_monitor_start (f->monitor, job, NULL, &error));
      g_assert_no_error (error);
      g_assert_true (dyno_run_monitor_is_active (f->monitor));
      g_assert_cmpfloat (dyno_run_monitor_get_elapsed (f->monitor), >=, 0);
      const DynoRunStatus *s = dyno_run_monitor_get_status (f->monitor);
      g_assert_cmpint (s->state, <, DYNO_SESSION_FINISHED);
      g_assert_true (g_str_has_prefix (s->job->out_dir, runs));
      g_assert_cmpstr (s->job->out_dir, !=, last);
      g_free (last);
      last = g_strdup (s->job->out_dir);
      wait_for_end (f->monitor);
      g_assert_cmpint (g_mkdir_with_parents (last, 0700), ==, 0); /* the run left it empty */
      g_assert_cmpint (s->state, ==, DYNO_SESSION_FAILED);
      g_assert_cmpstr (f->log->str, ==, "failed\ndone\n");
      g_string_set_size (f->log, 0);
      dyno_run_monitor_stop (f->monitor);
      dyno_run_monitor_pause (f->monitor);
      g_assert_cmpint (s->state, ==, DYNO_SESSION_FAILED);
    }
  dyno_run_monitor_set_runs_folder (f->monitor, file);
  g_assert_false (dyno_run_monitor_start (f->monitor, job, NULL, &error));
  g_assert_error (error, G_FILE_ERROR, G_FILE_ERROR_NOTDIR);
  g_assert_false (dyno_run_monitor_is_active (f->monitor));
  g_assert_cmpstr (dyno_run_monitor_get_status (f->monitor)->job->out_dir, ==, last);
  dyno_run_monitor_set_runs_folder (f->monitor, NULL);
  g_autofree char *again = dyno_run_monitor_get_runs_folder (f->monitor);
  g_assert_cmpstr (again, ==, own);
  /* A folder of its own goes before the folder of runs. */
  job->out_dir = g_build_filename (runs, "mine", NULL);
  dyno_run_monitor_set_runs_folder (f->monitor, file);
  g_assert_true (dyno_run_monitor_start (f->monitor, job, NULL, NULL));
  g_assert_cmpstr (dyno_run_monitor_get_status (f->monitor)->job->out_dir, ==, job->out_dir);
  wait_for_end (f->monitor);
}

static gint64 now_us;

static gint64
get_now (void)
{
  return now_us;
}

/* Each run has its own time, which goes on after its end. */
static void
test_each_run_has_its_time (Fixture *f, gconstpointer data)
{
  g_autoptr (DynoJob) job = make_failing_job ();

  dyno_run_monitor_set_clock (f->monitor, get_now);
  for (guint i = 0; i < 2; i++)
    {
      now_us = (gint64) (1 + 100 * i) * G_USEC_PER_SEC;
      g_assert_true (dyno_run_monitor_start (f->monitor, job, NULL, NULL));
      g_assert_cmpfloat (dyno_run_monitor_get_elapsed (f->monitor), ==, 0);
      now_us += 2500 * 1000;
      g_assert_cmpfloat (dyno_run_monitor_get_elapsed (f->monitor), ==, 2.5);
      wait_for_end (f->monitor);
      now_us += G_USEC_PER_SEC;
      g_assert_cmpfloat (dyno_run_monitor_get_elapsed (f->monitor), ==, 3.5);
    }
}

/* Of many samples that could not be read five are named; warnings are passed on. */
static void
test_unreadable_samples_are_named (Fixture *f, gconstpointer data)
{
  const struct {
    guint n;
    const char *text;
  } rows[] = {
    { 0, "" },
    { 1, "1 sample could not be read, and another took its place:\ns0\n" },
    { 5, "5 samples could not be read, and others took their place:\ns0\ns1\ns2\ns3\ns4\n" },
    { 6, "6 samples could not be read, and others took their place:\ns0\ns1\ns2\ns3\ns4\n…\n" },
    { 2, "2 samples could not be read, and others took their place:\ns0\ns1\n" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (DynoEvent) event = dyno_event_new (DYNO_EVENT_DONE);
      g_autoptr (GStrvBuilder) names = g_strv_builder_new ();
      for (guint k = 0; k < rows[i].n; k++)
        {
          g_autofree char *name = g_strdup_printf ("s%u", k);
          g_strv_builder_add (names, name);
        }
      event->done.state = DYNO_SESSION_FINISHED;
      event->done.n_unreadable = rows[i].n;
      event->done.unreadable = g_strv_builder_end (names);
      g_string_set_size (f->log, 0);
      dyno_run_monitor_take_event (f->monitor, event);
      g_assert_cmpstr (f->log->str, ==, rows[i].text);
    }
  g_autoptr (DynoEvent) warning = dyno_event_new (DYNO_EVENT_WARNING);
  warning->text = g_strdup ("It is hot.");
  g_string_set_size (f->log, 0);
  dyno_run_monitor_take_event (f->monitor, warning);
  g_assert_cmpstr (f->log->str, ==, "It is hot.\n");
}

static void
take_file (GObject *source, GAsyncResult *result, gpointer data)
{
  const char *path;
  g_autoptr (GError) error = NULL;

  dyno_run_monitor_write_csv_finish (result, &path, &error);
  *(char **) data = g_strdup (error ? error->message : path);
}

static gboolean
is_written (gpointer data)
{
  return *(char **) data != NULL;
}

/* Before the first run the table of steps is an empty file; errors are reported. */
static void
test_an_empty_table_is_written (Fixture *f, gconstpointer data)
{
  g_autofree char *path = g_build_filename (g_get_home_dir (), "steps.csv", NULL), *written = NULL,
                  *failed = NULL, *content = NULL;

  dyno_run_monitor_write_csv (f->monitor, path, take_file, &written);
  parts_wait (is_written, &written);
  g_assert_cmpstr (written, ==, path);
  g_assert_true (g_file_get_contents (path, &content, NULL, NULL));
  g_assert_cmpstr (content, ==, "");
  dyno_run_monitor_write_csv (f->monitor, "/nowhere/at/all.csv", take_file, &failed);
  parts_wait (is_written, &failed);
  g_assert_cmpstr (failed, !=, "/nowhere/at/all.csv");
}

/* --- masks -------------------------------------------------------------------------------------- */

/* An event of n samples from `first` on, with masks of 16 x 16, or of each second row and column;
 * all pixels are predicted as `id`, or as they truly are where it is 255. */
static DynoEvent *
make_masks (const char *location, guint64 epoch, guint n, guint first, guint every, guint8 id)
{
  DynoEvent *event = dyno_event_new (DYNO_EVENT_MASKS);
  guint side = 16 / every;
  g_autoptr (GByteArray) scratch = g_byte_array_new ();

  event->masks.epoch = epoch;
  event->masks.dataset = dyno_dataset_open (location, NULL, NULL, NULL, NULL, NULL);
  event->masks.n = n;
  event->masks.width = event->masks.height = side;
  event->masks.every = every;
  event->masks.image_width = event->masks.image_height = 16;
  event->masks.ids = g_malloc (n * side * side);
  memset (event->masks.ids, id, n * side * side);
  for (guint i = 0; i < n; i++)
    {
      g_autofree guint8 *mask = NULL;
      event->masks.samples[i] = first + i;
      g_autoptr (GdkPixbuf) picture =
          dyno_sampler_decode_apart (event->masks.dataset, first + i, 16, 16, &mask, scratch);
      g_assert_nonnull (picture);
      for (guint k = 0; id == 255 && k < side * side; k++)
        event->masks.ids[i * side * side + k] = mask[k / side * every * 16 + k % side * every];
    }
  return event;
}

#define MASKS "builtin:masks?size=16&samples=40&classes=3"

static void
take_masks (GObject *source, GAsyncResult *result, gpointer data)
{
  *(DynoWatchedMasks **) data = dyno_mask_drawer_finish (result);
}

static gboolean
is_drawn (gpointer data)
{
  return *(DynoWatchedMasks **) data != NULL;
}

static DynoWatchedMasks *
draw (DynoMaskDrawer *drawer, DynoEvent *event)
{
  DynoWatchedMasks *masks = NULL;

  dyno_mask_drawer_draw_async (drawer, event, NULL, take_masks, &masks);
  parts_wait (is_drawn, &masks);
  return masks;
}

static gboolean
are_equal (GdkPixbuf *a, GdkPixbuf *b)
{
  return gdk_pixbuf_get_width (a) == gdk_pixbuf_get_width (b)
         && gdk_pixbuf_get_byte_length (a) == gdk_pixbuf_get_byte_length (b)
         && memcmp (gdk_pixbuf_read_pixels (a), gdk_pixbuf_read_pixels (b),
                    gdk_pixbuf_get_byte_length (a))
                == 0;
}

/* Truth and prediction are drawn over the sample of the event; samples are looked up again only
 * where they are others. */
static void
test_masks_are_drawn_over_their_samples (void)
{
  DynoMaskDrawer *drawer = dyno_mask_drawer_new ();
  g_autoptr (DynoEvent) right = make_masks (MASKS, 3, 2, 0, 1, 255),
                        wrong = make_masks (MASKS, 4, 3, 0, 1, 0),
                        others = make_masks (MASKS, 5, 2, 7, 1, 255),
                        bare = make_masks ("builtin:shapes?size=16&samples=40", 6, 1, 0, 1, 1);
  g_autoptr (DynoWatchedMasks) a = draw (drawer, right), b = draw (drawer, wrong),
                               c = draw (drawer, others), d = draw (drawer, right);

  g_assert_true (a->n == 2 && a->epoch == 3 && b->n == 3 && b->epoch == 4 && c->n == 2);
  for (guint i = 0; i < 2; i++)
    {
      g_assert_true (are_equal (a->masks[i].truth, a->masks[i].predicted));
      g_assert_cmpfloat (a->masks[i].iou, ==, 1);
      g_assert_true (are_equal (a->masks[i].truth, b->masks[i].truth));
      g_assert_false (are_equal (b->masks[i].truth, b->masks[i].predicted));
      g_assert_cmpfloat (b->masks[i].iou, <, 1);
      g_assert_true (are_equal (c->masks[i].truth, c->masks[i].predicted));
      g_assert_false (are_equal (c->masks[i].truth, a->masks[i].truth));
      g_assert_true (are_equal (d->masks[i].truth, a->masks[i].truth));
      g_assert_true (memcmp (b->masks[i].there, a->masks[i].there, sizeof a->masks[i].there) == 0);
      g_assert_true (memcmp (d->masks[i].there, a->masks[i].there, sizeof a->masks[i].there) == 0);
      g_assert_true (a->masks[i].there[0] && !a->masks[i].there[255]);
    }
  g_assert_cmpstr (a->masks[1].name, ==, "#1");
  g_assert_cmpstr (c->masks[0].name, ==, "#7");
  dyno_mask_drawer_unref (drawer);
  /* Data without masks have no truth. */
  DynoMaskDrawer *other = dyno_mask_drawer_new ();
  g_autoptr (DynoWatchedMasks) e = draw (other, bare);
  g_assert_null (e->masks[0].truth);
  g_assert_nonnull (e->masks[0].predicted);
  g_assert_true (isnan (e->masks[0].iou) && e->masks[0].there[1] && !e->masks[0].there[0]);
  dyno_mask_drawer_unref (other);
}

/* Where only some rows and columns were kept, the truth is taken at the same places. */
static void
test_thin_masks_are_compared_at_their_places (void)
{
  DynoMaskDrawer *drawer = dyno_mask_drawer_new ();
  g_autoptr (DynoEvent) thin = make_masks (MASKS, 1, 4, 3, 2, 255);
  g_autoptr (DynoWatchedMasks) masks = draw (drawer, thin);

  for (guint i = 0; i < 4; i++)
    {
      g_assert_cmpint (gdk_pixbuf_get_width (masks->masks[i].truth), ==, 8);
      g_assert_cmpfloat (masks->masks[i].iou, ==, 1);
      g_assert_true (are_equal (masks->masks[i].truth, masks->masks[i].predicted));
    }
  dyno_mask_drawer_unref (drawer);
}

static void
give (DynoRunMonitor *monitor, DynoEvent *event)
{
  dyno_run_monitor_take_event (monitor, event);
  g_signal_emit_by_name (monitor, "changed");
}

typedef struct {
  GtkWidget *card;
  const char *text;
} Shown;

static gboolean
is_shown (gpointer data)
{
  const Shown *shown = data;
  g_autofree char *texts = parts_get_texts (shown->card);

  return strstr (texts, shown->text) != NULL;
}

static void
wait_for_text (GtkWidget *card, const char *text)
{
  parts_wait (is_shown, &(Shown){ card, text });
}

static guint
count_cells (GtkWidget *card)
{
  g_autoptr (GPtrArray) cells = parts_find_all (card, GTK_TYPE_FLOW_BOX_CHILD);
  guint n = 0;

  for (guint i = 0; i < cells->len; i++)
    n += gtk_widget_get_visible (cells->pdata[i]);
  return n;
}

/* The card has the masks of the present run only, and of its newest event, once it is unfolded. */
static void
test_the_card_shows_the_newest_masks (Fixture *f, gconstpointer data)
{
  GtkWidget *card = g_object_new (DYNO_TYPE_MASK_CARD, NULL),
            *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  GtkExpander *expander = GTK_EXPANDER (parts_find (card, GTK_TYPE_EXPANDER));
  g_autoptr (DynoJob) job = make_failing_job ();
  g_autoptr (DynoEvent) metrics = dyno_event_new (DYNO_EVENT_METRICS),
                        plan = dyno_event_new (DYNO_EVENT_PLAN);
  const char *const later = "Their masks appear after the first validation";

  dyno_mask_card_set_run (DYNO_MASK_CARD (card), f->monitor);
  g_assert_false (gtk_widget_get_visible (card));
  gtk_widget_show (box);
  gtk_container_add (GTK_CONTAINER (box), card);
  GtkWidget *window = parts_show (box, 800, 400);
  metrics->metrics.n = 1;
  dyno_metric_find ("pixel_accuracy", &metrics->metrics.infos[0]);
  plan->plan.n_validation = 8;
  for (guint i = 0; i < 2; i++)
    {
      const char *location = i == 0 ? MASKS : MASKS "&seed=2";
      g_autoptr (DynoEvent) third = make_masks (location, 3, 2, 0, 1, 255),
                            fourth = make_masks (location, 4, 3, 0, 1, 0),
                            fifth = make_masks (location, 5, 1, 0, 1, 255),
                            sixth = make_masks (location, 6, 2, 0, 1, 0);
      g_assert_true (dyno_run_monitor_start (f->monitor, job, NULL, NULL));
      g_assert_false (gtk_widget_get_visible (card)); /* it is not known what the run measures */
      give (f->monitor, metrics);
      g_assert_false (gtk_widget_get_visible (card));
      give (f->monitor, plan);
      g_assert_true (gtk_widget_get_visible (card));
      parts_assert_says (card, later);
      g_assert_cmpuint (count_cells (card), ==, 0);
      give (f->monitor, third);
      wait_for_text (card, "After epoch 3");
      parts_assert_says_not (card, later);
      g_assert_cmpuint (count_cells (card), ==, 2);
      parts_assert_says (card, "Mean IoU 100.0 %");
      GtkWidget *cell = parts_find (card, GTK_TYPE_FLOW_BOX_CHILD);
      g_autofree char *tooltip = gtk_widget_get_tooltip_text (cell);
      g_assert_cmpstr (tooltip, ==, "#0");
      g_assert_true (g_str_has_prefix (atk_object_get_name (gtk_widget_get_accessible (cell)),
                                       "#0: Mean IoU 100"));
      /* Folded, the card draws nothing, and catches up when it is unfolded. */
      gtk_expander_set_expanded (expander, FALSE);
      parts_assert_says_not (card, "After epoch 3");
      give (f->monitor, fourth);
      gtk_expander_set_expanded (expander, TRUE);
      wait_for_text (card, "After epoch 4");
      g_assert_cmpuint (count_cells (card), ==, 3);
      parts_assert_says_not (card, "Mean IoU 100.0 %");
      give (f->monitor, fifth); /* the next comes while this one is drawn */
      give (f->monitor, sixth);
      wait_for_text (card, "After epoch 6");
      g_assert_cmpuint (count_cells (card), ==, 2);
      wait_for_end (f->monitor);
      parts_assert_says (card, "After epoch 6"); /* it stays until the next run */
    }
  gtk_widget_destroy (window);
}

/* --- the page ----------------------------------------------------------------------------------- */

static GtkWidget *
get (GtkWidget *page, const char *name)
{
  return GTK_WIDGET (gtk_widget_get_template_child (page, DYNO_TYPE_RUN_PAGE, name));
}

static void
put_state (DynoRunMonitor *monitor, DynoSessionState state)
{
  g_autoptr (DynoEvent) event = dyno_event_new (DYNO_EVENT_STATE);

  event->state = state;
  dyno_run_monitor_take_event (monitor, event);
}

static void
put_step (DynoRunMonitor *monitor, guint64 step)
{
  const DynoStepMetrics metrics = {
    .step = step, .epoch = 1, .loss = 1, .samples_per_s = 100, .step_ms = 1
  };

  dyno_run_view_take_step (dyno_run_monitor_get_view (monitor), &metrics);
}

/* The page tells the step of the run, and its preparation in another colour; the folder can be
 * opened once the run has ended. */
static void
test_the_page_follows_the_run (Fixture *f, gconstpointer data)
{
  DynoSetup *setup = dyno_setup_new ();
  GtkWidget *page = g_object_ref_sink (g_object_new (DYNO_TYPE_RUN_PAGE, NULL));
  g_autoptr (DynoJob) job = dyno_job_new ();
  DynoRunView *view = dyno_run_monitor_get_view (f->monitor);
  GtkProgressBar *bar = GTK_PROGRESS_BAR (get (page, "progress"));
  GtkStyleContext *style = gtk_widget_get_style_context (GTK_WIDGET (bar));
  g_autofree char *folder = g_build_filename (g_get_home_dir (), "of the run", NULL),
                  *checkpoint = g_build_filename (folder, "checkpoint.safetensors", NULL);

  gtk_widget_show (page);
  dyno_run_page_set_run (DYNO_RUN_PAGE (page), f->monitor, setup);
  g_assert_cmpint (g_mkdir_with_parents (folder, 0700), ==, 0);
  g_free (job->model);
  job->model = g_strdup ("mlp");
  job->data = g_strdup ("builtin:waves?samples=10");
  job->out_dir = g_strdup (folder);
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (DynoEvent) progress = dyno_event_new (DYNO_EVENT_PROGRESS),
                            plan = dyno_event_new (DYNO_EVENT_PLAN),
                            done = dyno_event_new (DYNO_EVENT_DONE);
      dyno_run_view_begin (view, job);
      put_state (f->monitor, DYNO_SESSION_PREPARING);
      progress->progress.what = g_strdup ("compile");
      progress->progress.done = 1;
      progress->progress.total = 2;
      give (f->monitor, progress);
      parts_assert_says (page, "MLP on Waves");
      g_assert_true (gtk_style_context_has_class (style, "preparation"));
      g_assert_cmpfloat (gtk_progress_bar_get_fraction (bar), >, 0);
      g_assert_true (
          g_str_has_suffix (gtk_label_get_text (GTK_LABEL (get (page, "step"))), " so far"));
      plan->plan.device = g_strdup (i == 0 ? "Card A" : "Card B");
      give (f->monitor, plan);
      parts_assert_says (page, i == 0 ? "MLP on Waves, Card A" : "MLP on Waves, Card B");
      put_state (f->monitor, DYNO_SESSION_RUNNING);
      put_step (f->monitor, 1234);
      g_signal_emit_by_name (f->monitor, "changed");
      g_assert_false (gtk_style_context_has_class (style, "preparation"));
      parts_assert_says (page, "Training, step 1,234");
      put_state (f->monitor, DYNO_SESSION_PAUSED);
      g_signal_emit_by_name (f->monitor, "changed");
      parts_assert_says (page, "Step 1,234");
      parts_assert_says (page, "Paused");
      g_assert_false (gtk_widget_get_visible (get (page, "folder")));
      done->done.state = i == 0 ? DYNO_SESSION_FAILED : DYNO_SESSION_STOPPED;
      done->done.seconds = 42;
      done->done.steps = 1234;
      done->done.out_dir = g_strdup (folder);
      put_state (f->monitor, done->done.state);
      give (f->monitor, done);
      parts_assert_says (page, i == 0 ? "Failed after 0:42" : "Stopped after 0:42");
      g_assert_cmpint (gtk_style_context_has_class (
                           gtk_widget_get_style_context (get (page, "sentence")), "bad-text"),
                       ==, i == 0);
      g_assert_true (gtk_widget_get_visible (get (page, "folder")));
      g_assert_false (gtk_widget_get_visible (get (page, "predict"))); /* it has no weights */
      g_assert_false (gtk_widget_get_visible (get (page, "resume")));  /* and no checkpoint */
      g_assert_true (g_file_set_contents (checkpoint, "", 0, NULL));
      g_signal_emit_by_name (f->monitor, "changed");
      g_assert_true (gtk_widget_get_visible (get (page, "resume")));
      g_autoptr (DynoJob) resuming = dyno_run_page_get_resuming_job (DYNO_RUN_PAGE (page));
      g_assert_cmpstr (resuming->resume, ==, folder);
      g_assert_cmpstr (resuming->out_dir, ==, folder);
      g_assert_cmpstr (resuming->data, ==, job->data);
      put_state (f->monitor, DYNO_SESSION_FINISHED);
      g_signal_emit_by_name (f->monitor, "changed");
      g_assert_false (gtk_widget_get_visible (get (page, "resume")));
      g_assert_cmpint (g_unlink (checkpoint), ==, 0);
    }
  /* A run that fails before its first step has made none, and its time may become known later. */
  g_autoptr (DynoEvent) early = dyno_event_new (DYNO_EVENT_DONE);
  dyno_run_view_begin (view, job);
  put_state (f->monitor, DYNO_SESSION_PREPARING);
  g_signal_emit_by_name (f->monitor, "changed");
  g_assert_false (gtk_style_context_has_class (style, "preparation"));
  put_state (f->monitor, DYNO_SESSION_FAILED);
  g_signal_emit_by_name (f->monitor, "changed");
  parts_assert_says (page, "Failed after 0:00");
  g_assert_cmpstr (gtk_label_get_text (GTK_LABEL (get (page, "step"))), ==, "");
  early->done.state = DYNO_SESSION_FAILED;
  early->done.seconds = 7;
  give (f->monitor, early);
  parts_assert_says (page, "Failed after 0:07");
  gtk_widget_destroy (page);
  g_object_unref (page);
  dyno_setup_shutdown (setup);
  g_object_unref (setup);
}

#define ADD(name, test) g_test_add ("/ui/parts/" name, Fixture, NULL, set_up, test, tear_down)

void
parts_add_monitor (void)
{
  ADD ("each-run-has-its-folder", test_each_run_has_its_folder);
  ADD ("each-run-has-its-time", test_each_run_has_its_time);
  ADD ("unreadable-samples-are-named", test_unreadable_samples_are_named);
  ADD ("an-empty-table-is-written", test_an_empty_table_is_written);
  g_test_add_func ("/ui/parts/masks-are-drawn-over-their-samples",
                   test_masks_are_drawn_over_their_samples);
  g_test_add_func ("/ui/parts/thin-masks-are-compared-at-their-places",
                   test_thin_masks_are_compared_at_their_places);
  ADD ("the-card-shows-the-newest-masks", test_the_card_shows_the_newest_masks);
  ADD ("the-page-follows-the-run", test_the_page_follows_the_run);
}
