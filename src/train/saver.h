/* SPDX-License-Identifier: MIT */
/* Saving beside the training: a thread that reads a snapshot back and writes the checkpoint, and
 * the weights where they are the best so far.
 *
 * A save has two halves.  _take fixes the state, as all that was submitted leaves it; _commit says
 * which position that is, once the results of these steps are known, and hands both to the thread.
 * While one save is being written the next may wait in the snapshot; more than that have to be
 * asked for again.
 * One thread, the session's, but for the told function.  Private to the train layer. */
#pragma once
#include "checkpoint.h"

G_BEGIN_DECLS

typedef struct _DynoSaver DynoSaver;

/* Told by the writer's thread.  path: what was written, or was to be; problem NULL: it is there. */
typedef void (*DynoSaverTold) (const char *path, gboolean best, const GError *problem,
                               gpointer data);

typedef struct {
  DynoProgram *program;
  /* NULL: _take reads the program's memory, and waits for all that is in flight */
  DynoSnapshot *snapshot;
  const char *checkpoint; /* path, or NULL: none is written */
  const char *best;       /* path for the best weights, or NULL: they are kept in memory */
  guint64 content_hash;   /* of the data set */
  const DynoDatasetInfo *dataset;
  DynoSaverTold told;
  gpointer data;
} DynoSaverParams;

/* Program, data set and snapshot outlive the saver. */
DynoSaver *dyno_saver_new (const DynoSaverParams *params);
/* Waits for what is being written; what only waits its turn is dropped. */
void dyno_saver_free (DynoSaver *saver);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoSaver, dyno_saver_free)

/* Whether _take would find room now without waiting and without dropping another save. */
gboolean dyno_saver_has_room (DynoSaver *saver);

/* Fixes the state.  best: room is made, if need be by waiting for a read-back or by dropping a save
 * that waits.  Errors: those of submitting and, without a snapshot, of reading. */
gboolean dyno_saver_take (DynoSaver *saver, gboolean best, GError **error);
void dyno_saver_commit (DynoSaver *saver, const DynoJob *job, const DynoPosition *position,
                        gboolean best);
void dyno_saver_cancel (DynoSaver *saver); /* the state that was taken is no good one */

/* Waits until all that was committed is written, or has failed. */
void dyno_saver_flush (DynoSaver *saver);

/* An error of the device that the thread met; any other was reported, and the run may go on. */
gboolean dyno_saver_check (DynoSaver *saver, GError **error);

/* After a flush: whether a checkpoint was written, and the best weights that are not in a file
 * (NULL: they are, or there are none). */
gboolean dyno_saver_has_saved (DynoSaver *saver);
/* The same, and the last one is of this position. */
gboolean dyno_saver_holds (DynoSaver *saver, const DynoPosition *position);
const DynoWeights *dyno_saver_get_best (DynoSaver *saver);

G_END_DECLS
