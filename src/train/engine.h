/* SPDX-License-Identifier: MIT */
/* All that a session holds on a device for a job: programs, memory, loaders.  It is made in three
 * steps (open, build, initialise) and freed in one.  Only the session's thread uses it.  Private to
 * the train layer. */
#pragma once
#include "build.h"
#include "evaluate.h"
#include "planjob.h"
#include "snapshot.h"
#include "stepper.h"

G_BEGIN_DECLS

typedef struct _DynoEngine DynoEngine;

/* One part of the data set, with its program, uploader and pipe. */
typedef struct {
  GArray *indices; /* of the part's samples; NULL where the device generates them */
  guint64 n_samples;
  DynoBuild *build;       /* NULL: the part has no samples, or is not built */
  DynoUploader *uploader; /* NULL where the device generates its own input */
  DynoPipe *pipe;
} DynoEnginePart;

struct _DynoEngine {
  DynoDataset *dataset;
  DynoDevice *device;
  DynoJob *job; /* as it can run here: AMP and batch may differ from the request */
  /* A batch is processed in this many equal micro-batches; 1: as a whole.  Plan, graphs and loaders
   * are those of a micro-batch. */
  guint parts;
  char *shrunk_for;     /* the problem for which parts was raised, until it is reported; or NULL */
  DynoChoices *choices; /* NULL: not loaded yet, kernels by rule */
  DynoJobPlan plan;
  /* No data is loaded: the caller fills the training's input once, and it stays unchanged.  Set
   * before dyno_engine_build. */
  gboolean resident;
  DynoEnginePart training, validation; /* their builds share memory */
  /* The test part, which is evaluated once, at the end: dyno_engine_turn_to_test gives it the
   * build, the pipe and the uploader of the validation. */
  DynoEnginePart test;
  DynoStartValues *start; /* computed while kernels compile, until dyno_engine_initialise */
  DynoSnapshot *snapshot; /* NULL: the plan has no room for one */
  /* of the job's ranks; set before dyno_engine_build, outlives the engine; NULL: one rank */
  DynoComm *comm;
  DynoExchange *exchange;            /* only with comm */
  guint64 slot_use[DYNO_PIPE_SLOTS]; /* shared by the pipes */
  DynoStepper *stepper;
  /* readback and figures: for the validation, where best_metric is a metric of its predictions;
   * else NULL. */
  DynoReadback *readback;
  DynoFigures *figures;
  DynoMaskWatch *watch; /* for the validation, where the job watches its masks; else NULL */
};

/* Callbacks while an engine is built; called on the session's thread. */
typedef struct {
  void (*progress) (const char *what, guint done, guint total, gpointer data);
  void (*warning) (const char *text, gpointer data);
  gpointer data;
} DynoEngineWatch;

/* Opens the device and makes the plan.  device: an open one, whose budget becomes the job's; NULL:
 * the job's is opened.  training, validation: the indices (guint32) of their samples, which the
 * engine references; both NULL where the device generates the samples, validation NULL: there is
 * none.  Errors: those of dyno_device_open; DATA; those of dyno_job_plan.  A plan that does not fit
 * is no error. */
DynoEngine *dyno_engine_open (DynoDevice *device, const DynoJob *job, DynoDataset *dataset,
                              GArray *training, GArray *validation, const DynoEngineWatch *watch,
                              GError **error);
/* The same for the parts into which the job divides the data set, with the test part. */
DynoEngine *dyno_engine_open_split (DynoDevice *device, const DynoJob *job, DynoDataset *dataset,
                                    const DynoEngineWatch *watch, GError **error);

/* Sets a larger number of smaller micro-batches, which dyno_engine_build then uses; plans again.
 * problem: the reason, which dyno_engine_build reports; NULL: it was reported before.  Errors:
 * those of dyno_job_plan. */
gboolean dyno_engine_set_parts (DynoEngine *engine, guint parts, const GError *problem,
                                GError **error);

/* Raises the number of micro-batches until the plan fits, where it does not and the settings allow
 * that; plans again.  dyno_engine_build reports the change.  Errors: those of dyno_job_plan. */
gboolean dyno_engine_shrink (DynoEngine *engine, GError **error);

/* The number of micro-batches with which the engine needs less device memory, after this problem;
 * 0: the problem is not one of device memory, the settings do not allow it, or a batch has no
 * smaller equal parts. */
guint dyno_engine_next_parts (DynoEngine *engine, const GError *problem);

/* The number of micro-batches that an update adds up; the last update of an epoch may add up
 * fewer. */
guint64 dyno_engine_count_micro (const DynoEngine *engine);

/* TRUE: a run with these settings measures kernels on this device; never on a CPU, where measuring
 * takes longer than it saves. */
gboolean dyno_engine_tunes (const DynoSettings *settings, const DynoDeviceInfo *info);

/* Loads the stored measurements of the device's kernels; measures unknown kernels for some seconds,
 * where dyno_engine_tunes; plans again with the chosen variants. */
gboolean dyno_engine_autotune (DynoEngine *engine, const DynoEngineWatch *watch,
                               GCancellable *cancellable, GError **error);

/* Makes memory, programs and loaders; parameters are still undefined.  A kernel variant that the
 * device cannot run is replaced by another one, with a warning; where memory is refused, the number
 * of micro-batches is raised, with a warning.
 * Errors: DOES_NOT_FIT, those of dyno_memory_new, dyno_program_new, dyno_uploader_new. */
gboolean dyno_engine_build (DynoEngine *engine, const DynoEngineWatch *watch,
                            GCancellable *cancellable, GError **error);

/* Sets the start values: random ones by the job's seed, or those of a weights file.  watch receives
 * notes on tensors of the file that were not used or were replaced.  *batches_tracked becomes that
 * of the file, or 0. */
gboolean dyno_engine_initialise (DynoEngine *engine, const DynoEngineWatch *watch,
                                 guint64 *batches_tracked, GError **error);

/* Gives a program of the job's network the class weights of the loss, where there are any; the
 * engine's own program has them once it is built. */
gboolean dyno_engine_weigh_classes (DynoEngine *engine, DynoProgram *program, GError **error);

/* Makes the graph of a micro-batch in a mode, which is not planned yet.  Errors: those of
 * dyno_network_build. */
DynoBuild *dyno_engine_new_build (DynoEngine *engine, DynoMode mode, GError **error);

/* Graph and program of the training part, once it is built. */
DynoGraph *dyno_engine_get_graph (DynoEngine *engine);
DynoProgram *dyno_engine_get_program (DynoEngine *engine);

/* Waits for all submissions in flight. */
void dyno_engine_free (DynoEngine *engine);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoEngine, dyno_engine_free)

/* Ends the validation, and prepares the test part, which has samples, for an evaluation by this
 * rank of all of it; no submission may be in flight.  To be called once.  Errors: those of
 * dyno_uploader_new. */
gboolean dyno_engine_turn_to_test (DynoEngine *engine, GError **error);

/* Gives the loaders the job's present settings of DYNO_SETTING_LIVE_LOADER; the settings then
 * become the values that the loaders could be set to. */
void dyno_engine_renew_loaders (DynoEngine *engine);

G_END_DECLS
