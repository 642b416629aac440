/* SPDX-License-Identifier: MIT */
/* What the next run will be.  Laws: the job always agrees with what was last announced; every result of a thread carries the serial
 * number of its question and is dropped when a newer one was asked; the data set in use stays until another one is open. */
#include "setup.h"
#include <gio/gio.h>
#include <glib/gi18n.h>
#include <math.h>

#define PLAN_DELAY_MS 60
#define SCAN_POLL_MS  120

struct _DynoSetup {
  GObject parent_instance;
  DynoJob *job;
  GPtrArray *devices;
  GError *device_error;
  guint device;
  GPtrArray *presets;
  char *preset; /* id wanted; "" chooses the card's own */
  DynoLevel level;
  gboolean by_hand; /* a preset's setting was changed since the preset was chosen */
  gboolean locked, closed;

  DynoDataset *dataset;
  GCancellable *opening;
  struct _Opening *open_data; /* of the opening under way; owned by its task */
  guint scan_timer;

  DynoJobPlan plan;
  gboolean has_plan;
  char *advice;
  guint plan_serial, plan_timer;
};

enum { CHANGED, FAILED, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (DynoSetup, dyno_setup, G_TYPE_OBJECT)

static void
announce (DynoSetup *self, guint flags)
{
  if (!self->closed)
    g_signal_emit (self, signals[CHANGED], 0, flags);
}

/* Planning */

typedef struct {
  DynoJob *job;
  DynoDataset *dataset;
  DynoDeviceInfo device;
  guint serial;
  DynoJobPlan plan;
  char *advice;
} Planning;

static void
planning_free (Planning *p)
{
  dyno_job_free (p->job);
  g_clear_pointer (&p->dataset, dyno_dataset_unref);
  g_free (p->advice);
  g_free (p);
}

static void
plan_in_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Planning *p = data;
  g_autoptr (GError) error = NULL;
  if (!dyno_job_plan (p->job, dyno_dataset_get_info (p->dataset), &p->device, &p->plan, &error))
    {
      g_task_return_error (task, g_steal_pointer (&error));
      return;
    }
  p->advice = dyno_job_plan_advice (p->job, &p->plan);
  g_task_return_boolean (task, TRUE);
}

static void
plan_done (GObject *source, GAsyncResult *result, gpointer data)
{
  DynoSetup *self = DYNO_SETUP (source);
  Planning *p = g_task_get_task_data (G_TASK (result));
  g_autoptr (GError) error = NULL;
  gboolean ok = g_task_propagate_boolean (G_TASK (result), &error);
  if (p->serial != self->plan_serial)
    return;
  self->has_plan = ok;
  g_clear_pointer (&self->advice, g_free);
  if (ok)
    {
      self->plan = p->plan;
      self->advice = g_steal_pointer (&p->advice);
    }
  else
    self->advice = g_strdup (error->message);
  announce (self, DYNO_SETUP_PLAN);
}

static gboolean
plan_now (gpointer data)
{
  DynoSetup *self = data;
  self->plan_timer = 0;
  const DynoDeviceInfo *device = dyno_setup_get_device (self);
  if (!self->dataset || !device)
    {
      self->has_plan = FALSE;
      g_clear_pointer (&self->advice, g_free);
      announce (self, DYNO_SETUP_PLAN);
      return G_SOURCE_REMOVE;
    }
  Planning *p = g_new0 (Planning, 1);
  p->job = dyno_job_copy (self->job);
  p->dataset = dyno_dataset_ref (self->dataset);
  p->device = *device;
  p->serial = self->plan_serial;
  g_autoptr (GTask) task = g_task_new (self, NULL, plan_done, NULL);
  g_task_set_task_data (task, p, (GDestroyNotify) planning_free);
  g_task_run_in_thread (task, plan_in_thread);
  return G_SOURCE_REMOVE;
}

static void
plan_later (DynoSetup *self)
{
  self->plan_serial++;
  if (self->plan_timer == 0 && !self->closed)
    self->plan_timer = g_timeout_add (PLAN_DELAY_MS, plan_now, self);
}

/* Settings follow the preset until one of the preset's own is changed by hand. */

static gboolean
is_preset_key (const char *key)
{
  static const char *const keys[] = { "batch_size",         "workers",     "prefetch", "amp", "pinned",
                                      "persistent_workers", "vram_budget", NULL };
  return g_strv_contains (keys, key);
}

static void
respect_device (DynoSetup *self)
{
  const DynoDeviceInfo *device = dyno_setup_get_device (self);
  if (device && !device->fp16)
    self->job->settings.amp = FALSE;
}

static void
follow_preset (DynoSetup *self)
{
  const DynoPreset *preset = dyno_setup_get_preset (self);
  const DynoDatasetInfo *info = dyno_setup_get_info (self);
  if (!preset)
    return;
  guint32 width = 224, height = 224;
  if (info && !dyno_job_get_size (self->job, info, &width, &height, NULL))
    width = height = MAX (info->max_width, info->max_height);
  dyno_preset_apply (preset, self->level, MAX (width, height), &self->job->settings);
  respect_device (self);
  self->by_hand = FALSE;
}

/* Opening a data set */

typedef struct _Opening {
  char *location;
  gint found; /* atomic; more than 2^31 samples show as that many */
  DynoSetup *setup;
} Opening;

static void
opening_free (Opening *o)
{
  g_free (o->location);
  g_free (o);
}

static void
count_found (guint64 found, gpointer data)
{
  Opening *o = data;
  g_atomic_int_set (&o->found, (gint) MIN (found, (guint64) G_MAXINT));
}

static void
open_in_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Opening *o = data;
  GError *error = NULL;
  DynoDataset *dataset = dyno_dataset_open (o->location, NULL, count_found, o, cancellable, &error);
  if (dataset)
    g_task_return_pointer (task, dataset, (GDestroyNotify) dyno_dataset_unref);
  else
    g_task_return_error (task, error);
}

static void
end_opening (DynoSetup *self)
{
  g_clear_object (&self->opening);
  self->open_data = NULL;
  g_clear_handle_id (&self->scan_timer, g_source_remove);
}

static void
open_done (GObject *source, GAsyncResult *result, gpointer user)
{
  DynoSetup *self = DYNO_SETUP (source);
  Opening *o = g_task_get_task_data (G_TASK (result));
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoDataset) dataset = g_task_propagate_pointer (G_TASK (result), &error);
  if (self->open_data != o)
    return; /* a newer one was asked for */
  end_opening (self);
  if (dataset)
    {
      g_clear_pointer (&self->dataset, dyno_dataset_unref);
      self->dataset = g_steal_pointer (&dataset);
      g_free (self->job->data);
      self->job->data = g_strdup (o->location);
      if (!self->by_hand)
        follow_preset (self);
      announce (self, DYNO_SETUP_DATASET | DYNO_SETUP_SETTINGS);
      plan_later (self);
      return;
    }
  announce (self, DYNO_SETUP_DATASET);
  if (!self->closed && !g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    g_signal_emit (self, signals[FAILED], 0, error);
}

static gboolean
poll_scan (gpointer data)
{
  announce (data, DYNO_SETUP_DATASET);
  return G_SOURCE_CONTINUE;
}

void
dyno_setup_open_data (DynoSetup *self, const char *location)
{
  g_return_if_fail (DYNO_IS_SETUP (self) && location);
  if (self->locked)
    return;
  dyno_setup_cancel_open (self);
  Opening *o = g_new0 (Opening, 1);
  o->location = g_str_has_prefix (location, "file:") ? g_filename_from_uri (location, NULL, NULL) : NULL;
  if (!o->location)
    o->location = g_strdup (location);
  self->open_data = o;
  self->opening = g_cancellable_new ();
  g_autoptr (GTask) task = g_task_new (self, self->opening, open_done, NULL);
  g_task_set_task_data (task, o, (GDestroyNotify) opening_free);
  g_task_run_in_thread (task, open_in_thread);
  self->scan_timer = g_timeout_add (SCAN_POLL_MS, poll_scan, self);
  announce (self, DYNO_SETUP_DATASET);
}

void
dyno_setup_cancel_open (DynoSetup *self)
{
  if (!self->opening)
    return;
  g_cancellable_cancel (self->opening);
  end_opening (self);
  announce (self, DYNO_SETUP_DATASET);
}

const char *
dyno_setup_get_opening (DynoSetup *self, guint64 *found)
{
  if (!self->open_data)
    return NULL;
  if (found)
    *found = (guint64) g_atomic_int_get (&self->open_data->found);
  return self->open_data->location;
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

static void
renew_presets (DynoSetup *self)
{
  g_clear_pointer (&self->presets, g_ptr_array_unref);
  self->presets = dyno_preset_list (dyno_setup_get_device (self));
}

static void
list_done (GObject *source, GAsyncResult *result, gpointer data)
{
  DynoSetup *self = DYNO_SETUP (source);
  self->devices = g_task_propagate_pointer (G_TASK (result), &self->device_error);
  renew_presets (self);
  if (self->by_hand)
    respect_device (self);
  else
    follow_preset (self);
  announce (self, DYNO_SETUP_DEVICES | DYNO_SETUP_PRESET | DYNO_SETUP_SETTINGS);
  plan_later (self);
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
  return self->devices && self->device < self->devices->len ? g_ptr_array_index (self->devices, self->device) : NULL;
}

void
dyno_setup_set_device (DynoSetup *self, guint index)
{
  if (self->locked || !self->devices || index >= self->devices->len || index == self->device)
    return;
  self->device = index;
  self->job->device = (int) dyno_setup_get_device (self)->index;
  renew_presets (self);
  if (self->by_hand)
    respect_device (self);
  else
    follow_preset (self);
  announce (self, DYNO_SETUP_DEVICES | DYNO_SETUP_PRESET | DYNO_SETUP_SETTINGS);
  plan_later (self);
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
  const DynoPreset *preset = dyno_setup_get_preset (self);
  g_free (self->job->preset);
  self->job->preset = preset ? g_strdup (preset->id) : NULL;
  follow_preset (self);
  announce (self, DYNO_SETUP_PRESET | DYNO_SETUP_SETTINGS);
  plan_later (self);
}

void
dyno_setup_set_preset (DynoSetup *self, const char *id)
{
  if (self->locked)
    return;
  g_free (self->preset);
  self->preset = g_strdup (id ? id : "");
  choose_preset (self);
}

void
dyno_setup_set_level (DynoSetup *self, DynoLevel level)
{
  if (self->locked || level == self->level)
    return;
  self->level = level;
  choose_preset (self);
}

/* Model and settings */

const DynoJob *
dyno_setup_get_job (DynoSetup *self)
{
  const DynoPreset *preset = dyno_setup_get_preset (self);
  const DynoDeviceInfo *device = dyno_setup_get_device (self);
  g_free (self->job->preset);
  self->job->preset = preset ? g_strdup (preset->id) : NULL;
  self->job->device = device ? (int) device->index : -1;
  return self->job;
}

void
dyno_setup_set_model (DynoSetup *self, const char *name)
{
  if (self->locked || g_strcmp0 (name, self->job->model) == 0)
    return;
  g_free (self->job->model);
  self->job->model = g_strdup (name);
  announce (self, DYNO_SETUP_MODEL);
  plan_later (self);
}

gboolean
dyno_setup_set_number (DynoSetup *self, const char *key, double value, GError **error)
{
  const DynoSettingInfo *info = dyno_setting_find (key);
  g_return_val_if_fail (info, FALSE);
  if (dyno_settings_get_number (&self->job->settings, key) == value)
    return TRUE;
  if (self->locked && !info->live)
    return TRUE;
  if (!dyno_settings_set_number (&self->job->settings, key, value, error))
    return FALSE;
  if (is_preset_key (key))
    self->by_hand = TRUE;
  else if (g_str_equal (key, "image_size") && !self->by_hand)
    follow_preset (self);
  announce (self, DYNO_SETUP_SETTINGS);
  plan_later (self);
  return TRUE;
}

void
dyno_setup_set_settings (DynoSetup *self, const DynoSettings *settings)
{
  if (self->locked)
    return;
  self->job->settings = *settings;
  respect_device (self);
  self->by_hand = TRUE;
  announce (self, DYNO_SETUP_SETTINGS);
  plan_later (self);
}

void
dyno_setup_set_job (DynoSetup *self, const DynoJob *job)
{
  if (self->locked)
    return;
  if (job->preset)
    {
      g_free (self->preset);
      self->preset = g_strdup (job->preset);
    }
  if (job->model)
    {
      g_free (self->job->model);
      self->job->model = g_strdup (job->model);
    }
  self->job->settings = job->settings;
  respect_device (self);
  self->by_hand = TRUE;
  announce (self, DYNO_SETUP_PRESET | DYNO_SETUP_MODEL | DYNO_SETUP_SETTINGS);
  if (job->data && g_strcmp0 (job->data, self->job->data) != 0)
    dyno_setup_open_data (self, job->data);
  plan_later (self);
}

const char *
dyno_setup_get_reason (DynoSetup *self, const DynoSettingInfo *info)
{
  const DynoDeviceInfo *device = dyno_setup_get_device (self);
  const DynoDatasetInfo *data = dyno_setup_get_info (self);
  if (self->locked && !info->live)
    return _ ("Cannot be changed while a run goes on.");
  if (g_str_equal (info->key, "amp") && device && !device->fp16)
    return _ ("This device has no 16-bit floating point arithmetic, which AMP needs.");
  if (g_str_equal (info->key, "image_size") && data && !data->resizable)
    return _ ("Samples of this data set have one fixed size.");
  if (g_str_equal (info->key, "data.val_split") && data && data->has_split)
    return _ ("This data set brings its own validation part.");
  if (g_str_equal (info->key, "momentum") && self->job->settings.optimizer != DYNO_OPTIMIZER_NAME_SGD)
    return _ ("Only SGD has a momentum to set.");
  return NULL;
}

const DynoJobPlan *
dyno_setup_get_plan (DynoSetup *self)
{
  return self->has_plan ? &self->plan : NULL;
}

const char *
dyno_setup_get_advice (DynoSetup *self)
{
  return self->advice;
}

char *
dyno_setup_get_obstacle (DynoSetup *self)
{
  const DynoDatasetInfo *info = dyno_setup_get_info (self);
  if (self->device_error)
    return g_strdup (_ ("No device to train on."));
  if (!self->devices)
    return g_strdup (_ ("Looking for devices…"));
  if (self->open_data)
    return g_strdup (_ ("The data set is being opened."));
  if (!info)
    return g_strdup (_ ("Choose a data set first."));
  if (info->n_samples == 0)
    return g_strdup (_ ("This data set has no sample that can be read."));
  if (info->target_kind == DYNO_TARGET_CLASS && info->n_classes < 2)
    return g_strdup (_ ("This data set has a single class: there is nothing to tell apart."));
  return g_strdup (self->advice);
}

void
dyno_setup_set_locked (DynoSetup *self, gboolean locked)
{
  if (self->locked == locked)
    return;
  self->locked = locked;
  announce (self, DYNO_SETUP_LOCK);
}

gboolean
dyno_setup_is_locked (DynoSetup *self)
{
  return self->locked;
}

/* Kept between sittings */

char **
dyno_setup_save_settings (DynoSetup *self)
{
  guint n;
  const DynoSettingInfo *list = dyno_setting_list (&n);
  GStrvBuilder *builder = g_strv_builder_new ();
  if (self->by_hand)
    g_strv_builder_add (builder, "by_hand=true");
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
dyno_setup_restore (DynoSetup *self, const char *data, const char *model, const char *preset, DynoLevel level,
                    const char *const *settings)
{
  self->level = level <= DYNO_LEVEL_MAX ? level : DYNO_LEVEL_RECOMMENDED;
  g_free (self->preset);
  self->preset = g_strdup (preset ? preset : "");
  if (model && dyno_model_find (model))
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
      else if (!key || !dyno_settings_set (&self->job->settings, key, equals + 1, &error))
        g_warning ("Kept setting \"%s\" is left out: %s", *settings, error ? error->message : "not key=value");
    }
  if (data && *data)
    dyno_setup_open_data (self, data);
}

void
dyno_setup_shutdown (DynoSetup *self)
{
  self->closed = TRUE;
  self->plan_serial++;
  g_clear_handle_id (&self->plan_timer, g_source_remove);
  if (self->opening)
    g_cancellable_cancel (self->opening);
  end_opening (self);
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
  dyno_job_free (self->job);
  g_clear_pointer (&self->devices, g_ptr_array_unref);
  g_clear_error (&self->device_error);
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
  signals[CHANGED] =
      g_signal_new ("changed", DYNO_TYPE_SETUP, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_UINT);
  signals[FAILED] =
      g_signal_new ("failed", DYNO_TYPE_SETUP, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_ERROR);
}

static void
dyno_setup_init (DynoSetup *self)
{
  self->job = dyno_job_new ();
  self->preset = g_strdup ("");
  self->level = DYNO_LEVEL_RECOMMENDED;
}
