/* SPDX-License-Identifier: MIT */
/* Reads a network from an ONNX file, in a thread.  One opening at a time; a new opening drops the
 * earlier one.  Main thread only, on which opened is called, too. */
#pragma once
#include "network.h"

G_BEGIN_DECLS

typedef struct {
  const char *path;       /* absolute */
  const DynoModel *model; /* NULL: error is set, or the file holds only weights */
  gboolean has_weights;
  const GError *error; /* why the network cannot be trained; the message has one reason a line */
} DynoOpenedNetwork;

typedef void (*DynoNetworkOpened) (const DynoOpenedNetwork *opened, gpointer data);

typedef struct _DynoNetworkOpener DynoNetworkOpener;

DynoNetworkOpener *dyno_network_opener_new (DynoNetworkOpened opened, gpointer data);
void dyno_network_opener_free (DynoNetworkOpener *self); /* opened is not called afterwards */
/* weights_of: a model or NULL; a file that was exported from this model is not read as a network
 * but used only for its weights (model NULL, has_weights TRUE, no error). */
void dyno_network_opener_open (DynoNetworkOpener *self, const char *path, const char *weights_of);
/* Drops the opening: its thread goes on, but the result is not reported.  Returns FALSE if there is
 * none. */
gboolean dyno_network_opener_cancel (DynoNetworkOpener *self);
/* path of the file that is being read, or NULL */
const char *dyno_network_opener_get_path (DynoNetworkOpener *self);

G_END_DECLS
