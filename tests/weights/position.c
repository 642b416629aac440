/* SPDX-License-Identifier: MIT */
/* The position of a run in the metadata of its checkpoint, and the identity of weights. */
#include "checkpoint.h"
#include "job-test.h"
#include <math.h>
#include <string.h>

#define N_WORDS (sizeof (DynoPosition) / 8)

static GHashTable *
metadata_of (const DynoPosition *position)
{
  g_autoptr (GPtrArray) pairs = g_ptr_array_new ();
  GHashTable *metadata = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);

  dyno_position_append (position, pairs);
  for (guint i = 0; i + 1 < pairs->len; i += 2)
    g_assert_true (g_hash_table_insert (metadata, pairs->pdata[i], pairs->pdata[i + 1]));
  return metadata;
}

/* Each word of the position is a finite number as a double and, as an integer, one that no double
 * can represent: a member that is added but not saved, or saved as the other type, is lost.  Two
 * positions are saved, since the second must keep nothing of the first. */
static void
test_every_member (void)
{
  DynoPosition read;

  G_STATIC_ASSERT (sizeof (DynoPosition) % 8 == 0);
  memset (&read, 0, sizeof read);
  for (guint64 seed = 1; seed <= 2; seed++)
    {
      guint64 words[N_WORDS];
      g_autoptr (GHashTable) metadata = NULL;
      g_autoptr (GError) error = NULL;
      DynoPosition written;

      for (guint64 i = 0; i < N_WORDS; i++)
        {
          double value = (double) (100 * seed + i) / 3;

          memcpy (&words[i], &value, sizeof value);
        }
      memcpy (&written, words, sizeof written);
      metadata = metadata_of (&written);
      g_assert_cmpuint (g_hash_table_size (metadata), ==, N_WORDS);
      g_assert_true (dyno_position_read (&read, metadata, "x", &error));
      g_assert_no_error (error);
      memcpy (words, &read, sizeof words);
      for (guint i = 0; i < N_WORDS; i++)
        {
          guint64 expected;

          memcpy (&expected, (const char *) &written + 8 * i, sizeof expected);
          if (words[i] != expected)
            g_error ("The 8 bytes at %u of DynoPosition are not kept by a checkpoint", 8 * i);
        }
    }
}

/* NaN, infinities, and values that are large or no integers. */
static void
test_special_values (void)
{
  DynoPosition position = { .step = G_MAXUINT64,
                            .best_val_metric = (double) NAN,
                            .best_val_loss = (double) INFINITY,
                            .early_best = -(double) INFINITY,
                            .epoch_loss_sum = 1e-320,
                            .seconds = 0.1 },
               read;
  g_autoptr (GHashTable) metadata = metadata_of (&position);

  memset (&read, 0xff, sizeof read);
  g_assert_true (dyno_position_read (&read, metadata, "x", NULL));
  g_assert_cmpuint (read.step, ==, G_MAXUINT64);
  g_assert_true (isnan (read.best_val_metric));
  g_assert_cmpfloat (read.best_val_loss, ==, (double) INFINITY);
  g_assert_cmpfloat (read.early_best, ==, -(double) INFINITY);
  g_assert_cmpfloat (read.epoch_loss_sum, ==, 1e-320);
  g_assert_cmpfloat (read.seconds, ==, 0.1);
  g_assert_cmpuint (read.epoch, ==, 0);
}

/* Values that earlier versions did not write are 0 or NaN; all others are required by name. */
static void
test_missing (void)
{
  static const char *const optional[] = { "best_epoch",         "early_epoch", "early_best",
                                          "best_val_loss",      "run",         "epoch_metric_sum_1",
                                          "epoch_metric_sum_7", NULL };
  g_autoptr (GHashTable) metadata = metadata_of (&(DynoPosition){ .step = 5 });
  g_autoptr (GList) keys = g_hash_table_get_keys (metadata);

  for (const GList *l = keys; l; l = l->next)
    {
      g_autofree char *key = NULL, *value = NULL;
      g_autoptr (GError) error = NULL;
      gboolean may_lack =
          g_strv_contains (optional, l->data) || g_str_has_prefix (l->data, "epoch_metric_sum_");
      DynoPosition read;

      g_assert_true (
          g_hash_table_steal_extended (metadata, l->data, (gpointer *) &key, (gpointer *) &value));
      memset (&read, 0xff, sizeof read);
      g_assert_cmpint (dyno_position_read (&read, metadata, "x", &error), ==, may_lack);
      if (!may_lack)
        {
          g_assert_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_CHECKPOINT);
          g_assert_nonnull (strstr (error->message, key));
        }
      if (g_str_equal (key, "early_epoch"))
        g_assert_cmpuint (read.early_epoch, ==, 0);
      if (g_str_equal (key, "early_best"))
        g_assert_true (isnan (read.early_best));
      g_hash_table_insert (metadata, g_steal_pointer (&key), g_steal_pointer (&value));
    }
}

/* The identity of weights follows from every setting that they depend on, and from no other. */
static void
test_weights (void)
{
  guint n;
  const DynoSettingInfo *table = dyno_setting_list (&n);
  g_autoptr (DynoJob) job = dyno_job_new ();
  const guint64 before = dyno_checkpoint_identify (job, 7);

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *value = test_other_value (&table[i]);
      /* longer training is the same run */
      gboolean same = table[i].same_weights || g_str_equal (table[i].key, "epochs");

      dyno_settings_init (&job->settings);
      g_assert_true (dyno_settings_set (&job->settings, table[i].key, value, NULL));
      g_assert_true ((dyno_checkpoint_identify (job, 7) == before) == same);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/weights/position/every-member-is-kept", test_every_member);
  g_test_add_func ("/weights/position/values-that-are-no-number", test_special_values);
  g_test_add_func ("/weights/position/what-an-earlier-version-lacks", test_missing);
  g_test_add_func ("/weights/identity/follows-what-they-depend-on", test_weights);
  return g_test_run ();
}
