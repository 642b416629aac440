/* SPDX-License-Identifier: MIT */
/* The events that a session emits, and their observers.
 *
 * Events are immutable once they are emitted, and reference counted: whoever wants one for longer
 * than a call takes a reference.
 *
 * Observers of one session see the same events in one order, each event by all of them, in the
 * order in which they were added, before the next one begins.  They are called on the thread
 * that emits (the session's own, the one that writes its checkpoints, or the sensors'), one call
 * at a time; no lock is held, so an observer may command the session (but not wait for it), add
 * and remove observers, and emit: what it emits follows the event that it was called for.  A
 * call holds training up: one that needs long, or another thread, belongs behind a queue
 * (eventqueue.h), which is an observer as well. */
#pragma once
#include "job.h"
#include "metrics.h"
#include "ranktimes.h"
#include "sensors.h"

G_BEGIN_DECLS

typedef enum {
  DYNO_SESSION_NEW,
  DYNO_SESSION_PREPARING, /* opening the data set and the device, compiling, autotuning */
  DYNO_SESSION_RUNNING,
  DYNO_SESSION_PAUSED,
  DYNO_SESSION_STOPPING, /* finishing the step, saving */
  DYNO_SESSION_FINISHED,
  DYNO_SESSION_STOPPED, /* by request; resumable */
  DYNO_SESSION_FAILED,
} DynoSessionState;

typedef enum {
  DYNO_EVENT_STATE,
  DYNO_EVENT_PLAN,     /* the data set is open and the memory planned */
  DYNO_EVENT_PROGRESS, /* preparing: scanning, compiling, tuning */
  DYNO_EVENT_METRICS,  /* what is measured: before the first step */
  DYNO_EVENT_FACTS,    /* what the run is made of: before the first step, and at the end */
  DYNO_EVENT_STEP,
  DYNO_EVENT_EPOCH,
  DYNO_EVENT_MASKS,      /* of an epoch, after its EPOCH event; where job->watch_masks asks */
  DYNO_EVENT_RANKS,      /* of several, on rank 0: about once a second */
  DYNO_EVENT_CHECKPOINT, /* saved */
  DYNO_EVENT_RELEASED,   /* in a pause: the device's memory is given back, until the next STATE */
  DYNO_EVENT_SENSORS,    /* about once a second, from the opening of the device to the end */
  DYNO_EVENT_WARNING,
  DYNO_EVENT_ERROR, /* the session failed; DONE follows */
  DYNO_EVENT_DONE,  /* the last event of a session */
} DynoEventType;

/* The facts of a run: what it is made of and runs on; 0 and empty: not known.  All members are
 * of 64 bits, gboolean, double or text (runfacts.c). */
typedef struct {
  char model[64];
  guint64 fingerprint; /* of the data: DynoDatasetInfo.content_hash */
  char device[256];
  guint64 vendor_id;
  gboolean software, fp16, matrix; /* the device; matrix units that are used */
  gboolean timestamps;             /* the device measures the time of its stages */
  guint64 device_bytes, limit_bytes, planned_bytes;
  guint64 fitting_batch;         /* largest that fits with these settings; 0: not known */
  guint64 cores, ram_free_bytes; /* of the host, at the start */
  char governor[32];             /* that sets the CPU's clocks; empty: not known */
  gboolean no_persistence;       /* an NVIDIA card whose driver is known not to be kept loaded */
  guint64 n_train, n_validation, steps_per_epoch;
  guint64 max_steps; /* whatever the epochs; 0: they decide */
  /* Where this part of the run began: updates made before, and the steps of the schedule that they
   * stand for (schedule.h): another number where steps were of another size. */
  guint64 begin_step, begin_place;
  guint64 batch_size, accumulate, parts; /* as they run here */
  gboolean amp;
  gboolean generated;       /* the device makes its own samples: no loader */
  guint64 sample_bytes;     /* decoded */
  double flops_per_sample;  /* forward and backward */
  guint64 batch_dispatches; /* kernels of a step of one batch, or of one of its parts */
  double batch_bytes;       /* fewest that they read and write */
  /* what was measured of the device before (ceilings.h) */
  double copy_bytes_per_s, single_flops_per_s, matrix_flops_per_s;
  double guess_loss; /* of always the same answer */
  /* Of several ranks.  The bytes and buckets that each gives to the others each step; and of a
   * mean step, at the end and with each epoch, the time that the exchange itself took after the
   * backward pass, how long its sums were under way, and how long rank 0 waited for slower
   * ranks. */
  guint64 ranks, hosts; /* 0: one process */
  guint64 exchange_bytes, exchange_buckets;
  double exchange_wait_ms, exchange_sum_ms, wait_ranks_ms;
  DynoRunRate rate; /* of the steps so far, earlier parts counted, as of the event (runrate.h) */
  /* at the end */
  guint64 state; /* DynoSessionState; RUNNING: it goes on, or was killed */
  gboolean diverged;
  char problem[512];   /* the error that ended it */
  char bad_layer[128]; /* the first whose output was not finite */
} DynoRunFacts;

/* A rank of a run, and what it does. */
typedef struct {
  char host[64], device[128]; /* names */
  DynoRankRate rate;
} DynoRankReport;

/* The most rows and columns of a mask that is watched: of a larger one only each nth is there. */
#define DYNO_WATCHED_SIDE 512

typedef struct {
  gatomicrefcount references;
  DynoEventType type;
  gint64 time_us; /* monotonic */
  union {
    DynoSessionState state;
    struct {
      DynoJobPlan plan;
      char *device, *driver; /* names */
      gboolean software_device;
      guint64 n_train, n_validation;
      guint64 content_hash; /* of the data set */
    } plan;
    struct {
      char *what;        /* translated by the reader: "scan", "compile", "autotune", "weights" */
      guint done, total; /* total 0: unknown */
    } progress;
    DynoMetricTable metrics;
    DynoRunFacts facts;
    DynoStepMetrics step;
    DynoEpochMetrics epoch;
    struct {
      guint64 epoch; /* from 1: after whose validation they were made */
      /* The first samples of the validation part, as rank 0 reads them: the same in each epoch, and
       * in a run that is resumed.  samples: their indices in dataset, of which the event holds a
       * reference; of one that cannot be read that of the sample that took its place.  n is less
       * than DYNO_MOST_WATCHED where there are no more. */
      DynoDataset *dataset;
      guint n;
      guint32 samples[DYNO_MOST_WATCHED];
      /* ids: (n, height, width), owned by the event: the classes of the pixels in each `every`th row
       * and column, from the first on, of the image as the network reads it, which is (image_height,
       * image_width). */
      guint32 width, height, every, image_width, image_height;
      guint8 *ids;
    } masks;
    struct {
      guint64 step;
      guint n;
      DynoRankReport *reports; /* over the steps since the last */
    } ranks;
    DynoSensorReading *sensors;
    char *text; /* CHECKPOINT: path; WARNING: sentence */
    GError *error;
    struct {
      DynoSessionState state; /* FINISHED, STOPPED or FAILED */
      /* of training, validation included; pauses left out, earlier parts of a resumed run
       * counted */
      double seconds;
      /* of this part: opening, planning, compiling, tuning, and again after a lost device */
      double preparation_seconds;
      guint64 steps;       /* of the run */
      gboolean is_idle;    /* nothing was left to do, and nothing was done */
      guint64 begin_steps; /* of them those of earlier parts, which took so long */
      double begin_seconds;
      /* that its epochs take, of a run that has made the steps that it was asked for (max_steps)
       * and had epochs left; else 0 */
      guint64 whole_steps;
      /* of the metric that selects the best epoch; NaN without one, or without validation */
      double best_val_metric;
      /* from 1, whose weights are weights.safetensors; 0: those are the last, or there are none */
      guint64 best_epoch;
      /* Each batch went through the device in so many micro-batches at the end, for want of memory;
       * 1: as a whole. */
      guint parts;
      guint64 batch_size;
      char *out_dir;         /* or NULL */
      guint64 n_unreadable;  /* samples that others took the place of, in this part of the run */
      char **unreadable;     /* "sample: reason" of at most 100 */
      guint n_ranks;         /* 0: one process, or not rank 0 */
      DynoRankReport *ranks; /* over this part of the run */
    } done;
  };
} DynoEvent;

DynoEvent *dyno_event_new (DynoEventType type); /* its time set */
DynoEvent *dyno_event_ref (DynoEvent *event);
void dyno_event_unref (DynoEvent *event);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoEvent, dyno_event_unref)

typedef struct {
  void (*event) (DynoEvent *event, gpointer data);
  /* The session is to end at once, or is waited for: calls of event wait for nothing from now on,
   * nor does the one that may be going on in another thread.  Any thread, more than once; NULL:
   * they never wait. */
  void (*abandon) (gpointer data);
  /* After the last call, when the observer is removed or its session freed; or NULL. */
  GDestroyNotify free;
} DynoObserver;

G_END_DECLS
