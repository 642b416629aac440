/* SPDX-License-Identifier: MIT */
/* Draws samples as the first layer reads them in training; a mask, which is transformed with its
 * picture, is drawn over it in the colours of the classes. */
#include "inspect-augmented.h"
#include "palette.h"
#include "plotmodule.h"
#include "samplepreview.h"
#include "signals.h"

static DynoInspectSet
find_purpose (const char *key)
{
  static const char *const dividing[] = { "data.val_split", "data.test_split",
                                          "data.folds",     "data.fold",
                                          "seed",           NULL };

  return dyno_setting_find (key)->opens_data ? DYNO_INSPECT_OPENS
         : g_strv_contains (dividing, key)   ? DYNO_INSPECT_DIVIDES
                                             : DYNO_INSPECT_OTHERS;
}

gboolean
dyno_inspect_apply (DynoSettings *settings, char *const *set, DynoInspectSet *purpose,
                    GError **error)
{
  *purpose = DYNO_INSPECT_OPENS;
  for (guint i = 0; set && set[i]; i++)
    {
      g_auto (GStrv) parts = g_strsplit (set[i], "=", 2);

      if (g_strv_length (parts) != 2)
        {
          g_set_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_SETTING,
                       "--set %s: a setting is given as KEY=VALUE", set[i]);
          return FALSE;
        }
      if (!dyno_settings_set (settings, parts[0], parts[1], error))
        return FALSE;
      *purpose = MAX (*purpose, find_purpose (parts[0]));
    }
  return TRUE;
}

gboolean
dyno_inspect_augmented (DynoDataset *dataset, const guint64 *indices, guint n,
                        char *const *captions, const char *path, const DynoJob *job, GError **error)
{
  g_autoptr (GArray) samples = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autofree DynoSheetTile *tiles = g_new0 (DynoSheetTile, n + 1);
  g_autoptr (DynoDevice) device = NULL;
  g_autoptr (DynoPreview) preview = NULL;
  DynoSheetWrite write_sheet;

  for (guint i = 0; i < n; i++)
    {
      guint32 index = (guint32) indices[i];
      g_array_append_val (samples, index);
    }
  write_sheet = (DynoSheetWrite) dyno_plot_module_find (DYNO_SHEET_SYMBOL, error);
  if (!write_sheet || !(device = dyno_device_open (NULL, error)))
    return FALSE;
  preview =
      dyno_preview_new (device, job, dataset, samples, 0, dyno_signals_get_cancellable (), error);
  if (!preview)
    return FALSE;
  if (preview->masks)
    dyno_palette_blend (preview->pixels, preview->masks,
                        (gsize) preview->n * preview->width * preview->height);
  for (guint i = 0; i < preview->n; i++)
    tiles[i] = (DynoSheetTile){ preview->pixels + (gsize) i * preview->width * preview->height * 3,
                                preview->width, preview->height, captions[i] };
  return write_sheet (DYNO_SHEET_VERSION, dyno_dataset_get_info (dataset)->name, tiles, preview->n,
                      path, error);
}
