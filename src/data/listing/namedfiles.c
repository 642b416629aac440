/* SPDX-License-Identifier: MIT */
/* Finds files by their names.
 *
 * Invariants: a file that exists as written is never replaced by another; a name is resolved to
 * another file only where the given folders agree with the folders of that file, and only one file
 * agrees; the walk is bounded, enters no links, and opens nothing. */
#include "namedfiles.h"
#include "foldernames.h"
#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_DEPTH 6
#define MAX_FILES 1000000u

/* Files of one stem. */
typedef struct Named {
  struct Named *next;
  char path[]; /* below the root */
} Named;

struct _DynoNamedFiles {
  char *root, *root_name;
  GHashTable *by_stem; /* from stem to Named; NULL: nothing was read */
  guint n;
};

static void
free_chain (gpointer data)
{
  for (Named *one = data, *next; one; one = next)
    {
      next = one->next;
      g_free (one);
    }
}

DynoNamedFiles *
dyno_named_files_new (const char *root)
{
  DynoNamedFiles *files = g_new0 (DynoNamedFiles, 1);
  g_autofree char *absolute = g_canonicalize_filename (root, NULL);

  files->root = g_strdup (root);
  files->root_name = g_path_get_basename (absolute);
  return files;
}

void
dyno_named_files_free (DynoNamedFiles *files)
{
  if (!files)
    return;
  g_free (files->root);
  g_free (files->root_name);
  g_clear_pointer (&files->by_stem, g_hash_table_unref);
  g_free (files);
}

/* TRUE for extensions of samples; names are resolved only to such files. */
static gboolean
is_sample (const char *ending)
{
  static const char *const endings[] = { "jpg", "jpeg", "png", "webp", "bmp",
                                         "tif", "tiff", "npy", NULL };

  for (guint i = 0; endings[i]; i++)
    if (g_ascii_strcasecmp (ending, endings[i]) == 0)
      return TRUE;
  return FALSE;
}

/* The stem of a sample's name; g_free.  A name without such an extension is its own stem. */
static char *
stem_of (const char *base)
{
  const char *dot = strrchr (base, '.');

  return dot && dot > base && is_sample (dot + 1) ? g_strndup (base, (gsize) (dot - base))
                                                  : g_strdup (base);
}

static void
add_file (DynoNamedFiles *files, const char *folder, const char *base)
{
  gsize size = strlen (folder) + strlen (base) + 2;
  Named *one = g_malloc (sizeof *one + size);
  char *stem = stem_of (base);
  gpointer key, before;

  g_snprintf (one->path, size, "%s%s%s", folder, *folder ? "/" : "", base);
  one->next = NULL;
  if (g_hash_table_steal_extended (files->by_stem, stem, &key, &before))
    {
      g_free (key);
      one->next = before;
    }
  g_hash_table_insert (files->by_stem, stem, one);
  files->n++;
}

static void
walk (DynoNamedFiles *files, const char *folder, guint depth)
{
  g_autofree char *path = g_build_filename (files->root, folder, NULL);
  DIR *dir = depth <= MAX_DEPTH ? opendir (path) : NULL;
  struct dirent *entry;

  while (dir && files->n < MAX_FILES && (entry = dyno_folder_next_entry (dir)))
    {
      unsigned char type = entry->d_type;

      if (entry->d_name[0] == '.' || dyno_name_is_left_behind (entry->d_name, NULL))
        continue;
      if (type == DT_UNKNOWN)
        {
          g_autofree char *full = g_build_filename (path, entry->d_name, NULL);
          struct stat status;
          if (lstat (full, &status) == 0)
            type = S_ISDIR (status.st_mode) ? DT_DIR : S_ISREG (status.st_mode) ? DT_REG : DT_LNK;
        }
      if (type == DT_DIR)
        {
          g_autofree char *inner =
              *folder ? g_strconcat (folder, "/", entry->d_name, NULL) : g_strdup (entry->d_name);
          walk (files, inner, depth + 1);
        }
      else if (type == DT_REG || type == DT_LNK)
        add_file (files, folder, entry->d_name);
    }
  if (dir)
    closedir (dir);
}

/* TRUE where `folders` ends with all folders of `end`, which may be empty. */
static gboolean
ends_with (const char *folders, const char *end)
{
  gsize length = strlen (folders), end_length = strlen (end);

  if (end_length == 0)
    return TRUE;
  return length >= end_length && strcmp (folders + length - end_length, end) == 0
         && (length == end_length || folders[length - end_length - 1] == '/');
}

/* TRUE where the given folders agree with the folders of a file: they are its last folders, or lead
 * from elsewhere to the root and on to the file. */
static gboolean
folders_agree (const DynoNamedFiles *files, const char *given, const char *lies_in)
{
  g_autofree char *from_root =
      *lies_in ? g_strconcat (files->root_name, "/", lies_in, NULL) : g_strdup (files->root_name);
  gboolean absolute = given[0] == '/' || (g_ascii_isalpha (given[0]) && given[1] == ':');

  return ends_with (lies_in, given) || ends_with (given, from_root)
         || (absolute && *lies_in && ends_with (given, lies_in));
}

static gboolean
is_in_part (const char *path, DynoPart part)
{
  g_auto (GStrv) steps = g_strsplit (path, "/", -1);

  for (guint i = 0; steps[i] && steps[i + 1]; i++)
    if (dyno_part_of_name (steps[i], NULL) == part)
      return TRUE;
  return FALSE;
}

/* The only file of the chain that matches. */
static DynoNamed
choose (const DynoNamedFiles *files, const Named *chain, const char *given, const char *base,
        gboolean whole, DynoPart part, char **found)
{
  const Named *one = NULL, *of_part = NULL;
  guint n = 0, n_of_part = 0;

  for (; chain; chain = chain->next)
    {
      const char *slash = strrchr (chain->path, '/'), *name = slash ? slash + 1 : chain->path;
      g_autofree char *lies_in =
          slash ? g_strndup (chain->path, (gsize) (slash - chain->path)) : g_strdup ("");
      const char *dot = strrchr (name, '.');

      if (whole ? strcmp (name, base) != 0 : !dot || !is_sample (dot + 1))
        continue;
      if (!folders_agree (files, given, lies_in))
        continue;
      n++;
      one = chain;
      if (part != DYNO_PART_NONE && is_in_part (chain->path, part))
        {
          n_of_part++;
          of_part = chain;
        }
    }
  if (n > 1 && n_of_part != 1)
    return DYNO_NAMED_AMBIGUOUS;
  if (n == 0)
    return DYNO_NAMED_MISSING;
  *found = g_strdup (n > 1 ? of_part->path : one->path);
  return DYNO_NAMED_FOUND;
}

static gboolean
exists (const DynoNamedFiles *files, const char *name)
{
  g_autofree char *path =
      g_path_is_absolute (name) ? g_strdup (name) : g_build_filename (files->root, name, NULL);

  return g_file_test (path, G_FILE_TEST_IS_REGULAR);
}

DynoNamed
dyno_named_files_find (DynoNamedFiles *files, const char *name, DynoPart part, char **found)
{
  g_autofree char *slashed = g_strdelimit (g_strdup (name), "\\", '/'), *stem = NULL, *given = NULL;
  const char *base, *dot;
  Named *chain;

  *found = NULL;
  if (*name == '\0')
    return DYNO_NAMED_MISSING;
  if (exists (files, name))
    return DYNO_NAMED_AS_WRITTEN;
  if (strcmp (slashed, name) != 0 && !g_path_is_absolute (slashed) && exists (files, slashed))
    {
      *found = g_steal_pointer (&slashed);
      return DYNO_NAMED_FOUND;
    }
  if (!files->by_stem)
    {
      files->by_stem = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, free_chain);
      walk (files, "", 1);
    }
  base = strrchr (slashed, '/');
  given = base ? g_strndup (slashed, (gsize) (base - slashed)) : g_strdup ("");
  base = base ? base + 1 : slashed;
  if (g_str_has_prefix (given, "./"))
    memmove (given, given + 2, strlen (given + 2) + 1);
  stem = stem_of (base);
  chain = g_hash_table_lookup (files->by_stem, stem);
  dot = strrchr (base, '.');
  return choose (files, chain, given, base, dot && is_sample (dot + 1), part, found);
}
