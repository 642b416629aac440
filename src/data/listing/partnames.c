/* SPDX-License-Identifier: MIT */
/* The words that name parts, and the usual words around them.
 *
 * Invariants: a name belongs to a part only where one of its whole words does; a class whose name
 * merely contains such a word ("night train" beside "bus") is no part unless a folder with the same
 * other words is the other part; the choice depends only on the names, not on the order of the
 * folder. */
#include "partnames.h"
#include "intl.h"
#include <string.h>

#define MAX_NAMED 5

static const struct {
  const char *word;
  DynoPart part;
} words[] = {
  { "train", DYNO_PART_TRAIN },
  { "training", DYNO_PART_TRAIN },
  { "val", DYNO_PART_VALIDATION },
  { "valid", DYNO_PART_VALIDATION },
  { "validation", DYNO_PART_VALIDATION },
  { "dev", DYNO_PART_VALIDATION },
  { "eval", DYNO_PART_VALIDATION },
  { "evaluation", DYNO_PART_VALIDATION },
  { "test", DYNO_PART_TEST },
  { "testing", DYNO_PART_TEST },
};

static const char *const usual[] = { "set",   "data", "dataset", "images",  "image",  "imgs",
                                     "img",   "pics", "photos",  "samples", "split",  "part",
                                     "files", "jpg",  "jpeg",    "png",     "folder", NULL };

static DynoPart
part_of_word (const char *word)
{
  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    {
      gsize length = strlen (words[i].word);
      if (strncmp (word, words[i].word, length) == 0
          && (word[length] == '\0' || g_strv_contains (usual, word + length)))
        return words[i].part;
    }
  return DYNO_PART_NONE;
}

/* "trainSet_01" to "train", "set", "01", in lower case. */
static GPtrArray *
split_words (const char *name)
{
  GPtrArray *list = g_ptr_array_new_with_free_func (g_free);

  while (*name)
    {
      const char *start = name;

      if (g_ascii_isdigit (*name))
        while (g_ascii_isdigit (*name))
          name++;
      else
        {
          while (g_ascii_isupper (*name))
            name++;
          /* "CIFARTest" is not split before its T: only a lower-case letter ends a word. */
          while (*name && !g_ascii_isupper (*name) && !g_ascii_isdigit (*name)
                 && !strchr ("-_ .", *name))
            name++;
        }
      if (name > start)
        g_ptr_array_add (list, g_ascii_strdown (start, name - start));
      else
        name++;
    }
  return list;
}

DynoPart
dyno_part_of_name (const char *name, char **rest)
{
  g_autoptr (GPtrArray) list = split_words (name);
  g_autoptr (GString) others = g_string_new (NULL);
  DynoPart part = DYNO_PART_NONE;
  gboolean is_public = FALSE;

  for (guint i = 0; i < list->len; i++)
    {
      const char *word = g_ptr_array_index (list, i);
      DynoPart one = part_of_word (word);

      if (one != DYNO_PART_NONE && part != DYNO_PART_NONE)
        return DYNO_PART_NONE; /* "train-val" is neither */
      if (one != DYNO_PART_NONE)
        part = one;
      else if (g_str_equal (word, "public"))
        is_public = TRUE;
      else if (!g_str_equal (word, "private") && !g_strv_contains (usual, word)
               && !g_ascii_isdigit (word[0]))
        g_string_append_printf (others, "%s%s", others->len > 0 ? " " : "", word);
    }
  if (part == DYNO_PART_NONE || (others->len > 0 && !rest))
    return DYNO_PART_NONE;
  if (rest)
    *rest = g_string_free (g_steal_pointer (&others), FALSE);
  /* Contests have a public and a private test part; the public one validates. */
  return part == DYNO_PART_TEST && is_public ? DYNO_PART_VALIDATION : part;
}

DynoPart
dyno_part_of_listed (const guint64 n[DYNO_PART_TEST + 1], DynoPart listed)
{
  DynoPart first = DYNO_PART_TRAIN;

  while (first < DYNO_PART_TEST && n[first] == 0)
    first++;
  return listed == first ? DYNO_PART_TRAIN : listed;
}

/* --- folders ---------------------------------------------------------------------------------- */

typedef struct {
  const char *name;
  DynoPart part;
  char *rest;
} Candidate;

static void
clear_candidate (gpointer data)
{
  g_free (((Candidate *) data)->rest);
}

/* Sorts by part, then names without other words before names with some, then by length and by
 * name. */
static int
compare_candidates (gconstpointer a, gconstpointer b)
{
  const Candidate *x = a, *y = b;
  gsize x_length = strlen (x->name), y_length = strlen (y->name);

  if (x->part != y->part)
    return x->part < y->part ? -1 : 1;
  if ((*x->rest == '\0') != (*y->rest == '\0'))
    return *x->rest == '\0' ? -1 : 1;
  if (x_length != y_length)
    return x_length < y_length ? -1 : 1;
  return strcmp (x->name, y->name);
}

static GArray *
list_candidates (const char *const *names, gboolean (*can_be) (const char *name, gpointer data),
                 gpointer data)
{
  GArray *list = g_array_new (FALSE, FALSE, sizeof (Candidate));

  g_array_set_clear_func (list, clear_candidate);
  for (guint i = 0; names[i]; i++)
    {
      Candidate one = { .name = names[i] };

      one.part = dyno_part_of_name (names[i], &one.rest);
      if (one.part != DYNO_PART_NONE && (!can_be || can_be (names[i], data)))
        g_array_append_val (list, one);
      else if (one.part != DYNO_PART_NONE)
        g_free (one.rest);
    }
  g_array_sort (list, compare_candidates);
  return list;
}

/* The first folder of this part, or of a later one, with the same other words as a train folder. */
static const Candidate *
find_other (const GArray *list, const char *rest, DynoPart from)
{
  for (guint i = 0; i < list->len; i++)
    {
      const Candidate *one = &g_array_index (list, Candidate, i);
      if (one->part >= from && g_str_equal (one->rest, rest))
        return one;
    }
  return NULL;
}

void
dyno_part_folders_choose (DynoPartFolders *folders, const char *const *names,
                          gboolean (*can_be) (const char *name, gpointer data), gpointer data)
{
  g_autoptr (GArray) list = list_candidates (names, can_be, data);
  const Candidate *train = NULL, *validation = NULL, *test = NULL;

  *folders = (DynoPartFolders){ .unused = g_ptr_array_new_with_free_func (g_free) };
  for (guint i = 0; i < list->len && !train; i++)
    {
      const Candidate *one = &g_array_index (list, Candidate, i);
      const Candidate *other = find_other (list, one->rest, DYNO_PART_VALIDATION);

      if (one->part != DYNO_PART_TRAIN || (*one->rest != '\0' && !other))
        continue;
      train = one;
      validation = other;
    }
  if (!train)
    return;
  if (validation && validation->part == DYNO_PART_VALIDATION)
    test = find_other (list, train->rest, DYNO_PART_TEST);
  folders->train = g_strdup (train->name);
  folders->validation = validation ? g_strdup (validation->name) : NULL;
  folders->test = test ? g_strdup (test->name) : NULL;
  for (guint i = 0; i < list->len; i++)
    {
      const Candidate *one = &g_array_index (list, Candidate, i);
      if (one != train && one != validation && one != test)
        g_ptr_array_add (folders->unused, g_strdup (one->name));
    }
}

void
dyno_part_folders_clear (DynoPartFolders *folders)
{
  g_clear_pointer (&folders->train, g_free);
  g_clear_pointer (&folders->validation, g_free);
  g_clear_pointer (&folders->test, g_free);
  g_clear_pointer (&folders->unused, g_ptr_array_unref);
}

void
dyno_part_folders_note (const DynoPartFolders *folders, GPtrArray *notes)
{
  for (guint i = 0; i < folders->unused->len; i++)
    {
      const char *name = g_ptr_array_index (folders->unused, i);
      g_autofree char *rest = NULL;
      DynoPart part = dyno_part_of_name (name, &rest);
      const char *other = part == DYNO_PART_TEST && folders->test ? folders->test
                          : part > DYNO_PART_TRAIN                ? folders->validation
                                                                  : NULL;
      g_autofree char *shown = g_filename_display_name (name),
                      *taken = g_filename_display_name (other ? other : folders->train);

      g_ptr_array_add (
          notes, g_strdup_printf (_ ("The folder “%s” is not used: “%s” is taken for its part"),
                                  shown, taken));
    }
}

char *
dyno_part_note_strangers (const char *names)
{
  return g_strdup_printf (_ ("Folders of the test part are not used, since no class of the other "
                             "parts has their names: %s"),
                          names);
}

/* --- names that are no data ------------------------------------------------------------------- */

gboolean
dyno_name_is_left_behind (const char *name, GPtrArray *left)
{
  static const char *const names[] = { "__MACOSX",    "Thumbs.db",   "ehthumbs.db",
                                       "desktop.ini", "__pycache__", "$RECYCLE.BIN",
                                       "@eaDir",      "lost+found",  "System Volume Information",
                                       NULL };

  for (guint i = 0; names[i]; i++)
    if (g_ascii_strcasecmp (name, names[i]) == 0)
      {
        if (left && !g_ptr_array_find_with_equal_func (left, name, g_str_equal, NULL))
          g_ptr_array_add (left, g_strdup (name));
        return TRUE;
      }
  return FALSE;
}

static int
compare_text (gconstpointer a, gconstpointer b)
{
  return strcmp (*(char *const *) a, *(char *const *) b);
}

char *
dyno_left_behind_note (GPtrArray *left)
{
  g_autofree char *names = NULL;

  if (left->len == 0)
    return NULL;
  g_ptr_array_sort (left, compare_text);
  g_ptr_array_add (left, NULL);
  names = g_strjoinv (", ", (char **) left->pdata);
  g_ptr_array_set_size (left, (int) left->len - 1);
  return g_strdup_printf (_ ("Files and folders that the operating system made are not data: %s"),
                          names);
}

/* --- doubts ----------------------------------------------------------------------------------- */

void
dyno_subfolders_init (DynoSubfolders *subfolders)
{
  subfolders->pairs = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  subfolders->counts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
}

void
dyno_subfolders_add (DynoSubfolders *subfolders, gint32 class_id, const char *name, gsize length)
{
  g_autofree char *own = g_strndup (name, length);
  gpointer count;

  if (!g_hash_table_add (subfolders->pairs, g_strdup_printf ("%d/%s", class_id, own)))
    return;
  count = g_hash_table_lookup (subfolders->counts, own);
  g_hash_table_insert (subfolders->counts, g_steal_pointer (&own),
                       GUINT_TO_POINTER (GPOINTER_TO_UINT (count) + 1));
}

/* "“a”, “b” and 3 more" */
static char *
quote (const char *const *names, guint n)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < MIN (n, MAX_NAMED); i++)
    {
      g_autofree char *shown = g_filename_display_name (names[i]);
      g_string_append_printf (text, "%s“%s”", i > 0 ? ", " : "", shown);
    }
  if (n > MAX_NAMED)
    g_string_append_printf (text, _ (" and %u more"), n - MAX_NAMED);
  return g_string_free (text, FALSE);
}

char *
dyno_subfolders_doubt (const DynoSubfolders *subfolders, char *const *class_names,
                       guint32 n_classes)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  g_autofree char *inner = NULL, *outer = NULL;
  GHashTableIter iter;
  gpointer name, count;

  g_hash_table_iter_init (&iter, subfolders->counts);
  while (g_hash_table_iter_next (&iter, &name, &count))
    {
      if (GPOINTER_TO_UINT (count) != n_classes)
        return NULL;
      g_ptr_array_add (names, name);
    }
  if (n_classes < 2 || names->len < 2)
    return NULL;
  g_ptr_array_sort (names, compare_text);
  inner = quote ((const char *const *) names->pdata, names->len);
  outer = quote ((const char *const *) class_names, n_classes);
  return g_strdup_printf (_ ("All classes hold the same folders, %s: if those are the classes, and "
                             "%s are parts, name these train and val"),
                          inner, outer);
}

void
dyno_subfolders_clear (DynoSubfolders *subfolders)
{
  g_clear_pointer (&subfolders->pairs, g_hash_table_unref);
  g_clear_pointer (&subfolders->counts, g_hash_table_unref);
}
