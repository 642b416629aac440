/* SPDX-License-Identifier: MIT */
/* Opening a network in a thread.  The task owns the opening; the opener knows only the newest, and
 * an opening that it has dropped reports to nobody.
 *
 * dyno_model_open detects operators that are not supported, but unsupported attributes of a node
 * are detected only when the network is built.  So the network is also built here, for the input
 * and outputs that the file itself states, so that the result does not depend on the data set. */
#include "networkopener.h"
#include "file.h"
#include "networklist.h"
#include "savedmodel.h"
#include <gio/gio.h>

#define SIDE    224 /* image size, where the file accepts any size */
#define OUTPUTS 10

typedef struct {
  DynoNetworkOpener *opener; /* NULL: the opening was dropped */
  char *path, *weights_of;
  const DynoModel *model;
  gboolean has_weights;
} Opening;

struct _DynoNetworkOpener {
  DynoNetworkOpened opened;
  gpointer data;
  Opening *opening; /* NULL: none is under way */
};

static void
opening_free (gpointer data)
{
  Opening *o = data;
  g_free (o->path);
  g_free (o->weights_of);
  g_free (o);
}

/* Whether the file was exported from the model and has weights that fit the model; an export whose
 * batch norms are folded into convolutions has no such weights. */
static gboolean
is_exported_from (const char *path, const char *model)
{
  g_autoptr (GPtrArray) notes = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (DynoSavedModel) saved = model ? dyno_saved_model_open (path, notes, NULL) : NULL;
  return saved && g_str_equal (saved->info->model, model);
}

/* Builds the network for one size of samples.  FALSE with the error MODEL: the network has
 * unsupported nodes; other errors are ignored. */
static gboolean
build_for (const DynoModel *model, guint32 height, guint32 width, guint32 channels, GError **error)
{
  const DynoNetworkParams params = {
    .model = model->name,
    .model_width = 1,
    .batch = 1,
    .schema = dyno_schema_image (DYNO_ELEMENT_U8, height, width, channels, 0),
    .n_outputs = model->n_file_outputs > 0 ? model->n_file_outputs : OUTPUTS,
    .loss = DYNO_LOSS_CROSS_ENTROPY,
    .precision = dyno_precision_of_amp (FALSE),
    .mode = DYNO_MODE_PREDICT,
    .no_fusion = TRUE
  };
  g_autoptr (GError) problem = NULL;
  g_autoptr (DynoGraph) graph = dyno_network_build (&params, &problem);
  if (graph || !g_error_matches (problem, DYNO_NN_ERROR, DYNO_NN_ERROR_MODEL))
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&problem));
  return FALSE;
}

/* Builds a network for images of the size that its file states.  A network of sequences or vectors,
 * or one whose file does not state the channels, is accepted without building it: nodes could be
 * refused only because the guessed input is wrong.  The plan then reports errors. */
static gboolean
try_to_build (const DynoModel *model, GError **error)
{
  if (model->sequences || model->channels == 0)
    return TRUE;
  return build_for (model, model->height > 0 ? model->height : SIDE,
                    model->width > 0 ? model->width : SIDE, model->channels, error);
}

/* Reads the network and puts it first in the list of networks; a refused network is not kept in the
 * list. */
static gboolean
read_network (Opening *o, GError **error)
{
  g_autofree char *folder = dyno_data_dir ("networks");
  const DynoModel *model = dyno_model_open (o->path, &o->has_weights, error);
  if (!model)
    return FALSE;
  if (!try_to_build (model, error))
    {
      dyno_network_list_remove (folder, model->name);
      return FALSE;
    }
  dyno_network_list_touch (folder, model->name);
  o->model = model;
  return TRUE;
}

static void
open_in_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Opening *o = data;
  GError *error = NULL;
  if (is_exported_from (o->path, o->weights_of))
    o->has_weights = TRUE;
  else if (!read_network (o, &error))
    {
      g_task_return_error (task, error);
      return;
    }
  g_task_return_boolean (task, TRUE);
}

static void
open_done (GObject *source, GAsyncResult *result, gpointer data)
{
  Opening *o = g_task_get_task_data (G_TASK (result));
  DynoNetworkOpener *self = o->opener;
  g_autoptr (GError) error = NULL;
  gboolean good = g_task_propagate_boolean (G_TASK (result), &error);
  if (!self)
    return;
  self->opening = NULL;
  const DynoOpenedNetwork opened = { .path = o->path,
                                     .model = good ? o->model : NULL,
                                     .has_weights = good && o->has_weights,
                                     .error = error };
  self->opened (&opened, self->data);
}

void
dyno_network_opener_open (DynoNetworkOpener *self, const char *path, const char *weights_of)
{
  Opening *o = g_new0 (Opening, 1);
  dyno_network_opener_cancel (self);
  o->opener = self;
  o->path = g_canonicalize_filename (path, NULL);
  o->weights_of = g_strdup (weights_of);
  self->opening = o;
  g_autoptr (GTask) task = g_task_new (NULL, NULL, open_done, NULL);
  g_task_set_task_data (task, o, opening_free);
  g_task_run_in_thread (task, open_in_thread);
}

gboolean
dyno_network_opener_cancel (DynoNetworkOpener *self)
{
  if (!self->opening)
    return FALSE;
  self->opening->opener = NULL;
  self->opening = NULL;
  return TRUE;
}

const char *
dyno_network_opener_get_path (DynoNetworkOpener *self)
{
  return self->opening ? self->opening->path : NULL;
}

DynoNetworkOpener *
dyno_network_opener_new (DynoNetworkOpened opened, gpointer data)
{
  DynoNetworkOpener *self = g_new0 (DynoNetworkOpener, 1);
  self->opened = opened;
  self->data = data;
  return self;
}

void
dyno_network_opener_free (DynoNetworkOpener *self)
{
  if (!self)
    return;
  dyno_network_opener_cancel (self);
  g_free (self);
}
