/* SPDX-License-Identifier: MIT */
/* A network is a file of the user's folder of networks, whose stem is its name; the time of its
 * last change is the time at which it was opened last. */
#include "networklist.h"
#include "file.h"
#include <glib/gstdio.h>
#include <string.h>
#include <utime.h>

#define SUFFIX       ".onnx"
#define DIGEST       16 /* hexadecimal digits of the digest in a name */
#define DIGEST_SHOWN 6

typedef struct {
  char *name;
  gint64 opened_ns;
} Kept;

static void
kept_free (gpointer data)
{
  Kept *self = data;
  g_free (self->name);
  g_free (self);
}

/* The last '@', which begins the digest; NULL: the name has none. */
static const char *
find_digest (const char *name)
{
  const char *at = strrchr (name, '@');
  return at && at > name && strlen (at + 1) == DIGEST
                 && strspn (at + 1, "0123456789abcdef") == DIGEST
             ? at
             : NULL;
}

static int
compare_newest_first (gconstpointer a, gconstpointer b)
{
  const Kept *one = *(const Kept *const *) a, *other = *(const Kept *const *) b;
  if (one->opened_ns != other->opened_ns)
    return one->opened_ns < other->opened_ns ? 1 : -1;
  return strcmp (one->name, other->name);
}

static char *
path_of (const char *folder, const char *name)
{
  g_autofree char *base = g_strconcat (name, SUFFIX, NULL);
  return g_build_filename (folder, base, NULL);
}

GPtrArray *
dyno_network_list_read (const char *folder, guint most)
{
  g_autoptr (GPtrArray) kept = g_ptr_array_new_with_free_func (kept_free);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  for (const char *base; dir && (base = g_dir_read_name (dir));)
    {
      g_autofree char *name = g_str_has_suffix (base, SUFFIX)
                                  ? g_strndup (base, strlen (base) - strlen (SUFFIX))
                                  : NULL;
      g_autofree char *path = g_build_filename (folder, base, NULL);
      GStatBuf status;
      if (!name || !find_digest (name) || g_stat (path, &status) != 0)
        continue;
      Kept *one = g_new0 (Kept, 1);
      one->name = g_steal_pointer (&name);
      one->opened_ns =
          (gint64) status.st_mtim.tv_sec * 1000000000 + (gint64) status.st_mtim.tv_nsec;
      g_ptr_array_add (kept, one);
    }
  g_ptr_array_sort (kept, compare_newest_first);
  for (guint i = 0; i < MIN (kept->len, most); i++)
    g_ptr_array_add (names, g_strdup (((Kept *) kept->pdata[i])->name));
  return names;
}

void
dyno_network_list_touch (const char *folder, const char *name)
{
  g_autofree char *path = path_of (folder, name);
  utime (path, NULL);
}

void
dyno_network_list_remove (const char *folder, const char *name)
{
  g_autofree char *path = path_of (folder, name);
  g_unlink (path);
}

char *
dyno_network_list_title (const char *name)
{
  const char *digest = find_digest (name);
  return digest ? g_strndup (name, (gsize) (digest - name)) : g_strdup (name);
}

char *
dyno_network_list_describe (const GPtrArray *names, guint i)
{
  const char *name = names->pdata[i], *digest = find_digest (name);
  g_autofree char *title = dyno_network_list_title (name);
  gboolean shared = FALSE;
  for (guint k = 0; k < names->len; k++)
    {
      g_autofree char *other = dyno_network_list_title (names->pdata[k]);
      shared |= k != i && g_str_equal (title, other);
    }
  return shared && digest ? g_strdup_printf ("%s (%.*s)", title, DIGEST_SHOWN, digest + 1)
                          : g_steal_pointer (&title);
}

char *
dyno_network_list_describe_path (const char *path)
{
  g_autofree char *base = g_filename_display_basename (path),
                  *stem = g_str_has_suffix (base, SUFFIX)
                              ? g_strndup (base, strlen (base) - strlen (SUFFIX))
                              : g_strdup (base);
  return find_digest (stem) ? dyno_network_list_title (stem) : g_steal_pointer (&base);
}

char *
dyno_network_list_get_path (const char *name)
{
  g_autofree char *folder = dyno_data_dir ("networks");
  return path_of (folder, name);
}

/* --- in a thread ------------------------------------------------------------------------------ */

typedef struct {
  guint most;
  DynoNetworksListed listed;
} Request;

static void
read_in_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  const Request *request = data;
  g_autofree char *folder = dyno_data_dir ("networks");
  g_task_return_pointer (task, dyno_network_list_read (folder, request->most),
                         (GDestroyNotify) g_ptr_array_unref);
}

static void
read_done (GObject *source, GAsyncResult *result, gpointer data)
{
  const Request *request = g_task_get_task_data (G_TASK (result));
  g_autoptr (GPtrArray) names = g_task_propagate_pointer (G_TASK (result), NULL);
  if (names)
    request->listed (source, names);
}

void
dyno_network_list_ask (guint most, GObject *owner, DynoNetworksListed listed)
{
  Request *request = g_new0 (Request, 1);
  *request = (Request){ most, listed };
  g_autoptr (GTask) task = g_task_new (owner, NULL, read_done, NULL);
  g_task_set_task_data (task, request, g_free);
  g_task_run_in_thread (task, read_in_thread);
}
