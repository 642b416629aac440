/* SPDX-License-Identifier: MIT */
/* The choice of the settings that a search for the best model varies. */
#include "parts.h"
#include "paramchooser.h"
#include <string.h>

typedef struct {
  DynoJob *job;
  DynoDataset *dataset;
  DynoParamChooser *chooser;
  GtkWidget *content; /* of the popover */
  guint n_changed;
} Fixture;

static void
note_change (DynoParamChooser *chooser, Fixture *f)
{
  f->n_changed++;
}

/* Gives the chooser the spaces of the job, as the page does. */
static void
set_spaces (Fixture *f)
{
  const DynoDatasetInfo *info = dyno_dataset_get_info (f->dataset);
  g_auto (GStrv) texts = dyno_param_space_suggest (f->job, info);
  DynoParamSpace usual, others;

  dyno_param_space_init (&usual, f->job, info);
  others = usual;
  g_assert_true (
      dyno_param_space_choose (&others, f->job, info, (const char *const *) texts, NULL));
  dyno_param_chooser_set_spaces (f->chooser, &usual, &others);
}

static void
set_up (Fixture *f)
{
  static const char data[] = "builtin:shapes?size=16&samples=40&classes=4";

  *f = (Fixture){ .job = dyno_job_new () };
  g_free (f->job->data);
  f->job->data = g_strdup (data);
  g_free (f->job->model);
  f->job->model = g_strdup ("simplecnn");
  f->job->settings.lr = 0.1;
  f->dataset = dyno_dataset_open (data, NULL, NULL, NULL, NULL, NULL);
  f->chooser = g_object_ref_sink (g_object_new (DYNO_TYPE_PARAM_CHOOSER, NULL));
  g_signal_connect (f->chooser, "changed", G_CALLBACK (note_change), f);
  set_spaces (f);
  f->content =
      gtk_bin_get_child (GTK_BIN (gtk_menu_button_get_popover (GTK_MENU_BUTTON (f->chooser))));
}

static void
tear_down (Fixture *f)
{
  gtk_widget_destroy (GTK_WIDGET (f->chooser));
  g_object_unref (f->chooser);
  dyno_dataset_unref (f->dataset);
  dyno_job_unref (f->job);
}

static GtkToggleButton *
find_check (Fixture *f, const char *title)
{
  return GTK_TOGGLE_BUTTON (parts_find_button (f->content, title));
}

static GtkEntry *
find_entry (Fixture *f, const char *name)
{
  g_autoptr (GPtrArray) entries = parts_find_all (f->content, GTK_TYPE_ENTRY);

  for (guint i = 0; i < entries->len; i++)
    if (strcmp (atk_object_get_name (gtk_widget_get_accessible (entries->pdata[i])), name) == 0)
      return entries->pdata[i];
  g_error ("no entry “%s”", name);
}

static void
enter (Fixture *f, const char *name, const char *text)
{
  GtkEntry *entry = find_entry (f, name);

  gtk_entry_set_text (entry, text);
  g_signal_emit_by_name (entry, "activate");
}

/* NULL: the usual ones. */
static void
assert_texts (Fixture *f, const char *expected)
{
  g_auto (GStrv) texts = dyno_param_chooser_get_texts (f->chooser);
  g_autofree char *text = texts ? g_strjoinv (" ", texts) : NULL;

  g_assert_cmpstr (text, ==, expected);
}

static void
assert_label (Fixture *f, const char *expected)
{
  g_autofree char *text = parts_get_texts (gtk_bin_get_child (GTK_BIN (f->chooser)));

  g_assert_cmpstr (text, ==, expected);
}

/* Leaves only one of the usual settings chosen. */
static void
choose_only (Fixture *f, const char *title)
{
  g_autoptr (GPtrArray) checks = parts_find_all (f->content, GTK_TYPE_CHECK_BUTTON);

  for (guint i = 0; i < checks->len; i++)
    gtk_toggle_button_set_active (checks->pdata[i],
                                  strcmp (gtk_button_get_label (checks->pdata[i]), title) == 0);
}

/* The usual settings need no texts; others have theirs, and the reset brings the usual ones back,
 * with their ranges. */
static void
test_choice_of_what_is_searched (void)
{
  Fixture f;

  set_up (&f);
  assert_texts (&f, NULL);
  assert_label (&f, "The usual ones");
  g_assert_true (gtk_toggle_button_get_active (find_check (&f, "Optimizer")));
  g_assert_false (gtk_toggle_button_get_active (find_check (&f, "Batch size")));
  g_assert_false (gtk_widget_get_sensitive (parts_find_button (f.content, "Use the Usual Ones")));
  parts_assert_says (f.content, "SGD, AdamW, Lion");
  parts_assert_says (f.content, "16, 32, 64, 128");
  g_assert_cmpstr (gtk_entry_get_text (find_entry (&f, "Learning rate, from")), ==, "0.00333");
  for (guint i = 0; i < 2; i++)
    {
      choose_only (&f, "Learning rate");
      assert_texts (&f, "lr");
      assert_label (&f, "1 setting");
      gtk_toggle_button_set_active (find_check (&f, "Batch size"), TRUE);
      gtk_toggle_button_set_active (find_check (&f, "Model width"), TRUE);
      enter (&f, "Model width, to", "1.5");
      enter (&f, "Learning rate, from", "0.01");
      assert_texts (&f, "lr=0.01..3 batch_size=16|32|64|128 model.width=0.5..1.5");
      assert_label (&f, "3 settings");
      gtk_button_clicked (GTK_BUTTON (parts_find_button (f.content, "Use the Usual Ones")));
      assert_texts (&f, NULL);
      assert_label (&f, "The usual ones");
      g_assert_cmpstr (gtk_entry_get_text (find_entry (&f, "Learning rate, from")), ==, "0.00333");
    }
  choose_only (&f, "");
  assert_texts (&f, "");
  assert_label (&f, "0 settings");
  tear_down (&f);
}

/* No range, or one that the setting cannot have, is replaced by the one before. */
static void
test_only_ranges_are_taken (void)
{
  static const char *const wrong[] = { "", "x", "0.1x", "3", "5", "-1" };
  Fixture f;
  guint n;

  set_up (&f);
  enter (&f, "Learning rate, from", "0.02");
  n = f.n_changed;
  g_assert_cmpuint (n, ==, 1);
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      enter (&f, "Learning rate, from", wrong[i]);
      g_assert_cmpstr (gtk_entry_get_text (find_entry (&f, "Learning rate, from")), ==, "0.02");
    }
  enter (&f, "Learning rate, to", "1000");
  g_assert_cmpstr (gtk_entry_get_text (find_entry (&f, "Learning rate, to")), ==, "3");
  g_assert_cmpuint (f.n_changed, ==, n);
  /* More digits than are shown stay while the text stays. */
  enter (&f, "Learning rate, from", "0.0123456");
  g_assert_cmpstr (gtk_entry_get_text (find_entry (&f, "Learning rate, from")), ==, "0.0123");
  enter (&f, "Learning rate, from", "0.0123");
  enter (&f, "Learning rate, to", "2");
  choose_only (&f, "Learning rate");
  assert_texts (&f, "lr=0.0123456..2");
  g_assert_true (gtk_widget_is_sensitive (GTK_WIDGET (find_entry (&f, "Learning rate, from"))));
  g_assert_false (gtk_widget_is_sensitive (GTK_WIDGET (find_entry (&f, "Weight decay, from"))));
  tear_down (&f);
}

/* A range of the user's own stays as a whole, whichever of its ends was changed. */
static void
test_ranges_of_one_end_outlive_the_rate (void)
{
  static const char *const ends[] = { "Learning rate, from", "Learning rate, to" },
                           *const values[] = { "0.01", "2" },
                           *const texts[] = { "lr=0.01..3", "lr=0.00333333..2" };

  for (guint i = 0; i < 2; i++)
    {
      Fixture f;
      set_up (&f);
      choose_only (&f, "Learning rate");
      enter (&f, ends[i], values[i]);
      assert_texts (&f, texts[i]);
      for (guint k = 0; k < 2; k++)
        {
          f.job->settings.lr = k == 0 ? 0.2 : 0.05;
          set_spaces (&f);
          assert_texts (&f, texts[i]);
          g_assert_cmpstr (gtk_entry_get_text (find_entry (&f, ends[i])), ==, values[i]);
        }
      gtk_button_clicked (GTK_BUTTON (parts_find_button (f.content, "Use the Usual Ones")));
      f.job->settings.lr = 0.1;
      set_spaces (&f);
      g_assert_cmpstr (gtk_entry_get_text (find_entry (&f, ends[0])), ==, "0.00333");
      g_assert_cmpstr (gtk_entry_get_text (find_entry (&f, ends[1])), ==, "3");
      tear_down (&f);
    }
}

/* Another model or rate: the choice stays where it can; usual ranges follow, chosen ones do not. */
static void
test_choice_outlives_the_model (void)
{
  Fixture f;

  set_up (&f);
  choose_only (&f, "Learning rate");
  gtk_toggle_button_set_active (find_check (&f, "Focal loss"), TRUE);
  gtk_toggle_button_set_active (find_check (&f, "Momentum"), TRUE);
  enter (&f, "Momentum, from", "0.7");
  f.job->settings.lr = 0.2;
  set_spaces (&f);
  assert_texts (&f, "lr momentum=0.7..0.99 loss.focal=0|1|2");
  g_assert_cmpstr (gtk_entry_get_text (find_entry (&f, "Learning rate, to")), ==, "6");
  GtkToggleButton *check = find_check (&f, "Momentum");
  f.n_changed = 0;
  set_spaces (&f); /* the same ones: the rows stay, one of which may have the focus */
  g_assert_true (check == find_check (&f, "Momentum"));
  g_assert_cmpuint (f.n_changed, ==, 0);
  dyno_settings_set (&f.job->settings, "optimizer", "adam", NULL); /* a further choice */
  set_spaces (&f);
  parts_assert_says (f.content, "SGD, AdamW, Lion, Adam");
  gtk_button_clicked (GTK_BUTTON (parts_find_button (f.content, "Use the Usual Ones")));
  assert_texts (&f, NULL);
  tear_down (&f);
}

void
parts_add_params (void)
{
  g_test_add_func ("/ui/parts/choice-of-what-is-searched", test_choice_of_what_is_searched);
  g_test_add_func ("/ui/parts/only-ranges-are-taken", test_only_ranges_are_taken);
  g_test_add_func ("/ui/parts/choice-outlives-the-model", test_choice_outlives_the_model);
  g_test_add_func ("/ui/parts/ranges-of-one-end-outlive-the-rate",
                   test_ranges_of_one_end_outlive_the_rate);
}
