/* SPDX-License-Identifier: MIT */
/* Vetting: kernels are compiled before memory is planned, since another variant needs other
 * workspaces.
 *
 * A kernel that fails refuses the tile it was made for, in all shapes of its family; one that only
 * comes with a label (the sums of a split product's parts) refuses that label.  A kernel without
 * variants is the graph's end. */
#include "vet.h"
#include "nn-error.h"

/* The different kernels of a lowering, and what became of them. */
typedef struct {
  GPtrArray *specs;   /* const DynoKernelSpec *, of dispatches */
  GHashTable *places; /* spec -> 1 + index in specs */
  GError **problems;
} Kernels;

static void
kernels_init (Kernels *kernels, DynoLowering *lowering)
{
  GPtrArray *dispatches = dyno_lowering_get_dispatches (lowering);

  kernels->specs = g_ptr_array_new ();
  kernels->places = g_hash_table_new (dyno_kernel_spec_hash, dyno_kernel_spec_equal);
  for (guint i = 0; i < dispatches->len; i++)
    {
      DynoDispatch *dispatch = g_ptr_array_index (dispatches, i);

      if (g_hash_table_contains (kernels->places, &dispatch->spec))
        continue;
      g_ptr_array_add (kernels->specs, &dispatch->spec);
      g_hash_table_insert (kernels->places, &dispatch->spec,
                           GUINT_TO_POINTER (kernels->specs->len));
    }
  kernels->problems = g_new0 (GError *, kernels->specs->len + 1);
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
refuse (DynoChoices *choices, const DynoChoicePoint *point, gboolean is_variant, const char *why,
        const DynoVetWatch *watch)
{
  const char *label = point->labels[point->chosen];
  g_autofree char *variant =
      g_strndup (label, is_variant ? dyno_choice_tile_length (label) : strlen (label));
  g_autofree char *name = g_strdup_printf ("%.*s %s", (int) dyno_choice_family_length (point->key),
                                           point->key, variant);

  if (dyno_choices_refuse (choices, point->key, variant, why) && watch->refused)
    watch->refused (name, why, watch->data);
}

gboolean
dyno_vet_compile (DynoDevice *device, DynoLowering *lowering, DynoChoices *choices,
                  const DynoVetWatch *watch, GCancellable *cancellable, gboolean *again,
                  GError **error)
{
  GPtrArray *dispatches = dyno_lowering_get_dispatches (lowering),
            *points = dyno_lowering_get_choice_points (lowering);
  g_auto (Kernels) kernels = { 0 };

  *again = FALSE;
  kernels_init (&kernels, lowering);
  if (!dyno_kernel_try_many (device, (const DynoKernelSpec *const *) kernels.specs->pdata,
                             kernels.specs->len, kernels.problems, watch->progress, watch->data,
                             cancellable, error))
    return FALSE;
  for (guint i = 0; i < dispatches->len; i++)
    {
      const DynoDispatch *dispatch = g_ptr_array_index (dispatches, i);
      guint place = GPOINTER_TO_UINT (g_hash_table_lookup (kernels.places, &dispatch->spec));
      const GError *problem = kernels.problems[place - 1];

      if (!problem)
        continue;
      if (dispatch->choice == 0)
        {
          g_propagate_error (error, g_error_copy (problem));
          return FALSE;
        }
      refuse (choices, g_ptr_array_index (points, dispatch->choice - 1), dispatch->is_variant,
              problem->message, watch);
      *again = TRUE;
    }
  return TRUE;
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
      gboolean again = FALSE;

      if (lowering
          && dyno_vet_compile (device, lowering, choices, watch, cancellable, &again, &problem)
          && !again)
        return g_steal_pointer (&lowering);
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
