/* SPDX-License-Identifier: MIT */
/* The state of a run, read from its folder during the run: settings.ini, facts.ini, metrics.csv,
 * sensors.csv.  For dynoctl watch.  One thread. */
#pragma once
#include "runfacts.h"
#include "sensorscsv.h"
#include "series.h"

G_BEGIN_DECLS

typedef struct _DynoWatchRun DynoWatchRun;

typedef enum {
  DYNO_WATCH_RUNNING,
  DYNO_WATCH_SILENT, /* nothing was written for a while: the run hangs, was killed, or is paused */
  DYNO_WATCH_ENDED,
} DynoWatchState;

/* Unknown members are NaN or 0. */
typedef struct {
  const char *folder; /* as given by the user */
  DynoWatchState state;
  double silent_s;   /* since the last write; NaN: nothing was written yet */
  const char *ended; /* "finished", "stopped as asked", "stopped", "failed", NULL */
  char *what;        /* "resnet18 on DATA, batch 64, AMP, 8 workers", or NULL */
  char *device;      /* or NULL */
  guint64 epochs, epoch, steps, step; /* steps: of the whole run */
  double loss, val_loss, samples_per_s, step_ms, wait_data_ms, vram_bytes, seconds;
  char *metric; /* name of the first validation metric; or NULL */
  double val_metric;
  double eta_s;
  gboolean has_sensors;                       /* sensors is at most a few seconds old */
  DynoSensorRow sensors;                      /* the newest row */
  DynoSeries *rate, *loss_series, *gpu, *cpu; /* the first two over steps, others over seconds */
} DynoWatchStatus;

DynoWatchRun *dyno_watch_run_new (const char *folder);
void dyno_watch_run_free (DynoWatchRun *run);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoWatchRun, dyno_watch_run_free)

/* Reads the rows that were added to the files. */
const DynoWatchStatus *dyno_watch_run_update (DynoWatchRun *run);

/* The folder of a run: the folder `name` itself, or the folder of this name in `parent`; for name
 * NULL the folder in `parent` that was written to last.  NULL: there is none.  g_free. */
char *dyno_watch_find_run (const char *parent, const char *name);

G_END_DECLS
