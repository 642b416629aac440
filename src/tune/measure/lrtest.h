/* SPDX-License-Identifier: MIT */
/* A learning-rate range test: some dozens of steps of a training whose learning rate grows by equal
 * factors (lrcurve.h).  It writes no folder, history or weights.  The same seed and number of steps
 * give the same curve with any number of workers. */
#pragma once
#include "event.h"
#include "lrcurve.h"
#include <gio/gio.h>

G_BEGIN_DECLS

#define DYNO_LR_TEST_FROM        1e-6
#define DYNO_LR_TEST_TO          10.0
#define DYNO_LR_TEST_STEPS       100
#define DYNO_LR_TEST_LEAST_STEPS 20 /* least number of steps where the test adapts it to the time */
#define DYNO_LR_TEST_MOST_STEPS  10000

typedef struct {
  double from, to; /* learning rates of the first step and of the last; 0: the constants above */
  /* 0: DYNO_LR_TEST_STEPS, or as many as fit into the time, at least _LEAST_STEPS */
  guint steps;
  double seconds;         /* at most for the whole test, preparations counted; 0: 60 */
  gint64 (*clock) (void); /* microseconds; NULL: the system's */
} DynoLrTestParams;

/* Errors: SETTING, which names what is wrong. */
gboolean dyno_lr_test_check (const DynoLrTestParams *params, GError **error);

/* Callbacks for each event of the test's sessions (two where the first one finds that there is no
 * time for so many steps) and for each point of its curve, with the curve up to that point; on the
 * calling thread.  Either may be NULL. */
typedef struct {
  void (*event) (const DynoEvent *event, gpointer data);
  void (*point) (const DynoLrCurve *curve, const DynoLrPoint *point, gpointer data);
  gpointer data;
} DynoLrTestWatch;

/* Blocks.  The job's own learning rate, schedule, epochs and files are not used; its start weights
 * are.  params, device (one that is open) and watch may be NULL.  A test that is cancelled or runs
 * out of time returns the curve so far, which may be empty.  Errors: those of _check and of a
 * session. */
DynoLrCurve *dyno_lr_test_run (const DynoJob *job, DynoDataset *dataset, DynoDevice *device,
                               const DynoLrTestParams *params, const DynoLrTestWatch *watch,
                               GCancellable *cancellable, GError **error);

G_END_DECLS
