/* SPDX-License-Identifier: MIT */
/* Saves in the background: a thread reads a snapshot back and writes the checkpoint, and the
 * weights where they are the best so far.
 *
 * A save has two halves.  _take fixes the state after all submitted steps; _commit gives it a
 * position, once the results of these steps are known, and passes both to the thread.  While one
 * save is being written, the next may wait in the snapshot; further ones have to be requested again
 * later.  Only the session's thread calls these functions; reported is called on the writer's
 * thread.  Private to the train layer. */
#pragma once
#include "checkpoint.h"

G_BEGIN_DECLS

typedef struct _DynoSaver DynoSaver;

/* Called on the writer's thread after each write, and after a failed read-back.  path: the file;
 * problem NULL: it was written. */
typedef void (*DynoSaverReport) (const char *path, gboolean best, const GError *problem,
                                 gpointer data);

typedef struct {
  DynoProgram *program;
  /* NULL: _take reads the program's memory, and waits for all that is in flight */
  DynoSnapshot *snapshot;
  const char *checkpoint; /* path, or NULL: none is written */
  const char *best;       /* path for the best weights; NULL: they are kept in memory */
  /* Best weights stay in the snapshot until another state is saved, or all are flushed; they are
   * written before that state, which a flush alone does not do. */
  gboolean best_waits;
  guint64 content_hash; /* of the data set */
  const DynoDatasetInfo *dataset;
  DynoSaverReport reported;
  gpointer data;
} DynoSaverParams;

/* Program, data set and snapshot outlive the saver. */
DynoSaver *dyno_saver_new (const DynoSaverParams *params);
/* Waits for the save that is being written; a save that still waits is dropped. */
void dyno_saver_free (DynoSaver *saver);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoSaver, dyno_saver_free)

/* TRUE: _take would find room now without waiting and without dropping another save. */
gboolean dyno_saver_has_room (DynoSaver *saver);

/* Fixes the state.  best: room is made, if necessary by waiting for a read-back or by dropping a
 * waiting save.  Errors: those of submitting and, without a snapshot, of reading. */
gboolean dyno_saver_take (DynoSaver *saver, gboolean best, GError **error);
void dyno_saver_commit (DynoSaver *saver, const DynoJob *job, const DynoPosition *position,
                        gboolean best);
void dyno_saver_cancel (DynoSaver *saver); /* drops the state that was taken */

/* Waits until all committed saves were written, or have failed. */
void dyno_saver_flush (DynoSaver *saver);

/* FALSE: the thread met an error of the device; other errors were reported, and the run may
 * continue. */
gboolean dyno_saver_check (DynoSaver *saver, GError **error);

/* After a flush: whether a checkpoint was written. */
gboolean dyno_saver_has_saved (DynoSaver *saver);
/* TRUE: a checkpoint was written, and the last one has this position. */
gboolean dyno_saver_holds (DynoSaver *saver, const DynoPosition *position);
/* After a flush: the best weights where they are in no file; NULL: they are in a file, or there are
 * none. */
const DynoWeights *dyno_saver_get_best (DynoSaver *saver);

G_END_DECLS
