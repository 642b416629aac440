/* SPDX-License-Identifier: MIT */
/* The state and the words of a step above a run, tested without a display. */
#include "setupstep.h"

static void
test_state_is_the_gravest (void)
{
  g_autoptr (DynoSetupStep) step = dyno_setup_step_new (g_strdup ("Shapes"), NULL);

  g_assert_cmpint (dyno_setup_step_get_state (step), ==, DYNO_STEP_READY);
  dyno_setup_step_add (step, DYNO_STEP_WARNING, NULL, DYNO_STEP_MEND_NONE);
  dyno_setup_step_add (step, DYNO_STEP_BLOCKED, "", DYNO_STEP_MEND_NONE);
  dyno_setup_step_add (step, DYNO_STEP_READY, "a remark", DYNO_STEP_MEND_NONE);
  g_assert_cmpint (dyno_setup_step_get_state (step), ==, DYNO_STEP_READY);
  dyno_setup_step_add (step, DYNO_STEP_WARNING, "a warning", DYNO_STEP_MEND_AMP_OFF);
  /* A warning has precedence over a pending check. */
  dyno_setup_step_add (step, DYNO_STEP_PENDING, "more may come", DYNO_STEP_MEND_NONE);
  g_assert_cmpint (dyno_setup_step_get_state (step), ==, DYNO_STEP_WARNING);
  g_assert_cmpint (dyno_setup_step_find (step, DYNO_STEP_WARNING)->mend, ==,
                   DYNO_STEP_MEND_AMP_OFF);
  g_assert_null (dyno_setup_step_find (step, DYNO_STEP_BLOCKED));
  dyno_setup_step_add (step, DYNO_STEP_BLOCKED, "an obstacle", DYNO_STEP_MEND_NONE);
  g_assert_cmpint (dyno_setup_step_get_state (step), ==, DYNO_STEP_BLOCKED);
}

static void
test_words_begin_with_the_gravest (void)
{
  g_autoptr (DynoSetupStep) step = dyno_setup_step_new (g_strdup ("Shapes"), NULL);
  g_autofree char *ready = dyno_setup_step_describe (step), *words = NULL;

  g_assert_cmpstr (ready, ==, "Ready");
  dyno_setup_step_add (step, DYNO_STEP_READY, "a remark", DYNO_STEP_MEND_NONE);
  dyno_setup_step_add (step, DYNO_STEP_WARNING, "a warning", DYNO_STEP_MEND_NONE);
  dyno_setup_step_add (step, DYNO_STEP_WARNING, "another", DYNO_STEP_MEND_NONE);
  words = dyno_setup_step_describe (step);
  g_assert_cmpstr (words, ==, "Please note\na warning\nanother\na remark");
}

/* The window redraws a step only where it differs. */
static void
test_equal_steps (void)
{
  for (guint i = 0; i < 5; i++)
    {
      g_autoptr (DynoSetupStep) a = dyno_setup_step_new (g_strdup ("runs"), g_strdup ("/runs")),
                                b = dyno_setup_step_new (g_strdup ("runs"), g_strdup ("/runs")),
                                c = dyno_setup_step_new (g_strdup (i == 0 ? "run" : "runs"),
                                                         g_strdup (i == 1 ? NULL : "/runs"));

      dyno_setup_step_add (a, DYNO_STEP_WARNING, "full", DYNO_STEP_MEND_NONE);
      dyno_setup_step_add (b, DYNO_STEP_WARNING, "full", DYNO_STEP_MEND_NONE);
      dyno_setup_step_add (c, i == 2 ? DYNO_STEP_BLOCKED : DYNO_STEP_WARNING,
                           i == 3 ? "gone" : "full",
                           i == 4 ? DYNO_STEP_MEND_FOLDER : DYNO_STEP_MEND_NONE);
      g_assert_true (dyno_setup_step_equal (a, b));
      g_assert_false (dyno_setup_step_equal (a, c));
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ui/setupstep/state-is-the-gravest", test_state_is_the_gravest);
  g_test_add_func ("/ui/setupstep/words-begin-with-the-gravest", test_words_begin_with_the_gravest);
  g_test_add_func ("/ui/setupstep/equal-steps", test_equal_steps);
  return g_test_run ();
}
