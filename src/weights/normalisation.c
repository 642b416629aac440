/* SPDX-License-Identifier: MIT */
/* See normalisation.h. */
#include "normalisation.h"
#include "checkpoint.h"
#include "intl.h"
#include "weightsinfo.h"

/* Means of three channels do not apply to one channel, nor those of bytes to floats. */
static gboolean
check_input (const DynoBatchField *theirs, const char *shown, const DynoDatasetInfo *data,
             GError **error)
{
  const DynoBatchField *ours = dyno_schema_find_role (&data->schema, DYNO_FIELD_INPUT);
  guint32 unused, channels, own_channels;

  dyno_field_get_image (theirs, &unused, &unused, &channels);
  dyno_field_get_image (ours, &unused, &unused, &own_channels);
  if (theirs->element == ours->element && channels == own_channels)
    return TRUE;
  return dyno_train_refuse_data (
      error,
      ngettext ("“%s” holds %s values of %u channel; the normalisation of "
                "“%s” is of %s values of %u: set "
                "data.normalise to true",
                "“%s” holds %s values of %u channels; the normalisation of "
                "“%s” is of %s values of %u: set "
                "data.normalise to true",
                (gulong) own_channels),
      data->name, dyno_element_name (ours->element), own_channels, shown,
      dyno_element_name (theirs->element), channels);
}

/* notes: the reason why config.json has no normalisation either, where there is such a file. */
static void
refuse_silent (const char *shown, const GPtrArray *notes, GError **error)
{
  g_set_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_CHECKPOINT,
               _ ("“%s” does not state how its input is normalised, nor does a config.json beside "
                  "it%s%s; set data.normalise to true or false"),
               shown, notes->len > 0 ? ": " : "",
               notes->len > 0 ? (const char *) notes->pdata[0] : "");
}

static gboolean
read_weights (const char *path, const DynoDatasetInfo *data, DynoNormalisation *normalisation,
              GError **error)
{
  g_autofree char *shown = g_filename_display_name (path);
  g_autoptr (GPtrArray) notes = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (DynoSafetensors) file = dyno_safetensors_open (path, 0, error);
  g_autoptr (DynoWeightsInfo) info = file ? dyno_weights_info_read (file, error) : NULL;

  if (!info)
    return FALSE;
  dyno_weights_info_complete (info, path, notes);
  if (!info->has_input)
    {
      refuse_silent (shown, notes, error);
      return FALSE;
    }
  *normalisation = info->input.normalisation;
  return check_input (&info->input, shown, data, error);
}

gboolean
dyno_job_find_normalisation (const DynoJob *job, const char *checkpoint,
                             const DynoDatasetInfo *data, DynoNormalisation *normalisation,
                             GError **error)
{
  gboolean known = FALSE;

  if (checkpoint && !dyno_checkpoint_read_normalisation (checkpoint, normalisation, &known, error))
    return FALSE;
  if (known)
    return TRUE;
  if (job->weights_in)
    return read_weights (job->weights_in, data, normalisation, error);
  if (checkpoint)
    {
      g_autofree char *shown = g_filename_display_name (checkpoint);
      g_set_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_SETTING,
                   _ ("data.normalise is weights, and “%s” was trained with another normalisation; "
                      "resume with that"),
                   shown);
    }
  else
    g_set_error_literal (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_SETTING,
                         _ ("data.normalise is weights, and the run starts from none; name them "
                            "with --weights, or set data.normalise to true"));
  return FALSE;
}
