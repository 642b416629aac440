/* SPDX-License-Identifier: MIT */
/* Everything that a session holds on a device for a job: programs, memory, loaders; made in three
 * acts and freed in one.  One thread, the session's.  Private to the train layer. */
#pragma once
#include "build.h"
#include "evaluate.h"
#include "planjob.h"
#include "snapshot.h"
#include "stepper.h"

G_BEGIN_DECLS

typedef struct _DynoEngine DynoEngine;

/* The way of one part of the data set through the device. */
typedef struct {
  GArray *indices; /* of its samples; NULL where the device makes them */
  guint64 n_samples;
  DynoBuild *build;       /* NULL: the part has no samples, or is not built */
  DynoUploader *uploader; /* NULL where the device makes its own input */
  DynoPipe *pipe;
} DynoEnginePart;

struct _DynoEngine {
  DynoDataset *dataset;
  DynoDevice *device;
  DynoJob *job; /* as it can run here: AMP and batch may differ from what was asked */
  /* A batch goes through the device in so many equal micro-batches; 1: as a whole.  Plan, graphs
   * and loaders are those of a micro-batch. */
  guint parts;
  char *shrunk_for;     /* the problem that parts answer, until they are reported; or NULL */
  DynoChoices *choices; /* NULL: not loaded yet, kernels by rule */
  DynoJobPlan plan;
  /* Nothing is loaded: who steps has filled the training's input, which stays as it is.  Set before
   * the building. */
  gboolean resident;
  DynoEnginePart training, validation; /* their builds share memory */
  DynoStartValues *start; /* being made while kernels compile, until dyno_engine_initialise */
  DynoSnapshot *snapshot; /* NULL: the plan has no room for one */
  DynoComm *comm; /* of the job's ranks; NULL: one.  Set before the building, outlives the engine */
  DynoExchange *exchange;            /* with comm */
  guint64 slot_use[DYNO_PIPE_SLOTS]; /* shared by the pipes */
  DynoStepper *stepper;
  /* Of the validation, where best_metric asks for what only its predictions tell; else NULL. */
  DynoReadback *readback;
  DynoFigures *figures;
  DynoMaskWatch *watch; /* of the validation, where the job watches its masks; else NULL */
};

/* Told what goes on while an engine is built; the session's thread. */
typedef struct {
  void (*progress) (const char *what, guint done, guint total, gpointer data);
  void (*warning) (const char *text, gpointer data);
  gpointer data;
} DynoEngineWatch;

/* Device and plan.  device: one that is open, whose budget becomes the job's; NULL: the job's is
 * opened.  training, validation: which samples they take (guint32 indices), of which the engine
 * takes references; both NULL where the device makes the samples, validation NULL: there is none.
 * Errors: gpu's of opening; DATA; those of dyno_job_plan.  Not fitting is no error. */
DynoEngine *dyno_engine_open (DynoDevice *device, const DynoJob *job, DynoDataset *dataset,
                              GArray *training, GArray *validation, const DynoEngineWatch *watch,
                              GError **error);
/* The same for the parts of the data set that the job divides it into. */
DynoEngine *dyno_engine_open_split (DynoDevice *device, const DynoJob *job, DynoDataset *dataset,
                                    const DynoEngineWatch *watch, GError **error);

/* More and smaller micro-batches, from the building on; plans again.  problem: why, which is
 * reported when they have been built; NULL: it was reported before.  Errors: those of
 * dyno_job_plan. */
gboolean dyno_engine_set_parts (DynoEngine *engine, guint parts, const GError *problem,
                                GError **error);

/* As many more parts as the plan needs to fit, where it does not and the settings want that;
 * plans again.  The change is reported when they have been built.  Errors: those of
 * dyno_job_plan. */
gboolean dyno_engine_shrink (DynoEngine *engine, GError **error);

/* The parts that the engine should have to need less device memory, after this problem; 0: it is
 * none of device memory, the settings do not want it, or a batch has no smaller equal parts. */
guint dyno_engine_next_parts (DynoEngine *engine, const GError *problem);

/* Micro-batches that an update adds up, the last of an epoch aside. */
guint64 dyno_engine_count_micro (const DynoEngine *engine);

/* Whether a run with these settings measures kernels on this device: never on one that is a CPU,
 * where that takes longer than it brings. */
gboolean dyno_engine_tunes (const DynoSettings *settings, const DynoDeviceInfo *info);

/* Takes what is known of the device's kernels; measures those that are not known yet, for some
 * seconds, where dyno_engine_tunes; plans again with them. */
gboolean dyno_engine_autotune (DynoEngine *engine, const DynoEngineWatch *watch,
                               GCancellable *cancellable, GError **error);

/* Memory, programs and loaders; parameters are undefined still.  A kernel variant that the device
 * cannot run is refused with a warning, and another taken; where memory is refused, there are more
 * parts, with a warning.
 * Errors: DOES_NOT_FIT, those of dyno_memory_new, dyno_program_new, dyno_uploader_new. */
gboolean dyno_engine_build (DynoEngine *engine, const DynoEngineWatch *watch,
                            GCancellable *cancellable, GError **error);

/* Start values by the job's seed, or from a weights file; watch gets what was not used of it or
 * replaced.  *batches_tracked as the file says. */
gboolean dyno_engine_initialise (DynoEngine *engine, const DynoEngineWatch *watch,
                                 guint64 *batches_tracked, GError **error);

/* Gives a program of the job's network the weights of the classes in the loss, where it has any; the
 * engine's own has them once it is built. */
gboolean dyno_engine_weigh_classes (DynoEngine *engine, DynoProgram *program, GError **error);

/* The graph of a micro-batch in a mode, not planned yet.  Errors: those of dyno_network_build. */
DynoBuild *dyno_engine_new_build (DynoEngine *engine, DynoMode mode, GError **error);

/* Of the training part, once it is built. */
DynoGraph *dyno_engine_get_graph (DynoEngine *engine);
DynoProgram *dyno_engine_get_program (DynoEngine *engine);

/* Waits for what is in flight. */
void dyno_engine_free (DynoEngine *engine);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoEngine, dyno_engine_free)

/* Tells the loaders what the job's settings of DYNO_SETTING_LIVE_LOADER say now; the settings are
 * then what the loaders could be set to. */
void dyno_engine_renew_loaders (DynoEngine *engine);

G_END_DECLS
