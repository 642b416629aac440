/* SPDX-License-Identifier: MIT */
/* Vetting: kernels are compiled before memory is planned, since another variant needs other
 * workspaces.  A variant that has not yet passed its test on this device is tested.
 *
 * A test runs a tile in one pass and precision, at one small shape, and its kernels are compiled
 * together with the network's; passed tests are kept, so that the next start compiles only the
 * network's kernels.  A test that cannot allocate memory is repeated at a later start.  A failing
 * kernel refuses its tile in all shapes of the family; a failing kernel that only a split needs
 * (the sums of a split product's parts) refuses that split.  A failing kernel without variants
 * fails the graph. */
#include "vet.h"
#include "nn-error.h"
#include "vetting-private.h"
#include <string.h>

/* The distinct kernels of a lowering, and the errors of their compilation. */
typedef struct {
  GPtrArray *specs;   /* const DynoKernelSpec *, of dispatches */
  GHashTable *places; /* spec -> 1 + index in specs */
  GError **problems;
} Kernels;

static void
kernels_add (Kernels *kernels, DynoLowering *lowering)
{
  GPtrArray *dispatches = dyno_lowering_get_dispatches (lowering);

  for (guint i = 0; i < dispatches->len; i++)
    {
      DynoDispatch *dispatch = g_ptr_array_index (dispatches, i);

      if (g_hash_table_contains (kernels->places, &dispatch->spec))
        continue;
      g_ptr_array_add (kernels->specs, &dispatch->spec);
      g_hash_table_insert (kernels->places, &dispatch->spec,
                           GUINT_TO_POINTER (kernels->specs->len));
    }
}

/* Collects the kernels of the lowering and of the tests (DynoVariantTest; may be NULL). */
static void
kernels_init (Kernels *kernels, DynoLowering *lowering, GPtrArray *tests)
{
  kernels->specs = g_ptr_array_new ();
  kernels->places = g_hash_table_new (dyno_kernel_spec_hash, dyno_kernel_spec_equal);
  kernels_add (kernels, lowering);
  for (guint i = 0; tests && i < tests->len; i++)
    kernels_add (kernels, dyno_variant_test_get_lowering (g_ptr_array_index (tests, i)));
  kernels->problems = g_new0 (GError *, kernels->specs->len + 1);
}

/* The reason why a dispatch's kernel did not compile; NULL: it compiled. */
static const GError *
kernels_get_problem (const Kernels *kernels, const DynoDispatch *dispatch)
{
  guint place = GPOINTER_TO_UINT (g_hash_table_lookup (kernels->places, &dispatch->spec));

  return kernels->problems[place - 1];
}

static void
kernels_clear (Kernels *kernels)
{
  for (guint i = 0; i < kernels->specs->len; i++)
    g_clear_error (&kernels->problems[i]);
  g_free (kernels->problems);
  g_hash_table_unref (kernels->places);
  g_ptr_array_unref (kernels->specs);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Kernels, kernels_clear)

static void
refuse (DynoChoices *choices, const char *key, const DynoVariant *variant, const char *why,
        const DynoVetWatch *watch)
{
  char label[DYNO_VARIANT_LABEL];
  g_autofree char *name = NULL;

  dyno_variant_print (variant, label);
  name = g_strdup_printf ("%.*s %s", (int) dyno_choice_family_length (key), key, label);
  if (dyno_choices_refuse (choices, key, variant, why) && watch->refused)
    watch->refused (name, why, watch->data);
}

static void
refuse_dispatch (DynoChoices *choices, const DynoChoicePoint *point, const DynoDispatch *dispatch,
                 const char *why, const DynoVetWatch *watch)
{
  const DynoVariant *chosen = &point->variants[point->chosen];
  DynoVariant refused = dispatch->is_variant ? dyno_variant_tile (chosen) : *chosen;

  refuse (choices, point->key, &refused, why, watch);
}

/* --- tests ------------------------------------------------------------------------------------ */

/* On a CPU the compiler takes longer for the tests' kernels than for those of a small network, and
 * there is no graphics driver to test: the variants are tested only if DYNO_SELF_TEST is 1.  With
 * another value, such as 0, no device's variants are tested. */
static gboolean
wants_tests (const DynoDeviceInfo *info)
{
  const char *wish = g_getenv ("DYNO_SELF_TEST");

  return wish ? g_str_equal (wish, "1") : info->type != DYNO_DEVICE_TYPE_SOFTWARE;
}

/* Makes one test for each chosen variant that has not passed its test yet. */
static GPtrArray *
make_tests (DynoLowering *lowering, DynoChoices *choices, GError **error)
{
  GPtrArray *points = dyno_lowering_get_choice_points (lowering);
  g_autoptr (GPtrArray) tests =
      g_ptr_array_new_with_free_func ((GDestroyNotify) dyno_variant_test_free);
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = 0; i < points->len && wants_tests (dyno_lowering_get_info (lowering)); i++)
    {
      const DynoChoicePoint *point = g_ptr_array_index (points, i);
      DynoVariant tile = dyno_variant_tile (&point->variants[point->chosen]);
      char label[DYNO_VARIANT_LABEL];
      g_autoptr (GError) problem = NULL;
      DynoVariantTest *test;

      dyno_variant_print (&tile, label);
      if (dyno_choices_has_passed (choices, point->key, &tile)
          || !g_hash_table_add (seen, g_strdup_printf ("%.*s\t%s",
                                                       (int) dyno_choice_family_length (point->key),
                                                       point->key, label)))
        continue;
      test = dyno_variant_test_new (dyno_lowering_get_info (lowering), point->key, &tile, &problem);
      if (problem)
        {
          g_propagate_error (error, g_steal_pointer (&problem));
          return NULL;
        }
      if (test)
        g_ptr_array_add (tests, test);
    }
  return g_steal_pointer (&tests);
}

/* The reason why the test's own kernels did not compile; NULL: they compiled. */
static const GError *
find_problem (const Kernels *kernels, DynoVariantTest *test)
{
  GPtrArray *dispatches = dyno_lowering_get_dispatches (dyno_variant_test_get_lowering (test));
  const GError *problem = NULL;

  for (guint i = 0; i < dispatches->len && !problem; i++)
    problem = kernels_get_problem (kernels, g_ptr_array_index (dispatches, i));
  return problem;
}

static gboolean
is_memory (const GError *problem)
{
  return g_error_matches (problem, DYNO_GPU_ERROR, DYNO_GPU_ERROR_OUT_OF_DEVICE_MEMORY)
         || g_error_matches (problem, DYNO_GPU_ERROR, DYNO_GPU_ERROR_OVER_BUDGET);
}

/* FALSE: the device fails. */
static gboolean
run_test (DynoDevice *device, DynoVariantTest *test, DynoChoices *choices,
          const DynoVetWatch *watch, gboolean *again, GError **error)
{
  const char *key = dyno_variant_test_get_key (test);
  const DynoVariant *variant = dyno_variant_test_get_variant (test);
  g_autoptr (GError) problem = NULL;
  double nmse, tolerance;
  char label[DYNO_VARIANT_LABEL];

  dyno_variant_print (variant, label);
  if (!dyno_variant_test_run (test, device, &nmse, &tolerance, &problem))
    {
      if (is_memory (problem))
        {
          g_info ("%s is not tested: %s", label, problem->message);
          return TRUE;
        }
      g_propagate_error (error, g_steal_pointer (&problem));
      return FALSE;
    }
  if (nmse <= tolerance) /* a NaN fails */
    {
      g_debug ("%s of %s computes correctly (NMSE %.2g)", label, key, nmse);
      dyno_choices_pass (choices, key, variant);
      return TRUE;
    }
  g_autofree char *why = g_strdup_printf ("its self-test on %s gave wrong numbers (NMSE %.2g, at "
                                          "most %.2g is right); update the driver",
                                          dyno_device_get_info (device)->name, nmse, tolerance);
  refuse (choices, key, variant, why, watch);
  *again = TRUE;
  return TRUE;
}

static gboolean
run_tests (DynoDevice *device, const Kernels *kernels, GPtrArray *tests, DynoChoices *choices,
           const DynoVetWatch *watch, gboolean *again, GError **error)
{
  for (guint i = 0; i < tests->len; i++)
    {
      DynoVariantTest *test = g_ptr_array_index (tests, i);
      const GError *problem = find_problem (kernels, test);

      if (problem)
        {
          refuse (choices, dyno_variant_test_get_key (test), dyno_variant_test_get_variant (test),
                  problem->message, watch);
          *again = TRUE;
        }
      else if (!run_test (device, test, choices, watch, again, error))
        return FALSE;
    }
  return TRUE;
}

/* --- compiling -------------------------------------------------------------------------------- */

/* tests may be NULL: no tests are made.  *again: a variant was refused. */
static gboolean
vet (DynoDevice *device, DynoLowering *lowering, GPtrArray *tests, DynoChoices *choices,
     const DynoVetWatch *watch, GCancellable *cancellable, gboolean *again, GError **error)
{
  GPtrArray *dispatches = dyno_lowering_get_dispatches (lowering),
            *points = dyno_lowering_get_choice_points (lowering);
  g_auto (Kernels) kernels = { 0 };

  *again = FALSE;
  kernels_init (&kernels, lowering, tests);
  if (!dyno_kernel_try_many (device, (const DynoKernelSpec *const *) kernels.specs->pdata,
                             kernels.specs->len, kernels.problems, watch->progress, watch->data,
                             cancellable, error))
    return FALSE;
  for (guint i = 0; i < dispatches->len; i++)
    {
      const DynoDispatch *dispatch = g_ptr_array_index (dispatches, i);
      const GError *problem = kernels_get_problem (&kernels, dispatch);

      if (!problem)
        continue;
      if (dispatch->choice == 0)
        {
          g_propagate_error (error, g_error_copy (problem));
          return FALSE;
        }
      refuse_dispatch (choices, g_ptr_array_index (points, dispatch->choice - 1), dispatch,
                       problem->message, watch);
      *again = TRUE;
    }
  return !tests || run_tests (device, &kernels, tests, choices, watch, again, error);
}

gboolean
dyno_vet_compile (DynoDevice *device, DynoLowering *lowering, DynoChoices *choices,
                  const DynoVetWatch *watch, GCancellable *cancellable, gboolean *again,
                  GError **error)
{
  return vet (device, lowering, NULL, choices, watch, cancellable, again, error);
}

DynoLowering *
dyno_vet_lower (DynoDevice *device, DynoGraph *graph, DynoChoices *choices,
                const DynoVetWatch *watch, GCancellable *cancellable, GError **error)
{
  for (;;)
    {
      g_autoptr (GError) problem = NULL;
      g_autoptr (DynoLowering) lowering =
          dyno_lowering_new (graph, dyno_device_get_info (device), choices, &problem);
      g_autoptr (GPtrArray) tests = lowering ? make_tests (lowering, choices, &problem) : NULL;
      gboolean again = FALSE;

      if (tests && vet (device, lowering, tests, choices, watch, cancellable, &again, &problem)
          && !again)
        {
          if (tests->len > 0)
            dyno_choices_keep (choices);
          return g_steal_pointer (&lowering);
        }
      if (!problem)
        {
          dyno_choices_keep (choices);
          continue;
        }
      if (g_error_matches (problem, DYNO_NN_ERROR, DYNO_NN_ERROR_KERNEL))
        {
          dyno_choices_forget_refusals (choices);
          dyno_choices_keep (choices);
        }
      g_propagate_error (error, g_steal_pointer (&problem));
      return NULL;
    }
}
