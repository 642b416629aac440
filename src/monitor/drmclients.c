/* SPDX-License-Identifier: MIT */
/* Clients of a DRM device.
 *
 * A search through all processes for files of the device takes longer the more processes there are,
 * so it is made only every few seconds; in between, the files found are read again.  A client with
 * several files counts once. */
#include "drmclients.h"
#include <math.h>
#include <string.h>
#include <unistd.h>

#define SEARCH_US      (5 * G_USEC_PER_SEC)
#define MOST_PROCESSES 32768
#define MOST_FILES     4096 /* most files of a process */
#define MOST_CLIENTS   1024
#define TEXT_BYTES     16384

typedef struct {
  char *pid, *path; /* path: of fdinfo */
} File;

/* The work of an engine for a client: nanoseconds, or busy cycles and total cycles. */
typedef struct {
  double busy, total; /* total NaN: busy is nanoseconds */
  double capacity;
} Engine;

struct _DynoDrmClients {
  char *root, *pci, *own_pid;
  GPtrArray *files; /* File* */
  gint64 searched_us, read_us;
  GHashTable *engines; /* "client/engine": Engine*, of the last reading */
  char text[TEXT_BYTES];
};

static void
free_file (gpointer data)
{
  File *file = data;

  g_free (file->pid);
  g_free (file->path);
  g_free (file);
}

static GHashTable *
new_engines (void)
{
  return g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
}

DynoDrmClients *
dyno_drm_clients_new (const char *proc_root, const char *pci)
{
  DynoDrmClients *clients = g_new0 (DynoDrmClients, 1);
  g_autofree char *path = g_build_filename (proc_root, "self", "stat", NULL);

  clients->root = g_strdup (proc_root);
  clients->pci = g_strdup (pci);
  clients->files = g_ptr_array_new_with_free_func (free_file);
  clients->engines = new_engines ();
  dyno_sensor_file_read (path, clients->text, sizeof clients->text);
  clients->own_pid = g_strndup (clients->text, strspn (clients->text, "0123456789"));
  return clients;
}

void
dyno_drm_clients_free (DynoDrmClients *clients)
{
  if (!clients)
    return;
  g_ptr_array_unref (clients->files);
  g_hash_table_unref (clients->engines);
  g_free (clients->root);
  g_free (clients->pci);
  g_free (clients->own_pid);
  g_free (clients);
}

/* --- search for files ------------------------------------------------------------------------- */

static void
search_process (DynoDrmClients *clients, const char *pid)
{
  g_autofree char *folder = g_build_filename (clients->root, pid, "fd", NULL);
  g_autoptr (GDir) names = g_dir_open (folder, 0, NULL);
  const char *name;

  for (guint n = 0; names && n < MOST_FILES && (name = g_dir_read_name (names)); n++)
    {
      g_autofree char *link = g_build_filename (folder, name, NULL);
      char target[32];
      ssize_t length = readlink (link, target, sizeof target - 1);
      File *file;

      if (length < 0)
        continue;
      target[length] = '\0';
      if (!g_str_has_prefix (target, "/dev/dri/"))
        continue;
      file = g_new (File, 1);
      *file = (File){ g_strdup (pid), g_build_filename (clients->root, pid, "fdinfo", name, NULL) };
      g_ptr_array_add (clients->files, file);
    }
}

static void
search (DynoDrmClients *clients)
{
  g_autoptr (GDir) names = g_dir_open (clients->root, 0, NULL);
  const char *name;

  g_ptr_array_set_size (clients->files, 0);
  for (guint n = 0; names && n < MOST_PROCESSES && (name = g_dir_read_name (names)); n++)
    if (g_ascii_isdigit (*name))
      search_process (clients, name);
}

/* --- their contents --------------------------------------------------------------------------- */

typedef struct {
  GHashTable *seen;      /* client ids */
  GHashTable *processes; /* other processes */
  GHashTable *engines;   /* of this reading */
  GHashTable *shares;    /* engine: double*, its busy share */
  DynoSensorPrograms *programs;
  double own_bytes;
  gboolean own;
} Sum;

/* "4096 KiB" in bytes. */
static double
parse_bytes (const char *text)
{
  char *end;
  double value = (double) g_ascii_strtoull (text, &end, 10);

  if (end == text)
    return (double) NAN;
  while (*end == ' ')
    end++;
  return value
         * (g_str_has_prefix (end, "KiB")   ? 1024
            : g_str_has_prefix (end, "MiB") ? 1048576
            : g_str_has_prefix (end, "GiB") ? 1073741824
                                            : 1);
}

/* The value after "key:" at the beginning of a line; NULL: there is none. */
static const char *
find_value (const char *text, const char *key)
{
  gsize length = strlen (key);

  for (const char *line = text; line; line = strchr (line, '\n'))
    {
      line += *line == '\n';
      if (strncmp (line, key, length) == 0 && line[length] == ':')
        {
          line += length + 1;
          return line + strspn (line, " \t");
        }
    }
  return NULL;
}

static gboolean
value_is (const char *value, const char *word)
{
  gsize length = strlen (word);

  return value && strncmp (value, word, length) == 0 && (value[length] == '\n' || !value[length]);
}

/* Memory on the device, whose regions are named vram, vram0 or local0.  "resident" is the memory
 * that is on the device; older kernels have only "memory" or "total". */
static double
device_bytes (const char *text)
{
  static const char *const keys[] = { "drm-resident-vram",   "drm-resident-vram0",
                                      "drm-resident-local0", "drm-memory-vram",
                                      "drm-memory-local0",   "drm-total-vram0",
                                      "drm-total-local0" };

  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    {
      const char *value = find_value (text, keys[i]);

      if (value)
        return parse_bytes (value);
    }
  return (double) NAN;
}

static double
number_for (const char *text, const char *prefix, const char *engine)
{
  g_autofree char *key = g_strconcat (prefix, engine, NULL);
  const char *value = find_value (text, key);
  char *end;
  double number;

  if (!value)
    return (double) NAN;
  number = (double) g_ascii_strtoull (value, &end, 10);
  return end == value ? (double) NAN : number;
}

/* Adds to an engine's share the part that this client used since the last reading. */
static void
add_engine (DynoDrmClients *clients, Sum *sum, const char *client, const char *name,
            const Engine *now, double passed_ns)
{
  g_autofree char *key = g_strconcat (client, "/", name, NULL);
  const Engine *last = g_hash_table_lookup (clients->engines, key);
  double *share = g_hash_table_lookup (sum->shares, name);
  double passed = passed_ns;

  if (last && !isnan (now->total))
    passed = now->total - last->total;
  if (last && now->busy >= last->busy && passed > 0)
    {
      if (!share)
        {
          share = g_new0 (double, 1);
          g_hash_table_insert (sum->shares, g_strdup (name), share);
        }
      *share += (now->busy - last->busy) / (passed * MAX (now->capacity, 1));
    }
  g_hash_table_insert (sum->engines, g_steal_pointer (&key), g_memdup2 (now, sizeof *now));
}

static void
add_engines (DynoDrmClients *clients, Sum *sum, const char *client, double passed_ns)
{
  static const char *const prefixes[] = { "drm-engine-", "drm-cycles-" };

  for (const char *line = clients->text; line; line = strchr (line, '\n'))
    {
      line += *line == '\n';
      for (guint i = 0; i < G_N_ELEMENTS (prefixes); i++)
        {
          gsize length = strlen (prefixes[i]), end = strcspn (line, ":\n");
          g_autofree char *name = NULL;
          Engine engine = { .total = (double) NAN };

          if (strncmp (line, prefixes[i], length) != 0 || end <= length || line[end] != ':')
            continue;
          if (strncmp (line, "drm-engine-capacity-", strlen ("drm-engine-capacity-")) == 0)
            continue;
          name = g_strndup (line + length, end - length);
          engine.busy = number_for (clients->text, prefixes[i], name);
          engine.capacity = number_for (clients->text, "drm-engine-capacity-", name);
          if (i == 1)
            engine.total = number_for (clients->text, "drm-total-cycles-", name);
          if (!isnan (engine.busy) && (i == 0 || !isnan (engine.total)))
            add_engine (clients, sum, client, name, &engine, passed_ns);
        }
    }
}

static void
add_file (DynoDrmClients *clients, Sum *sum, const File *file, double passed_ns)
{
  g_autofree char *client = NULL;
  const char *id;

  if (dyno_sensor_file_read (file->path, clients->text, sizeof clients->text) <= 0
      || !value_is (find_value (clients->text, "drm-pdev"), clients->pci))
    return;
  if (strcmp (file->pid, clients->own_pid) != 0)
    g_hash_table_add (sum->processes, g_strdup (file->pid));
  else
    sum->own = TRUE;
  id = find_value (clients->text, "drm-client-id");
  client = id ? g_strndup (id, strspn (id, "0123456789")) : g_strdup (file->path);
  if (g_hash_table_size (sum->seen) >= MOST_CLIENTS
      || !g_hash_table_add (sum->seen, g_strdup (client)))
    return;
  double bytes = device_bytes (clients->text);
  dyno_sensor_programs_add (sum->programs, (guint32) g_ascii_strtoull (file->pid, NULL, 10), bytes,
                            DYNO_PROGRAM_SUM);
  if (sum->own && strcmp (file->pid, clients->own_pid) == 0 && !isnan (bytes))
    sum->own_bytes = (isnan (sum->own_bytes) ? 0 : sum->own_bytes) + bytes;
  add_engines (clients, sum, client, passed_ns);
}

static double
busiest (GHashTable *shares)
{
  GHashTableIter iter;
  gpointer share;
  double most = (double) NAN;

  g_hash_table_iter_init (&iter, shares);
  while (g_hash_table_iter_next (&iter, NULL, &share))
    most = isnan (most) ? *(double *) share : MAX (most, *(double *) share);
  return isnan (most) ? most : MIN (most, 1) * 100;
}

void
dyno_drm_clients_read (DynoDrmClients *clients, gint64 now_us, DynoDrmUsage *usage)
{
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GHashTable) processes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GHashTable) shares = new_engines ();
  Sum sum = { seen, processes, new_engines (), shares, &usage->programs, (double) NAN, FALSE };
  double passed_ns = clients->read_us ? (double) (now_us - clients->read_us) * 1000 : 0;

  if (clients->searched_us == 0 || now_us - clients->searched_us >= SEARCH_US)
    {
      clients->searched_us = now_us;
      search (clients);
    }
  clients->read_us = now_us;
  usage->programs.n = 0;
  for (guint i = 0; i < clients->files->len; i++)
    add_file (clients, &sum, clients->files->pdata[i], passed_ns);
  g_hash_table_unref (clients->engines);
  clients->engines = sum.engines;
  usage->own_bytes = sum.own ? sum.own_bytes : (double) NAN;
  usage->busy_percent = busiest (shares);
  usage->programs.known = *clients->own_pid != '\0';
  dyno_sensor_programs_finish (&usage->programs, clients->root,
                               (guint32) g_ascii_strtoull (clients->own_pid, NULL, 10));
  usage->others = *clients->own_pid ? g_hash_table_size (processes) : (double) NAN;
}
