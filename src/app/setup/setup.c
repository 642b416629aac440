/* SPDX-License-Identifier: MIT */
/* The state of the next run.  Invariants: the job always agrees with the last "changed" signal; no
 * getter changes anything; the data set in use stays until another one is open. */
#include "setup.h"
#include "dataopener.h"
#include "devicenumbers.h"
#include "networkopener.h"
#include "planner.h"
#include "setuphistory.h"
#include "words.h"
#include <gio/gio.h>
#include <glib/gi18n.h>

struct _DynoSetup {
  GObject parent_instance;
  DynoJob *job;
  GPtrArray *devices;
  GError *device_error;
  guint device;
  char *preferred_device; /* name, or NULL */
  GPtrArray *presets;
  char *preset; /* id of the chosen preset; "": the preset of the device */
  DynoLevel level;
  gboolean by_hand;       /* a preset's setting was changed since the preset was chosen */
  DynoSettings reference; /* the values of preset and defaults */
  /* the values that start_small () sets are part of reference, until a preset is chosen */
  gboolean small;
  DynoSetupHistory *history;
  DynoSetupWork work;
  gboolean changes_run, closed;
  gboolean opens_job; /* the data set that is being opened is that of a job */
  /* first_start: no state was saved before; first_shapes: also, no data set was given */
  gboolean first_start, first_shapes;

  DynoDataOpener *opener;
  DynoDataset *dataset;
  DynoNetworkOpener *network_opener;

  DynoPlanner *planner;
  DynoJobPlan plan;
  DynoRunEstimate estimate;
  gboolean has_plan;
  char *advice;
};

enum { CHANGED, FAILED, REFUSED, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (DynoSetup, dyno_setup, G_TYPE_OBJECT)

/* The end of every change: announce notifies the listeners, plan_later requests a new plan. */

static void respect_device (DynoSetup *self, DynoSettings *settings);
static void apply_preset (DynoSetup *self, DynoSettings *settings);

static void
make_small (DynoSettings *settings)
{
  settings->batch_size = 32;
  settings->model_width = 0.25;
}

static void
announce (DynoSetup *self, guint flags)
{
  dyno_settings_init (&self->reference);
  apply_preset (self, &self->reference);
  respect_device (self, &self->reference);
  if (self->small)
    make_small (&self->reference);
  if (!self->closed)
    g_signal_emit (self, signals[CHANGED], 0, flags);
}

static void
plan_later (DynoSetup *self)
{
  if (!self->closed)
    {
      DynoUsedDevices used = dyno_setup_get_used_devices (self);
      dyno_planner_ask (self->planner, self->job, self->dataset,
                        dyno_used_devices_find_smallest (&used), dyno_used_devices_count (&used));
    }
}

static void
planned (const DynoJob *job, const DynoJobPlan *plan, const DynoRunEstimate *estimate,
         const GError *error, gpointer data)
{
  DynoSetup *self = data;
  self->has_plan = plan != NULL;
  g_clear_pointer (&self->advice, g_free);
  if (plan)
    {
      self->plan = *plan;
      self->estimate = *estimate;
      self->advice = dyno_words_plan_advice (&job->settings, plan);
    }
  else if (error)
    self->advice = g_strdup (error->message);
  announce (self, DYNO_SETUP_PLAN);
}

/* Settings follow the preset until a setting that the preset determines is changed by hand. */

static void
respect_device (DynoSetup *self, DynoSettings *settings)
{
  DynoUsedDevices used = dyno_setup_get_used_devices (self);
  if (!dyno_used_devices_have_fp16 (&used))
    settings->amp = FALSE;
}

DynoPresetUse
dyno_setup_get_preset_use (DynoSetup *self)
{
  return (DynoPresetUse){ .level = self->level,
                          .job = self->job,
                          .data = dyno_setup_get_info (self),
                          .device = dyno_setup_get_device (self) };
}

static void
apply_preset (DynoSetup *self, DynoSettings *settings)
{
  const DynoPreset *preset = dyno_setup_get_preset (self);
  DynoPresetUse use = dyno_setup_get_preset_use (self);
  if (preset)
    dyno_preset_apply (preset, &use, settings);
}

static void
follow_preset (DynoSetup *self)
{
  if (!dyno_setup_get_preset (self))
    return;
  apply_preset (self, &self->job->settings);
  respect_device (self, &self->job->settings);
  if (self->small)
    make_small (&self->job->settings);
  self->by_hand = FALSE;
}

/* Undo */

static DynoSetupState *
take_state (DynoSetup *self)
{
  DynoSetupState *state = g_new0 (DynoSetupState, 1);
  state->settings = self->job->settings;
  state->model = g_strdup (self->job->model);
  state->weights = g_strdup (self->job->weights_in);
  state->preset = g_strdup (self->preset);
  state->devices = g_strdup (self->job->devices);
  state->device = self->device;
  state->level = self->level;
  state->by_hand = self->by_hand;
  state->small = self->small;
  return state;
}

static void
remember (DynoSetup *self, const char *key)
{
  dyno_setup_history_add (self->history, take_state (self), key, g_get_monotonic_time ());
}

/* Data set */

static void
scanned (gpointer data)
{
  announce (data, DYNO_SETUP_DATASET);
}

/* The settings of a job would train the data set of another one. */
static void
drop_data (DynoSetup *self)
{
  g_clear_pointer (&self->dataset, dyno_dataset_unref);
  g_clear_pointer (&self->job->data, g_free);
  plan_later (self);
}

static void
opened (const char *location, DynoDataset *dataset, const GError *error, gpointer data)
{
  DynoSetup *self = data;
  if (!dataset)
    {
      if (self->opens_job && !g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
        drop_data (self);
      announce (self, DYNO_SETUP_DATASET);
      if (!self->closed && !g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
        g_signal_emit (self, signals[FAILED], 0, error);
      return;
    }
  self->opens_job = FALSE; /* a later opening is that of the user's settings */
  dyno_dataset_unref (self->dataset);
  self->dataset = dyno_dataset_ref (dataset);
  g_free (self->job->data);
  self->job->data = g_strdup (location);
  if (!self->by_hand)
    follow_preset (self);
  announce (self, DYNO_SETUP_DATASET | DYNO_SETUP_SETTINGS);
  plan_later (self);
}

static void
open_data (DynoSetup *self, const char *location)
{
  DynoDatasetParams params;
  dyno_job_get_dataset_params (self->job, &params);
  params.targets = NULL; /* the file of the targets is found beside the data */
  dyno_data_opener_open (self->opener, location, &params);
  announce (self, DYNO_SETUP_DATASET);
}

void
dyno_setup_open_data (DynoSetup *self, const char *location)
{
  g_return_if_fail (DYNO_IS_SETUP (self) && location);
  if (dyno_setup_is_locked (self))
    return;
  dyno_setup_set_changes_run (self, FALSE);
  self->opens_job = FALSE;
  open_data (self, location);
}

void
dyno_setup_cancel_open (DynoSetup *self)
{
  if (dyno_data_opener_cancel (self->opener))
    announce (self, DYNO_SETUP_DATASET);
}

const char *
dyno_setup_get_opening (DynoSetup *self, guint64 *found)
{
  return dyno_data_opener_get_location (self->opener, found);
}

DynoDataset *
dyno_setup_get_dataset (DynoSetup *self)
{
  return self->dataset;
}

const DynoDatasetInfo *
dyno_setup_get_info (DynoSetup *self)
{
  return self->dataset ? dyno_dataset_get_info (self->dataset) : NULL;
}

/* Devices and presets */

static void
list_in_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  GError *error = NULL;
  GPtrArray *devices = dyno_device_list (&error);
  if (devices)
    g_task_return_pointer (task, devices, (GDestroyNotify) g_ptr_array_unref);
  else
    g_task_return_error (task, error);
}

/* Sets the names of device and preset in the job, after either was chosen anew. */
static void
name_choices (DynoSetup *self)
{
  const DynoPreset *preset = dyno_setup_get_preset (self);
  const DynoDeviceInfo *device = dyno_setup_get_device (self);
  g_free (self->job->preset);
  self->job->preset = preset ? g_strdup (preset->id) : NULL;
  self->job->device = device ? (int) device->index : -1;
}

static void
take_list (DynoSetup *self, char *list)
{
  g_free (self->job->devices);
  self->job->devices = list;
}

DynoUsedDevices
dyno_setup_get_used_devices (DynoSetup *self)
{
  return (DynoUsedDevices){ self->devices, self->device, self->job->devices };
}

/* Loads the presets of the device and applies their settings, after the devices were listed or
 * another device was chosen. */
static void
take_device (DynoSetup *self)
{
  g_clear_pointer (&self->presets, g_ptr_array_unref);
  self->presets = dyno_preset_list (dyno_setup_get_device (self));
  name_choices (self);
  if (self->by_hand)
    respect_device (self, &self->job->settings);
  else
    follow_preset (self);
}

static gboolean
is_software (DynoSetup *self)
{
  const DynoDeviceInfo *device = dyno_setup_get_device (self);
  return device && device->type == DYNO_DEVICE_TYPE_SOFTWARE;
}

/* On a software device the first start uses settings that are small enough for a curve within
 * seconds. */
static void
start_small (DynoSetup *self)
{
  if (!self->first_start || !is_software (self))
    return;
  make_small (&self->job->settings);
  make_small (&self->reference); /* no setting was changed by the user yet */
  self->small = self->by_hand = TRUE;
  if (self->first_shapes)
    dyno_setup_open_data (self, "builtin:shapes?size=32&samples=2000");
}

void
dyno_setup_take_devices (DynoSetup *self, GPtrArray *devices, GError *error)
{
  g_clear_pointer (&self->devices, g_ptr_array_unref);
  g_clear_error (&self->device_error);
  self->devices = devices;
  self->device_error = error;
  for (guint i = 0; self->devices && i < self->devices->len; i++)
    if (g_strcmp0 (((const DynoDeviceInfo *) self->devices->pdata[i])->name, self->preferred_device)
        == 0)
      self->device = i;
  if (!is_software (self)) /* the small values are those of another device */
    self->small = FALSE;
  take_device (self);
  start_small (self);
  announce (self, DYNO_SETUP_DEVICES | DYNO_SETUP_PRESET | DYNO_SETUP_SETTINGS);
  plan_later (self);
}

static void
list_done (GObject *source, GAsyncResult *result, gpointer data)
{
  GError *error = NULL;
  GPtrArray *devices = g_task_propagate_pointer (G_TASK (result), &error);
  dyno_setup_take_devices (DYNO_SETUP (source), devices, error);
}

void
dyno_setup_prefer_device (DynoSetup *self, const char *name)
{
  g_free (self->preferred_device);
  self->preferred_device = g_strdup (name);
}

void
dyno_setup_start (DynoSetup *self)
{
  g_autoptr (GTask) task = g_task_new (self, NULL, list_done, NULL);
  g_task_run_in_thread (task, list_in_thread);
}

GPtrArray *
dyno_setup_get_devices (DynoSetup *self)
{
  return self->devices;
}

const GError *
dyno_setup_get_device_error (DynoSetup *self)
{
  return self->device_error;
}

const DynoDeviceInfo *
dyno_setup_get_device (DynoSetup *self)
{
  return self->devices && self->device < self->devices->len
             ? g_ptr_array_index (self->devices, self->device)
             : NULL;
}

void
dyno_setup_set_device (DynoSetup *self, guint index)
{
  if (!self->devices || index >= self->devices->len || index == self->device)
    return;
  remember (self, NULL);
  DynoUsedDevices used = dyno_setup_get_used_devices (self);
  if (!dyno_used_devices_suit (&used, index)) /* nor do those that were ticked suit it */
    used.list = NULL;
  used.chosen = self->device = index;
  take_list (self, dyno_used_devices_with (&used, index, TRUE));
  take_device (self);
  announce (self, DYNO_SETUP_DEVICES | DYNO_SETUP_PRESET | DYNO_SETUP_SETTINGS);
  plan_later (self);
}

/* The settings follow, since AMP needs fp16 on all devices. */
static void
announce_list (DynoSetup *self)
{
  if (self->by_hand)
    respect_device (self, &self->job->settings);
  else
    follow_preset (self);
  announce (self, DYNO_SETUP_DEVICES | DYNO_SETUP_SETTINGS);
  plan_later (self);
}

void
dyno_setup_use_device (DynoSetup *self, guint index, gboolean use)
{
  DynoUsedDevices used = dyno_setup_get_used_devices (self);
  if (!self->devices || index >= self->devices->len || index == self->device
      || dyno_used_devices_have (&used, index) == use)
    return;
  remember (self, NULL);
  take_list (self, dyno_used_devices_with (&used, index, use));
  announce_list (self);
}

void
dyno_setup_use_list (DynoSetup *self, const char *list)
{
  g_autoptr (GArray) numbers =
      list && self->devices ? dyno_device_numbers_parse (list, self->devices) : NULL;
  DynoUsedDevices used = { self->devices, self->device, list };
  if (numbers && !dyno_device_numbers_have (numbers, self->device))
    {
      used.chosen = self->device = g_array_index (numbers, guint, 0);
      take_device (self);
    }
  take_list (self, dyno_used_devices_with (&used, used.chosen, TRUE));
  announce_list (self);
}

GPtrArray *
dyno_setup_get_presets (DynoSetup *self)
{
  return self->presets;
}

const DynoPreset *
dyno_setup_get_preset (DynoSetup *self)
{
  if (!self->presets || self->presets->len == 0)
    return NULL;
  for (guint i = 0; i < self->presets->len && self->preset[0]; i++)
    {
      const DynoPreset *preset = g_ptr_array_index (self->presets, i);
      if (g_str_equal (preset->id, self->preset))
        return preset;
    }
  const DynoDeviceInfo *device = dyno_setup_get_device (self);
  const DynoPreset *match = device ? dyno_preset_match (self->presets, device) : NULL;
  return match ? match : g_ptr_array_index (self->presets, 0);
}

DynoLevel
dyno_setup_get_level (DynoSetup *self)
{
  return self->level;
}

static void
choose_preset (DynoSetup *self)
{
  self->small = FALSE;
  name_choices (self);
  follow_preset (self);
  announce (self, DYNO_SETUP_PRESET | DYNO_SETUP_SETTINGS);
  plan_later (self);
}

void
dyno_setup_set_preset (DynoSetup *self, const char *id)
{
  remember (self, NULL);
  g_free (self->preset);
  self->preset = g_strdup (id ? id : "");
  choose_preset (self);
}

void
dyno_setup_set_level (DynoSetup *self, DynoLevel level)
{
  if (level == self->level && !self->by_hand && !self->small)
    return;
  remember (self, NULL);
  self->level = level;
  choose_preset (self);
}

/* Model and settings */

const DynoJob *
dyno_setup_get_job (DynoSetup *self)
{
  return self->job;
}

/* Opens the data set again that is being opened, else the one in use, as the settings and the model
 * are now. */
static void
open_again (DynoSetup *self)
{
  const char *opening = dyno_setup_get_opening (self, NULL);
  g_autofree char *location = g_strdup (opening ? opening : self->job->data);
  if (opening || (self->dataset && !dyno_dataset_get_info (self->dataset)->generated))
    open_data (self, location);
}

static gboolean
is_of_sequences (const char *name)
{
  const DynoModel *model = name ? dyno_model_find (name, NULL) : NULL;
  return model && (model->reads_lengths || model->sequences);
}

/* Whether the model reads the data set differently from the previous model: an array with three
 * axes is read as images or as sequences, depending on the model.  One that is being opened may be
 * such an array. */
static gboolean
reads_otherwise (DynoSetup *self, const char *before)
{
  const DynoDatasetInfo *info = dyno_setup_get_info (self);
  gboolean may_be =
      dyno_setup_get_opening (self, NULL)
      || (info && (g_strcmp0 (info->axes, "NHW") == 0 || g_strcmp0 (info->axes, "NTF") == 0));
  return may_be && is_of_sequences (before) != is_of_sequences (self->job->model);
}

/* Sets the model and its start weights, which may be NULL. */
static void
take_model (DynoSetup *self, const char *name, const char *weights)
{
  g_autofree char *before = g_strdup (self->job->model);
  if (g_strcmp0 (name, before) == 0 && g_strcmp0 (weights, self->job->weights_in) == 0)
    return;
  char *model_copy = g_strdup (name), *weights_copy = g_strdup (weights); /* may be the job's own */
  remember (self, NULL);
  g_free (self->job->model);
  g_free (self->job->weights_in);
  self->job->model = model_copy;
  self->job->weights_in = weights_copy;
  if (g_strcmp0 (name, before) != 0)
    dyno_setup_set_changes_run (self, FALSE);
  if (!self->by_hand)
    follow_preset (self); /* a preset's rows depend on the model, too */
  announce (self, DYNO_SETUP_MODEL | DYNO_SETUP_SETTINGS);
  if (reads_otherwise (self, before))
    open_again (self);
  plan_later (self);
}

void
dyno_setup_set_model (DynoSetup *self, const char *name)
{
  gboolean same = g_strcmp0 (name, self->job->model) == 0;
  if (dyno_network_opener_cancel (self->network_opener))
    announce (self, DYNO_SETUP_MODEL);
  if (!same)
    take_model (self, name, NULL);
}

void
dyno_setup_set_weights (DynoSetup *self, const char *path)
{
  take_model (self, self->job->model, path);
}

static void
network_opened (const DynoOpenedNetwork *opened, gpointer data)
{
  DynoSetup *self = data;
  announce (self, DYNO_SETUP_MODEL);
  if (opened->error && !self->closed)
    g_signal_emit (self, signals[REFUSED], 0, opened->path, opened->error);
  else if (!opened->error)
    take_model (self, opened->model ? opened->model->name : self->job->model,
                opened->has_weights ? opened->path : NULL);
}

void
dyno_setup_open_network (DynoSetup *self, const char *path, gboolean dropped)
{
  dyno_network_opener_open (self->network_opener, path, dropped ? self->job->model : NULL);
  announce (self, DYNO_SETUP_MODEL);
}

const char *
dyno_setup_get_reading (DynoSetup *self)
{
  return dyno_network_opener_get_path (self->network_opener);
}

/* Whether the two settings open a data set differently. */
static gboolean
opens_otherwise (const DynoSettings *a, const DynoSettings *b)
{
  guint n;
  const DynoSettingInfo *list = dyno_setting_list (&n);
  for (guint i = 0; i < n; i++)
    {
      if (list[i].opens_data
          && dyno_settings_get_number (a, list[i].key) != dyno_settings_get_number (b, list[i].key))
        return TRUE;
    }
  return FALSE;
}

const DynoSettings *
dyno_setup_get_reference (DynoSetup *self)
{
  return &self->reference;
}

gboolean
dyno_setup_differs (DynoSetup *self, const DynoSettingInfo *info)
{
  return dyno_settings_get_number (&self->job->settings, info->key)
         != dyno_settings_get_number (&self->reference, info->key);
}

gboolean
dyno_setup_is_custom (DynoSetup *self)
{
  guint n;
  const DynoSettingInfo *list = dyno_setting_list (&n);
  for (guint i = 0; i < n; i++)
    {
      if (list[i].by_preset && dyno_setup_differs (self, &list[i]))
        return TRUE;
    }
  return FALSE;
}

gboolean
dyno_setup_set_number (DynoSetup *self, const char *key, double value, GError **error)
{
  const DynoSettingInfo *info = dyno_setting_find (key);
  g_return_val_if_fail (info, FALSE);
  if (dyno_settings_get_number (&self->job->settings, key) == value)
    return TRUE;
  g_autoptr (DynoSetupState) before = take_state (self);
  if (!dyno_settings_set_number (&self->job->settings, key, value, error))
    return FALSE;
  dyno_setup_history_add (self->history, g_steal_pointer (&before), key, g_get_monotonic_time ());
  if (info->by_preset)
    self->by_hand = dyno_setup_is_custom (self);
  else if (!self->by_hand)
    follow_preset (self); /* the preset's values depend on the image size */
  if (info->opens_data)
    open_again (self);
  announce (self, DYNO_SETUP_SETTINGS);
  plan_later (self);
  return TRUE;
}

/* Sets all settings at once; none follows the preset any more.  Returns TRUE if the data set must
 * be opened again. */
static gboolean
take_settings (DynoSetup *self, const DynoSettings *settings)
{
  gboolean otherwise = opens_otherwise (&self->job->settings, settings);
  self->job->settings = *settings;
  respect_device (self, &self->job->settings);
  self->by_hand = TRUE;
  return otherwise;
}

void
dyno_setup_set_settings (DynoSetup *self, const DynoSettings *settings)
{
  remember (self, NULL);
  if (take_settings (self, settings))
    open_again (self);
  announce (self, DYNO_SETUP_SETTINGS);
  plan_later (self);
}

/* Sets model and start weights of a job.  If the job has another model but still the present start
 * weights, it is a copy of the present job: these weights are not of the new model, and are
 * dropped. */
static void
take_job_model (DynoSetup *self, const DynoJob *job)
{
  gboolean other = job->model && g_strcmp0 (job->model, self->job->model) != 0;
  gboolean old = g_strcmp0 (job->weights_in, self->job->weights_in) == 0;
  char *weights = other && old ? NULL : g_strdup (job->weights_in);
  dyno_network_opener_cancel (self->network_opener);
  g_free (self->job->weights_in);
  self->job->weights_in = weights;
  if (!other)
    return;
  g_free (self->job->model);
  self->job->model = g_strdup (job->model);
}

void
dyno_setup_set_job (DynoSetup *self, const DynoJob *job)
{
  if (dyno_setup_is_locked (self))
    return;
  remember (self, NULL);
  dyno_setup_set_changes_run (self, FALSE);
  self->first_start = self->small = FALSE;
  if (job->preset)
    {
      g_free (self->preset);
      self->preset = g_strdup (job->preset);
      name_choices (self);
    }
  g_autofree char *before = g_strdup (self->job->model);
  take_job_model (self, job);
  gboolean otherwise = take_settings (self, &job->settings) || reads_otherwise (self, before);
  announce (self, DYNO_SETUP_PRESET | DYNO_SETUP_MODEL | DYNO_SETUP_SETTINGS);
  if (job->data && g_strcmp0 (job->data, self->job->data) != 0)
    {
      dyno_setup_open_data (self, job->data);
      self->opens_job = TRUE;
    }
  else if (otherwise)
    open_again (self);
  plan_later (self);
}

gboolean
dyno_setup_can_step (DynoSetup *self, gboolean undo)
{
  return dyno_setup_history_can (self->history, undo);
}

gboolean
dyno_setup_step (DynoSetup *self, gboolean undo)
{
  g_autoptr (DynoSetupState) state =
      dyno_setup_history_step (self->history, undo, take_state (self));
  if (!state)
    return FALSE;
  gboolean otherwise = opens_otherwise (&self->job->settings, &state->settings);
  gboolean other_device = state->device != self->device;
  gboolean other_list = g_strcmp0 (state->devices, self->job->devices) != 0;
  self->device = state->device;
  take_list (self, g_steal_pointer (&state->devices));
  self->level = state->level;
  g_free (self->preset);
  self->preset = g_steal_pointer (&state->preset);
  g_autofree char *before = g_steal_pointer (&self->job->model);
  self->job->model = g_steal_pointer (&state->model);
  g_free (self->job->weights_in);
  self->job->weights_in = g_steal_pointer (&state->weights);
  otherwise |= reads_otherwise (self, before);
  if (g_strcmp0 (self->job->model, before) != 0)
    dyno_setup_set_changes_run (self, FALSE);
  if (other_device)
    take_device (self);
  name_choices (self);
  self->job->settings = state->settings;
  respect_device (self, &self->job->settings);
  self->by_hand = state->by_hand;
  self->small = state->small;
  announce (self, DYNO_SETUP_PRESET | DYNO_SETUP_MODEL | DYNO_SETUP_SETTINGS
                      | (other_device || other_list ? DYNO_SETUP_DEVICES : 0));
  if (otherwise)
    open_again (self);
  plan_later (self);
  return TRUE;
}

const DynoJobPlan *
dyno_setup_get_plan (DynoSetup *self)
{
  return self->has_plan ? &self->plan : NULL;
}

const DynoRunEstimate *
dyno_setup_get_estimate (DynoSetup *self)
{
  return self->has_plan ? &self->estimate : NULL;
}

const char *
dyno_setup_get_advice (DynoSetup *self)
{
  return self->advice;
}

void
dyno_setup_set_work (DynoSetup *self, DynoSetupWork work)
{
  if (self->work == work)
    return;
  self->work = work;
  self->changes_run = FALSE;
  announce (self, DYNO_SETUP_WORK);
  if (work == DYNO_SETUP_IDLE)
    plan_later (self); /* the run that has ended gives a better estimate of the time */
}

gboolean
dyno_setup_is_busy (DynoSetup *self)
{
  return self->work != DYNO_SETUP_IDLE;
}

gboolean
dyno_setup_is_locked (DynoSetup *self)
{
  return self->work == DYNO_SETUP_MEASURES;
}

gboolean
dyno_setup_changes_run (DynoSetup *self)
{
  return self->changes_run;
}

void
dyno_setup_set_changes_run (DynoSetup *self, gboolean changes)
{
  changes = changes && self->work == DYNO_SETUP_TRAINS;
  if (self->changes_run == changes)
    return;
  self->changes_run = changes;
  announce (self, DYNO_SETUP_WORK);
}

gboolean
dyno_setup_is_like (DynoSetup *self, const DynoJob *job)
{
  return job && g_strcmp0 (job->data, self->job->data) == 0
         && g_strcmp0 (job->model, self->job->model) == 0;
}

/* State that is kept when the program exits */

char **
dyno_setup_save_settings (DynoSetup *self)
{
  guint n;
  const DynoSettingInfo *list = dyno_setting_list (&n);
  GStrvBuilder *builder = g_strv_builder_new ();
  if (self->by_hand)
    g_strv_builder_add (builder, "by_hand=true");
  if (self->small)
    g_strv_builder_add (builder, "small=true");
  if (self->job->weights_in)
    {
      g_autofree char *path = g_strescape (self->job->weights_in, NULL);
      g_autofree char *line = g_strconcat ("weights=", path, NULL);
      g_strv_builder_add (builder, line);
    }
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *value = dyno_settings_get (&self->job->settings, list[i].key);
      g_autofree char *line = g_strconcat (list[i].key, "=", value, NULL);
      g_strv_builder_add (builder, line);
    }
  char **lines = g_strv_builder_end (builder);
  g_strv_builder_unref (builder);
  return lines;
}

void
dyno_setup_restore (DynoSetup *self, const char *data, const char *model, const char *preset,
                    DynoLevel level, const char *const *settings)
{
  self->level = level <= DYNO_LEVEL_MAX ? level : DYNO_LEVEL_RECOMMENDED;
  self->first_start = !settings || !*settings;
  self->first_shapes = g_strcmp0 (data, "builtin:shapes") == 0;
  g_free (self->preset);
  self->preset = g_strdup (preset ? preset : "");
  gboolean known = model && dyno_model_find (model, NULL);
  if (known)
    {
      g_free (self->job->model);
      self->job->model = g_strdup (model);
    }
  for (; settings && *settings; settings++)
    {
      g_autoptr (GError) error = NULL;
      const char *equals = strchr (*settings, '=');
      g_autofree char *key = equals ? g_strndup (*settings, (gsize) (equals - *settings)) : NULL;
      if (g_strcmp0 (key, "by_hand") == 0)
        self->by_hand = TRUE;
      else if (g_strcmp0 (key, "small") == 0)
        self->small = TRUE;
      else if (g_strcmp0 (key, "weights") == 0)
        {
          g_free (self->job->weights_in);
          self->job->weights_in = known ? g_strcompress (equals + 1) : NULL;
        }
      else if (!key || !dyno_settings_set (&self->job->settings, key, equals + 1, &error))
        g_warning ("Kept setting \"%s\" is left out: %s", *settings,
                   error ? error->message : "not key=value");
    }
  if (data && *data)
    dyno_setup_open_data (self, data);
}

void
dyno_setup_shutdown (DynoSetup *self)
{
  self->closed = TRUE;
  dyno_data_opener_cancel (self->opener);
  dyno_network_opener_cancel (self->network_opener);
  g_clear_pointer (&self->planner, dyno_planner_free);
}

DynoSetup *
dyno_setup_new (void)
{
  return g_object_new (DYNO_TYPE_SETUP, NULL);
}

static void
dyno_setup_finalize (GObject *object)
{
  DynoSetup *self = DYNO_SETUP (object);
  dyno_data_opener_free (self->opener);
  dyno_network_opener_free (self->network_opener);
  dyno_planner_free (self->planner);
  dyno_setup_history_free (self->history);
  dyno_job_unref (self->job);
  g_clear_pointer (&self->devices, g_ptr_array_unref);
  g_clear_error (&self->device_error);
  g_free (self->preferred_device);
  g_clear_pointer (&self->presets, g_ptr_array_unref);
  g_free (self->preset);
  g_clear_pointer (&self->dataset, dyno_dataset_unref);
  g_free (self->advice);
  G_OBJECT_CLASS (dyno_setup_parent_class)->finalize (object);
}

static void
dyno_setup_dispose (GObject *object)
{
  dyno_setup_shutdown (DYNO_SETUP (object));
  G_OBJECT_CLASS (dyno_setup_parent_class)->dispose (object);
}

static void
dyno_setup_class_init (DynoSetupClass *class)
{
  G_OBJECT_CLASS (class)->dispose = dyno_setup_dispose;
  G_OBJECT_CLASS (class)->finalize = dyno_setup_finalize;
  signals[CHANGED] = g_signal_new ("changed", DYNO_TYPE_SETUP, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                   NULL, G_TYPE_NONE, 1, G_TYPE_UINT);
  signals[FAILED] = g_signal_new ("failed", DYNO_TYPE_SETUP, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                  G_TYPE_NONE, 1, G_TYPE_ERROR);
  signals[REFUSED] = g_signal_new ("refused", DYNO_TYPE_SETUP, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                   NULL, G_TYPE_NONE, 2, G_TYPE_STRING, G_TYPE_ERROR);
}

static void
dyno_setup_init (DynoSetup *self)
{
  static const DynoDataOpenerWatch watch = { scanned, opened };
  self->job = dyno_job_new ();
  self->history = dyno_setup_history_new ();
  dyno_settings_init (&self->reference);
  self->opener = dyno_data_opener_new (&watch, self);
  self->network_opener = dyno_network_opener_new (network_opened, self);
  self->planner = dyno_planner_new (planned, self);
  self->preset = g_strdup ("");
  self->level = DYNO_LEVEL_RECOMMENDED;
}
