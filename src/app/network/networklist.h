/* SPDX-License-Identifier: MIT */
/* The networks that were opened before, by their names: the chooser of models offers them below the
 * built-in ones.  No display is needed. */
#pragma once
#include <gio/gio.h>

G_BEGIN_DECLS

/* Names ("net@0123456789abcdef", char *) of the networks in a folder, the one that was opened last
 * first, at most `most`.  A folder that cannot be read has none.  g_ptr_array_unref.  Any
 * thread. */
GPtrArray *dyno_network_list_read (const char *folder, guint most);
/* Puts a network first in the next lists; to be called when it has been opened.  Any thread. */
void dyno_network_list_touch (const char *folder, const char *name);
/* Takes a network out of the folder.  Any thread. */
void dyno_network_list_remove (const char *folder, const char *name);

/* "net" of "net@0123456789abcdef"; a name without a digest is returned whole.  g_free. */
char *dyno_network_list_title (const char *name);
/* The title of names[i]; with the beginning of its digest, "net (012345)", where another of the
 * names has the same title.  g_free. */
char *dyno_network_list_describe (const GPtrArray *names, guint i);

/* The displayed name of a file: "net.onnx", or "net" for a file in the folder of networks.
 * g_free. */
char *dyno_network_list_describe_path (const char *path);
/* The file of a network in the user's folder of networks.  g_free. */
char *dyno_network_list_get_path (const char *name);

typedef void (*DynoNetworksListed) (GObject *owner, GPtrArray *names);

/* Reads the user's folder of networks in a thread, then calls listed on the main thread.  The owner
 * is kept alive until then. */
void dyno_network_list_ask (guint most, GObject *owner, DynoNetworksListed listed);

G_END_DECLS
