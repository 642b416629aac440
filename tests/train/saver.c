/* SPDX-License-Identifier: MIT */
/* The saver and its files, where saves fail, succeed and fail again, with a network that is built
 * but never trained. */
#include "engine.h"
#include "safetensors.h"
#include "saver.h"
#include "train-test.h"
#include <glib/gstdio.h>
#include <string.h>

#define SHAPES "builtin:shapes?size=16&samples=40&classes=4"

typedef struct {
  char *folder, *away, *checkpoint, *best;
  DynoJob *job;
  DynoDataset *dataset;
  DynoEngine *engine;
  DynoSaver *saver;
  guint saved, failed, best_saved, best_failed; /* number of reports; complete when a flush ends */
} Fixture;

static void
on_progress (const char *what, guint done, guint total, gpointer data)
{
}

static void
on_warning (const char *text, gpointer data)
{
  g_test_message ("%s", text);
}

static const DynoEngineWatch watch = { on_progress, on_warning, NULL };

static void
on_report (const char *path, gboolean best, const GError *problem, gpointer data)
{
  Fixture *f = data;

  *(best ? problem ? &f->best_failed : &f->best_saved : problem ? &f->failed : &f->saved) += 1;
}

static void
set_up (Fixture *f, gconstpointer data)
{
  DynoDatasetParams params;
  guint64 tracked;
  g_autoptr (GError) error = NULL;
  DynoSaverParams saver;

  f->folder = test_folder ();
  f->away = g_strconcat (f->folder, "-away", NULL);
  f->checkpoint = g_build_filename (f->folder, DYNO_CHECKPOINT_NAME, NULL);
  f->best = g_build_filename (f->folder, DYNO_WEIGHTS_NAME, NULL);
  f->job = test_job ("mlp", SHAPES);
  test_job_set (f->job, "autotune=false", "workers=1", "optimizer=adamw", NULL);
  dyno_job_get_dataset_params (f->job, &params);
  f->dataset = dyno_dataset_open (SHAPES, &params, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  f->engine = dyno_engine_open_split (NULL, f->job, f->dataset, &watch, &error);
  g_assert_no_error (error);
  g_assert_true (dyno_engine_build (f->engine, &watch, NULL, &error));
  g_assert_true (dyno_engine_initialise (f->engine, &watch, &tracked, &error));
  g_assert_no_error (error);
  saver = (DynoSaverParams){ .program = dyno_engine_get_program (f->engine),
                             .checkpoint = f->checkpoint,
                             .best = f->best,
                             .best_waits = data != NULL,
                             .content_hash = 7,
                             .dataset = dyno_dataset_get_info (f->dataset),
                             .reported = on_report,
                             .data = f };
  f->saver = dyno_saver_new (&saver);
}

static void
tear_down (Fixture *f, gconstpointer data)
{
  dyno_saver_free (f->saver);
  dyno_engine_free (f->engine);
  dyno_dataset_unref (f->dataset);
  dyno_job_unref (f->job);
  test_remove_tree (f->folder);
  g_free (f->folder);
  g_free (f->away);
  g_free (f->checkpoint);
  g_free (f->best);
}

static DynoPosition
position_of (guint64 step)
{
  return (DynoPosition){ .step = step, .epoch = step / 3, .run_id = 5 };
}

/* Saves and waits for the end; good FALSE: the folder is missing meanwhile. */
static void
save (Fixture *f, guint64 step, gboolean best, gboolean good)
{
  DynoPosition position = position_of (step);
  g_autoptr (GError) error = NULL;

  if (!good)
    g_assert_cmpint (g_rename (f->folder, f->away), ==, 0);
  g_assert_true (dyno_saver_take (f->saver, best, &error));
  g_assert_false (dyno_saver_has_room (f->saver));
  dyno_saver_commit (f->saver, f->job, &position, best);
  dyno_saver_flush (f->saver);
  g_assert_true (dyno_saver_has_room (f->saver));
  g_assert_true (dyno_saver_check (f->saver, &error));
  g_assert_no_error (error);
  if (!good)
    g_assert_cmpint (g_rename (f->away, f->folder), ==, 0);
}

static void
assert_holds (Fixture *f, guint64 step)
{
  for (guint64 i = 0; i < 9; i++)
    {
      DynoPosition position = position_of (i);

      g_assert_true (dyno_saver_holds (f->saver, &position) == (i == step && step > 0));
      position.epoch++; /* an epoch has ended after the step, and was validated */
      g_assert_false (dyno_saver_holds (f->saver, &position));
    }
  g_assert_true (dyno_saver_has_saved (f->saver) == (step > 0));
}

/* The step of a file; 0: no file. */
static guint64
step_in (const Fixture *f, const char *name)
{
  g_autofree char *path = g_build_filename (f->folder, name, NULL);
  g_autoptr (DynoSafetensors) file = dyno_safetensors_open (path, 0, NULL);

  return file ? g_ascii_strtoull (dyno_safetensors_get_metadata (file, "step"), NULL, 10) : 0;
}

/* The last save is in the checkpoint, and the one before it is kept, whatever failed in between. */
static void
test_checkpoints (Fixture *f, gconstpointer data)
{
  static const struct {
    gboolean good;
    guint64 holds, before;
  } saves[] = { { FALSE, 0, 0 }, { TRUE, 2, 0 },  { FALSE, 2, 0 }, { TRUE, 4, 2 },
                { TRUE, 5, 4 },  { FALSE, 5, 4 }, { FALSE, 5, 4 }, { TRUE, 8, 5 } };
  guint saved = 0;

  assert_holds (f, 0);
  for (guint i = 0; i < G_N_ELEMENTS (saves); i++)
    {
      save (f, i + 1, FALSE, saves[i].good);
      saved += saves[i].good;
      g_assert_cmpuint (f->saved, ==, saved);
      g_assert_cmpuint (f->failed, ==, i + 1 - saved);
      assert_holds (f, saves[i].holds);
      g_assert_cmpuint (step_in (f, DYNO_CHECKPOINT_NAME), ==, saves[i].holds);
      g_assert_cmpuint (step_in (f, DYNO_CHECKPOINT_NAME_PREVIOUS), ==, saves[i].before);
    }
  g_assert_cmpuint (f->best_saved + f->best_failed, ==, 0);
}

/* Best weights that could not be written stay in memory until better ones are written; a checkpoint
 * in between does not change this. */
static void
test_best (Fixture *f, gconstpointer data)
{
  static const struct {
    gboolean best, good, in_memory;
  } saves[] = { { TRUE, TRUE, FALSE }, { TRUE, FALSE, TRUE },   { FALSE, TRUE, TRUE },
                { TRUE, TRUE, FALSE }, { FALSE, FALSE, FALSE }, { TRUE, FALSE, TRUE },
                { TRUE, FALSE, TRUE }, { TRUE, TRUE, FALSE } };
  guint best_saved = 0, best_failed = 0;

  for (guint i = 0; i < G_N_ELEMENTS (saves); i++)
    {
      save (f, i + 1, saves[i].best, saves[i].good);
      best_saved += saves[i].best && saves[i].good;
      best_failed += saves[i].best && !saves[i].good;
      g_assert_cmpuint (f->best_saved, ==, best_saved);
      g_assert_cmpuint (f->best_failed, ==, best_failed);
      g_assert_true ((dyno_saver_get_best (f->saver) != NULL) == saves[i].in_memory);
      g_assert_true (dyno_checkpoint_owns_weights (f->best, 5));
    }
}

/* Best weights that wait are written before the next other state, again after that has failed, and
 * not twice. */
static void
test_best_waits (Fixture *f, gconstpointer data)
{
  static const struct {
    gboolean best, good, in_memory;
    guint best_saved, holds;
  } saves[] = { { TRUE, TRUE, TRUE, 0, 0 },   { TRUE, TRUE, TRUE, 0, 0 },
                { FALSE, TRUE, FALSE, 1, 3 }, { TRUE, TRUE, TRUE, 1, 3 },
                { FALSE, FALSE, TRUE, 1, 3 }, { FALSE, TRUE, FALSE, 2, 6 },
                { FALSE, TRUE, FALSE, 2, 7 } };

  for (guint i = 0; i < G_N_ELEMENTS (saves); i++)
    {
      save (f, i + 1, saves[i].best, saves[i].good);
      g_assert_cmpuint (f->best_saved, ==, saves[i].best_saved);
      g_assert_true ((dyno_saver_get_best (f->saver) != NULL) == saves[i].in_memory);
      g_assert_true (g_file_test (f->best, G_FILE_TEST_EXISTS) == (saves[i].best_saved > 0));
      assert_holds (f, saves[i].holds);
    }
  g_assert_cmpuint (f->best_failed, ==, 1);
  g_assert_true (dyno_checkpoint_owns_weights (f->best, 5));

  /* Without a flush in between: the second best replaces the first, and there is room meanwhile. */
  for (guint i = 0; i < 3; i++)
    {
      DynoPosition position = position_of (10 + i);

      g_assert_true (dyno_saver_take (f->saver, i < 2, NULL));
      dyno_saver_commit (f->saver, f->job, &position, i < 2);
      if (i < 2)
        g_assert_true (dyno_saver_has_room (f->saver));
    }
  dyno_saver_flush (f->saver);
  g_assert_cmpuint (f->best_saved, ==, 3);
  g_assert_null (dyno_saver_get_best (f->saver));
  g_assert_true (dyno_saver_holds (f->saver, &(DynoPosition){ .step = 12, .epoch = 4 }));
}

/* A copied state that turns out to be bad is not saved, and its buffer is free again. */
static void
test_cancelled (Fixture *f, gconstpointer data)
{
  for (guint64 i = 1; i <= 2; i++)
    {
      g_assert_true (dyno_saver_take (f->saver, FALSE, NULL));
      dyno_saver_cancel (f->saver);
      dyno_saver_flush (f->saver);
      g_assert_true (dyno_saver_has_room (f->saver));
      assert_holds (f, i == 1 ? 0 : 1);
      save (f, i, FALSE, TRUE);
      assert_holds (f, i);
    }
}

/* --- saved files ------------------------------------------------------------------------------ */

/* Every word of the loss scale's state, and every parameter with its moments, is in the file as it
 * was saved: the second state in the second checkpoint, the first state in the first. */
static void
test_state (Fixture *f, gconstpointer data)
{
  DynoProgram *program = dyno_engine_get_program (f->engine);
  DynoTensor *target = dyno_graph_scaler (dyno_engine_get_graph (f->engine));
  const char *const files[] = { DYNO_CHECKPOINT_NAME_PREVIOUS, DYNO_CHECKPOINT_NAME };
  struct DynoScalerState scalers[2], found;

  for (guint i = 0; i < 2; i++)
    {
      float words[sizeof found / sizeof (float)];

      for (guint k = 0; k < G_N_ELEMENTS (words); k++)
        words[k] = (float) (1 + i + 3 * k);
      memcpy (&scalers[i], words, sizeof words);
      g_assert_true (
          dyno_program_write_tensor (program, target, 0, &scalers[i], sizeof found, NULL));
      save (f, i + 1, FALSE, TRUE);
    }
  for (guint i = 0; i < 4; i++)
    {
      g_autofree char *path = g_build_filename (f->folder, files[i % 2], NULL);
      g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func (g_free);
      g_autoptr (GError) error = NULL;
      DynoPosition position;

      g_assert_true (dyno_checkpoint_load (path, program, f->job, f->engine->training.n_samples, 7,
                                           &position, warnings, &error));
      g_assert_no_error (error);
      g_assert_cmpuint (warnings->len, ==, 0);
      g_assert_cmpuint (position.step, ==, i % 2 + 1);
      g_assert_true (dyno_program_read_tensor (program, target, 0, &found, sizeof found, NULL));
      g_assert_cmpmem (&found, sizeof found, &scalers[i % 2], sizeof found);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name, function) g_test_add (name, Fixture, NULL, set_up, function, tear_down)
  ADD ("/train/saver/last-good-one-is-held", test_checkpoints);
  ADD ("/train/saver/best-in-memory-until-written", test_best);
  g_test_add ("/train/saver/best-waits", Fixture, "", set_up, test_best_waits, tear_down);
  ADD ("/train/saver/cancelled-is-not-saved", test_cancelled);
  ADD ("/train/saver/state-of-each-checkpoint-comes-back", test_state);
  return g_test_run ();
}
