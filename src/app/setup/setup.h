/* SPDX-License-Identifier: MIT */
/* The state of the left panel: data set, model, GPU, preset and settings of the next run, and the
 * resources that it will need.
 *
 * A GObject without widgets.  Signals: "changed" (guint flags), with the parts that are new;
 * "failed" (GError): an opening failed, and the earlier data set stays; "refused" (path, GError): a
 * network cannot be trained, and the earlier model stays.  Slow work (devices, opening, reading,
 * planning) runs in threads; results come on the main thread, and late ones are dropped.
 * It is of the next run, also while a run is in progress, which has a job of its own.  Main thread
 * only. */
#pragma once
#include "preset.h"
#include "estimate.h"
#include "useddevices.h"
#include <glib-object.h>

G_BEGIN_DECLS

typedef enum {
  DYNO_SETUP_DATASET = 1 << 0, /* another one is open, or an opening progresses */
  DYNO_SETUP_DEVICES = 1 << 1, /* the list or the chosen device */
  DYNO_SETUP_PRESET = 1 << 2,  /* the list, the chosen preset or its level */
  DYNO_SETUP_MODEL = 1 << 3,   /* the model, its start weights, or the reading of a network */
  DYNO_SETUP_SETTINGS = 1 << 4,
  DYNO_SETUP_PLAN = 1 << 5,
  DYNO_SETUP_WORK = 1 << 6, /* the window's work, or whether the run in progress changes, too */
  DYNO_SETUP_ALL = (1 << 7) - 1
} DynoSetupChange;

/* The work of this window: the tuner or another measurement, or a run. */
typedef enum { DYNO_SETUP_IDLE, DYNO_SETUP_MEASURES, DYNO_SETUP_TRAINS } DynoSetupWork;

#define DYNO_TYPE_SETUP (dyno_setup_get_type ())
G_DECLARE_FINAL_TYPE (DynoSetup, dyno_setup, DYNO, SETUP, GObject)

DynoSetup *dyno_setup_new (void);
/* Lists the devices in a thread, then the presets; to be called when the listeners are
 * connected. */
void dyno_setup_start (DynoSetup *self);
/* Takes the listed devices, as _start does.  devices: DynoDeviceInfo; NULL: error says why there
 * are none.  Both belong to the setup from then on. */
void dyno_setup_take_devices (DynoSetup *self, GPtrArray *devices, GError *error);
/* Cancels the work in threads; nothing is emitted afterwards. */
void dyno_setup_shutdown (DynoSetup *self);

const DynoJob *dyno_setup_get_job (DynoSetup *self);

/* Data set.  A path, a file: URI or a built-in's name. */
void dyno_setup_open_data (DynoSetup *self, const char *location);
void dyno_setup_cancel_open (DynoSetup *self);
/* location under way, or NULL */
const char *dyno_setup_get_opening (DynoSetup *self, guint64 *found);
DynoDataset *dyno_setup_get_dataset (DynoSetup *self);        /* NULL: none; borrowed */
const DynoDatasetInfo *dyno_setup_get_info (DynoSetup *self); /* NULL: none */

/* Devices: DynoDeviceInfo; NULL while they are listed or when there is none (then the error says
 * why). */
GPtrArray *dyno_setup_get_devices (DynoSetup *self);
const GError *dyno_setup_get_device_error (DynoSetup *self);
const DynoDeviceInfo *dyno_setup_get_device (DynoSetup *self);
void dyno_setup_set_device (DynoSetup *self, guint index);
/* All devices that train, the chosen one among them; several train as a job of the queue, a process
 * each.  A list is that of DynoJob; _use_list chooses its first device, unless the chosen one is in
 * it; NULL: the chosen one by itself.  The pointers are valid until the next change. */
DynoUsedDevices dyno_setup_get_used_devices (DynoSetup *self);
void dyno_setup_use_device (DynoSetup *self, guint index, gboolean use);
void dyno_setup_use_list (DynoSetup *self, const char *list);
/* Sets the device to begin with, by its name, if it exists; to be called before the devices are
 * listed. */
void dyno_setup_prefer_device (DynoSetup *self, const char *name);

GPtrArray *dyno_setup_get_presets (DynoSetup *self); /* DynoPreset; NULL until devices are known */
const DynoPreset *dyno_setup_get_preset (DynoSetup *self);
DynoLevel dyno_setup_get_level (DynoSetup *self);
/* The facts about the next run that its preset depends on; the pointers in it are the setup's. */
DynoPresetUse dyno_setup_get_preset_use (DynoSetup *self);
/* Choosing a preset or level sets the preset's settings at once.  They also follow changes of data
 * set and model, until one of them is changed by hand. */
void dyno_setup_set_preset (DynoSetup *self, const char *id);
void dyno_setup_set_level (DynoSetup *self, DynoLevel level);

/* Another model starts from random values, and drops a reading that is under way. */
void dyno_setup_set_model (DynoSetup *self, const char *name);
/* Weights to start from, a path; NULL: random values. */
void dyno_setup_set_weights (DynoSetup *self, const char *path);
/* Reads a network from an ONNX file, then sets it as the model, and the file as its start weights
 * where it has weights.  dropped: the file was not chosen as a network; if it was exported from the
 * present model, it is used only as start weights of this model. */
void dyno_setup_open_network (DynoSetup *self, const char *path, gboolean dropped);
const char *dyno_setup_get_reading (DynoSetup *self); /* path of the file that is read, or NULL */
gboolean dyno_setup_set_number (DynoSetup *self, const char *key, double value, GError **error);
/* The values of the chosen preset, and default values for the rest: changed settings are those that
 * differ from them. */
const DynoSettings *dyno_setup_get_reference (DynoSetup *self);
gboolean dyno_setup_differs (DynoSetup *self, const DynoSettingInfo *info);
/* Whether a setting that the preset determines differs from the preset's value. */
gboolean dyno_setup_is_custom (DynoSetup *self);
/* Undo (TRUE) or redo of choices and settings, but not of the data set.  FALSE: there is no such
 * step. */
gboolean dyno_setup_can_step (DynoSetup *self, gboolean undo);
gboolean dyno_setup_step (DynoSetup *self, gboolean undo);
/* Both set all settings (from a file or the tuner); _set_job also sets the job's model with its
 * start weights, preset and data set, where the job has them.  If its data set cannot be opened, the
 * setup has none. */
void dyno_setup_set_settings (DynoSetup *self, const DynoSettings *settings);
void dyno_setup_set_job (DynoSetup *self, const DynoJob *job);

const DynoJobPlan *dyno_setup_get_plan (DynoSetup *self); /* NULL: not known (yet) */
/* The time and the disk space that the next run takes; NULL where the plan is NULL. */
const DynoRunEstimate *dyno_setup_get_estimate (DynoSetup *self);
/* advice where the run does not fit, or the plan's error; else NULL */
const char *dyno_setup_get_advice (DynoSetup *self);

void dyno_setup_set_work (DynoSetup *self, DynoSetupWork work);
gboolean dyno_setup_is_busy (DynoSetup *self); /* a measurement or a run is at work */
/* During a measurement no data set is opened and no job taken, since reading would disturb it. */
gboolean dyno_setup_is_locked (DynoSetup *self);
/* Whether changed settings are to be changed in the run in progress, too, where they are live.  FALSE
 * at the beginning of each run, without a run, and once another data set, another model or another
 * job is chosen. */
gboolean dyno_setup_changes_run (DynoSetup *self);
void dyno_setup_set_changes_run (DynoSetup *self, gboolean changes);
/* Whether the next run has data set and model of this job, which may be NULL. */
gboolean dyno_setup_is_like (DynoSetup *self, const DynoJob *job);

/* The state that is kept when the program exits; settings are "key=value" strings, of which unknown
 * or invalid ones are ignored with a warning. */
char **dyno_setup_save_settings (DynoSetup *self);
void dyno_setup_restore (DynoSetup *self, const char *data, const char *model, const char *preset,
                         DynoLevel level, const char *const *settings);

G_END_DECLS
