/* SPDX-License-Identifier: MIT */
/* Folders of very many files.  This program's readdir and stat replace those of libc: a folder
 * named "many" has as many entries as a test sets, none of which exist. */
#include "data-test.h"
#include "dataset-class.h"
#include "folderscan.h"
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MARK "entry-"
#ifdef __USE_FILE_OFFSET64
#define LIBC(name) ((__typeof__ (&name)) dlsym (RTLD_NEXT, #name "64"))
#else
#define LIBC(name) ((__typeof__ (&name)) dlsym (RTLD_NEXT, #name))
#endif

static struct {
  guint n;            /* number of entries at each reading of the folder; 0: an ordinary folder */
  const char *ending; /* suffix of their names */
  unsigned char type;
  /* Cancelled at look number cancel_at; a look is an entry that is read or a file that is
   * queried. */
  GCancellable *cancellable;
  guint looks, cancel_at;
  DIR *dir; /* the folder that is being read */
  guint given;
} many;

static void
look (void)
{
  if (++many.looks == many.cancel_at)
    g_cancellable_cancel (many.cancellable);
}

static gboolean
is_many (DIR *dir)
{
  char link[32], path[4096];
  gssize n;

  g_snprintf (link, sizeof link, "/proc/self/fd/%d", dirfd (dir));
  n = readlink (link, path, sizeof path - 1);
  path[MAX (n, 0)] = '\0';
  return g_str_has_suffix (path, "/many");
}

struct dirent *
readdir (DIR *dir)
{
  static struct dirent entry;
  struct dirent *real = LIBC (readdir) (dir);

  if (real || many.n == 0 || (many.dir != dir && !is_many (dir)))
    return real;
  if (many.dir != dir)
    many.given = 0;
  many.dir = many.given < many.n ? dir : NULL;
  if (!many.dir)
    return NULL;
  look ();
  g_snprintf (entry.d_name, sizeof entry.d_name, MARK "%07u%s", many.given++, many.ending);
  entry.d_type = many.type;
  return &entry;
}

static void
look_for (const char *path)
{
  if (many.n > 0 && strstr (path, MARK))
    look ();
}

int
stat (const char *path, struct stat *status)
{
  look_for (path);
  return LIBC (stat) (path, status);
}

int
lstat (const char *path, struct stat *status)
{
  look_for (path);
  return LIBC (lstat) (path, status);
}

int
fstatat (int folder, const char *path, struct stat *status, int flags)
{
  look_for (path);
  return LIBC (fstatat) (folder, path, status, flags);
}

/* --- cancelling ------------------------------------------------------------------------------- */

#define N_ENTRIES 1000
#define STRIDE    701
#define AFTER     3 /* looks that may come before the cancellation is noticed */

typedef DynoDataset *(*Opener) (const char *path, GCancellable *cancellable, GError **error);

static DynoDataset *
open_labelled (const char *path, GCancellable *cancellable, GError **error)
{
  return dyno_dataset_open (path, NULL, NULL, NULL, cancellable, error);
}

static DynoDataset *
open_images (const char *path, GCancellable *cancellable, GError **error)
{
  const char *paths[] = { path, NULL };

  return dyno_dataset_open_unlabelled (paths, NULL, NULL, NULL, NULL, cancellable, error);
}

static DynoDataset *
open_sequences (const char *path, GCancellable *cancellable, GError **error)
{
  static const DynoBatchField wanted = { .name = "input",
                                         .role = DYNO_FIELD_INPUT,
                                         .element = DYNO_ELEMENT_F32,
                                         .n_axes = 2,
                                         .axes = "TF",
                                         .shape = { 4, 2 },
                                         .variable = TRUE };
  const char *paths[] = { path, NULL };

  return dyno_dataset_open_unlabelled (paths, &wanted, NULL, NULL, NULL, cancellable, error);
}

/* Opens the data set repeatedly, and cancels at a later look each time, until an opening completes:
 * each cancelled opening ends soon after its look, in any stage.  Returns the number of
 * cancellations. */
static guint
cancel_everywhere (Opener opener, const char *path, const char *ending, unsigned char type)
{
  guint times = 0;

  for (gboolean over = FALSE; !over;)
    {
      g_autoptr (GCancellable) cancellable = g_cancellable_new ();
      g_autoptr (GError) error = NULL;
      g_autoptr (DynoDataset) dataset = NULL;

      many.n = N_ENTRIES;
      many.ending = ending;
      many.type = type;
      many.cancellable = cancellable;
      many.looks = 0;
      many.cancel_at = STRIDE * (times + 1);
      many.dir = NULL;
      dataset = opener (path, cancellable, &error);
      many.n = 0;
      over = many.looks < many.cancel_at;
      if (over)
        break;
      times++;
      g_assert_null (dataset);
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      g_assert_cmpuint (many.looks, <=, many.cancel_at + AFTER);
    }
  g_test_message ("%s of *%s: %u times", path, ending, times);
  return times;
}

static void
put_small_array (const char *folder, const char *name)
{
  g_free (test_write (folder, name, "\223NUMPY", 6));
}

static void
test_every_reading_can_be_cancelled (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autofree char *inner = g_build_filename (folder, "set", "many", NULL),
                  *set = g_build_filename (folder, "set", NULL),
                  *list = g_build_filename (folder, "set", "list.csv", NULL);
  static const char names[] = "name,class\nnowhere.jpg,a\nnor-there.jpg,b\n";
  static const unsigned char types[] = { DT_REG, DT_LNK, DT_FIFO, DT_UNKNOWN, DT_DIR };
  g_autoptr (GByteArray) jpeg = test_jpeg (20, 20, 1, 2, 3, FALSE);

  g_assert_cmpint (g_mkdir_with_parents (inner, 0755), ==, 0);
  g_free (test_write (folder, "set/b/1.jpg", jpeg->data, jpeg->len));
  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    {
      /* a class folder; the data set's own folder */
      g_assert_cmpuint (cancel_everywhere (open_labelled, set, ".jpg", types[i]), >=, 1);
      g_assert_cmpuint (cancel_everywhere (open_labelled, inner, ".jpg", types[i]), >=, 8);
      g_assert_cmpuint (cancel_everywhere (open_images, set, ".jpg", types[i]), >=, 1);
    }
  g_assert_cmpuint (cancel_everywhere (open_labelled, inner, ".tar", DT_REG), >=, 8);
  g_assert_cmpuint (cancel_everywhere (open_labelled, inner, "_pose.txt", DT_REG), >=, 8);
  g_assert_cmpuint (cancel_everywhere (open_labelled, inner, "", DT_DIR), >=, 8);
  g_assert_cmpuint (cancel_everywhere (open_sequences, inner, ".npy", DT_REG), >=, 1);
  put_small_array (folder, "set/many/0.npy");
  g_free (test_write (folder, "set/many/labels.csv", "0.npy,a\n", 8));
  g_assert_cmpuint (cancel_everywhere (open_labelled, inner, ".npy", DT_REG), >=, 1);
  /* names of a list that are searched for in all folders */
  g_free (test_write (folder, "set/list.csv", names, sizeof names - 1));
  g_assert_cmpuint (cancel_everywhere (open_labelled, list, ".jpg", DT_REG), >=, 1);
  g_assert_cmpuint (cancel_everywhere (open_labelled, list, ".jpg", DT_UNKNOWN), >=, 2);
  test_folder_remove (folder);
}

/* --- memory ----------------------------------------------------------------------------------- */

#define N_LISTED 50000u

/* A name is stored once, with 8 more bytes; a growing array has at most twice its size. */
static void
test_memory_of_a_list_is_bounded (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autofree char *inner = g_build_filename (folder, "many", NULL);
  g_autoptr (GByteArray) jpeg = test_jpeg (20, 20, 1, 2, 3, FALSE);
  const DynoDatasetParams params = { 0 };
  DynoDataset dataset = { .unreadable = g_ptr_array_new_with_free_func (g_free),
                          .notes = g_ptr_array_new_with_free_func (g_free) };
  const DynoLocation location = { .text = folder, .body = folder };
  const DynoOpenContext context = { .location = &location, .params = &params, .max_listed = 5 };
  const gsize name = sizeof (MARK "0000000.jpg");
  g_autoptr (GError) error = NULL;
  DynoFolderScan scan = { 0 };
  gsize before;

  g_assert_cmpint (g_mkdir_with_parents (inner, 0755), ==, 0);
  g_free (test_write (folder, "b/1.jpg", jpeg->data, jpeg->len));
  many.n = N_LISTED;
  many.ending = ".jpg";
  many.type = DT_REG;
  many.cancel_at = 0;
  before = mallinfo2 ().uordblks + mallinfo2 ().hblkhd;
  g_assert_true (dyno_folder_scan_run (&scan, &dataset, &context, &error));
  g_assert_no_error (error);
  many.n = 0;
  g_assert_cmpuint (scan.files->len, ==, N_LISTED + 1);
  g_assert_cmpuint (mallinfo2 ().uordblks + mallinfo2 ().hblkhd - before, <=,
                    2 * N_LISTED * (name + sizeof (DynoScanFile)) + 100000);
  dyno_folder_scan_clear (&scan);
  g_strfreev (dataset.info.class_names);
  g_free (dataset.info.class_counts);
  g_ptr_array_unref (dataset.unreadable);
  g_ptr_array_unref (dataset.notes);
  test_folder_remove (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/data/many-files/every-reading-can-be-cancelled",
                   test_every_reading_can_be_cancelled);
  g_test_add_func ("/data/many-files/memory-of-a-list-is-bounded",
                   test_memory_of_a_list_is_bounded);
  return g_test_run ();
}
