/* SPDX-License-Identifier: MIT */
/* The events that a session emits, and their observers.
 *
 * Events are immutable once they are emitted, and reference counted: an observer that needs an
 * event after its call takes a reference.
 *
 * All observers of a session receive the same events in the same order; each event goes to all
 * observers, in the order in which they were added, before the next event.  They are called on the
 * thread that emits (the session's own, the one that writes its checkpoints, or the sensors'), one
 * call at a time; no lock is held, so an observer may command the session (but not wait for it),
 * add and remove observers, and emit: its events follow the event for which it was called.  A call
 * delays training: an observer that takes long, or runs on another thread, uses a queue
 * (eventqueue.h), which is an observer as well. */
#pragma once
#include "job.h"
#include "metrics.h"
#include "ranktimes.h"
#include "sensors.h"
#include "testresult.h"

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
  DYNO_EVENT_METRICS,  /* the metrics of the run: before the first step */
  DYNO_EVENT_FACTS, /* before the first step, at the end, and with several ranks after each epoch */
  DYNO_EVENT_STEP,
  DYNO_EVENT_EPOCH,
  DYNO_EVENT_MASKS,      /* after an epoch's EPOCH event, if job->watch_masks */
  DYNO_EVENT_RANKS,      /* with several ranks, on rank 0: about once a second */
  DYNO_EVENT_CHECKPOINT, /* a file was saved */
  DYNO_EVENT_RELEASED,   /* in a pause: the device's memory is freed until the next STATE */
  DYNO_EVENT_SENSORS,    /* about once a second, from the opening of the device to the end */
  DYNO_EVENT_WARNING,
  DYNO_EVENT_ERROR, /* the session failed; DONE follows */
  DYNO_EVENT_DONE,  /* the last event of a session */
} DynoEventType;

/* The facts of a run: its parts and its machine; 0 and empty: not known.  All members are of 64
 * bits, gboolean, double or text (runfacts.c). */
typedef struct {
  char model[64];
  guint64 fingerprint; /* of the data: DynoDatasetInfo.content_hash */
  char device[256];
  guint64 vendor_id;
  gboolean software, fp16, matrix; /* of the device; matrix: its matrix units are used */
  gboolean timestamps;             /* the device measures the time of its stages */
  guint64 device_bytes, limit_bytes, planned_bytes;
  guint64 fitting_batch;         /* largest batch that fits with these settings; 0: not known */
  guint64 cores, ram_free_bytes; /* of the host, at the start */
  char governor[32];             /* governor of the CPU's clocks; empty: not known */
  gboolean no_persistence;       /* an NVIDIA card whose driver is known to be unloaded when idle */
  guint64 n_train, n_validation, n_test, steps_per_epoch;
  guint64 max_steps; /* number of updates that ends the run; 0: it ends by its epochs */
  /* Where this part of the run began: the number of updates before it, and its place in the
   * schedule (schedule.h), which differs where steps were of another size. */
  guint64 begin_step, begin_place;
  guint64 batch_size, accumulate, parts; /* as used here */
  gboolean amp;
  gboolean generated;       /* the device generates its own samples: no loader */
  guint64 sample_bytes;     /* size of a decoded sample */
  double flops_per_sample;  /* forward and backward */
  guint64 batch_dispatches; /* kernels for one batch, or for one of its micro-batches */
  double batch_bytes;       /* the fewest bytes that these kernels read and write */
  /* rates of the device that were measured before (ceilings.h) */
  double copy_bytes_per_s, single_flops_per_s, matrix_flops_per_s;
  double guess_loss; /* loss of the best constant answer */
  /* For several ranks: the bytes and buckets that each sends to the others in each step; and, for a
   * mean step, at the end and with each epoch, the time that the exchange took after the backward
   * pass, the time that its sums were in progress, and the time that rank 0 waited for slower
   * ranks. */
  guint64 ranks, hosts; /* 0: one process */
  guint64 exchange_bytes, exchange_buckets;
  double exchange_wait_ms, exchange_sum_ms, wait_ranks_ms;
  DynoRunRate rate; /* over the steps so far, including earlier parts (runrate.h) */
  /* set at the end */
  guint64 state; /* DynoSessionState; RUNNING: the run is in progress, or was killed */
  gboolean diverged;
  char problem[512];   /* the error that ended the run */
  char bad_layer[128]; /* the first layer whose output was not finite */
} DynoRunFacts;

/* A rank of a run, and its rates. */
typedef struct {
  char host[64], device[128]; /* names */
  DynoRankRate rate;
} DynoRankReport;

/* The most rows and columns of a watched mask: of a larger mask only each nth row and column is
 * kept. */
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
      guint64 n_train, n_validation, n_test;
      guint64 content_hash; /* of the data set */
    } plan;
    struct {
      char *what;        /* "scan", "compile", "autotune", "weights"; translated by the reader */
      guint done, total; /* total 0: unknown */
    } progress;
    DynoMetricTable metrics;
    DynoRunFacts facts;
    DynoStepMetrics step;
    DynoEpochMetrics epoch;
    struct {
      guint64 epoch; /* from 1: the epoch whose validation made them */
      /* The first samples of the validation part, as rank 0 reads them: the same in each epoch, and
       * in a run that is resumed.  samples: their indices in dataset, of which the event holds a
       * reference; for a sample that cannot be read, the index of its replacement.  n is below
       * DYNO_MOST_WATCHED where there are fewer samples. */
      DynoDataset *dataset;
      guint n;
      guint32 samples[DYNO_MOST_WATCHED];
      /* ids: (n, height, width), owned by the event: the classes of the pixels in each `every`th
       * row and column, from the first on, of the image as the network reads it, which is
       * (image_height, image_width). */
      guint32 width, height, every, image_width, image_height;
      guint8 *ids;
    } masks;
    struct {
      guint64 step;
      guint n;
      DynoRankReport *reports; /* over the steps since the last RANKS event */
    } ranks;
    DynoSensorReading *sensors;
    char *text; /* CHECKPOINT: path; WARNING: sentence */
    GError *error;
    struct {
      DynoSessionState state; /* FINISHED, STOPPED or FAILED */
      /* time of training and validation, without pauses, including earlier parts of a resumed
       * run */
      double seconds;
      /* time of this part for opening, planning, compiling and tuning, also again after a lost
       * device */
      double preparation_seconds;
      guint64 steps;       /* steps of the run */
      gboolean is_idle;    /* nothing was left to do, and nothing was done */
      guint64 begin_steps; /* steps and seconds of earlier parts, included above */
      double begin_seconds;
      /* steps of all its epochs, for a run that has reached max_steps before its last epoch; else
       * 0 */
      guint64 whole_steps;
      /* best value of the metric that selects the best epoch; NaN without one, or without
       * validation */
      double best_val_metric;
      /* from 1: the epoch of weights.safetensors; 0: the file holds the last weights, or does not
       * exist */
      guint64 best_epoch;
      /* of the whole run, also where this part did nothing; no samples: it has no test part, or did
       * not come to its end */
      DynoTestResult test;
      /* The number of micro-batches per batch at the end, where memory was short; 1: the whole
       * batch. */
      guint parts;
      guint64 batch_size;
      char *out_dir;         /* or NULL */
      guint64 n_unreadable;  /* samples that could not be read and were replaced, in this part */
      char **unreadable;     /* "sample: reason" of at most 100 */
      guint n_ranks;         /* 0: one process, or not rank 0 */
      DynoRankReport *ranks; /* over this part of the run */
    } done;
  };
} DynoEvent;

DynoEvent *dyno_event_new (DynoEventType type); /* with the present time */
DynoEvent *dyno_event_ref (DynoEvent *event);
void dyno_event_unref (DynoEvent *event);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoEvent, dyno_event_unref)

typedef struct {
  void (*event) (DynoEvent *event, gpointer data);
  /* The session is to end at once, or another thread waits for it: calls of event may not wait from
   * now on, including a call that is in progress in another thread.  Any thread, may be called
   * repeatedly; NULL: event never waits. */
  void (*abandon) (gpointer data);
  /* Called after the last call, when the observer is removed or its session freed; or NULL. */
  GDestroyNotify free;
} DynoObserver;

G_END_DECLS
