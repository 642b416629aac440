/* SPDX-License-Identifier: MIT */
/* The list of networks that were opened earlier, tested without a window. */
#include "networklist.h"
#include "words.h"
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sys/stat.h>

#define FIRST  "net@00000000000000aa"
#define SECOND "net@00000000000000bb"
#define THIRD  "other.v2@0123456789abcdef"

static char *
make_folder (void)
{
  char *folder = g_dir_make_tmp ("dyno-networks-XXXXXX", NULL);
  g_assert_nonnull (folder);
  return folder;
}

/* Adds a file whose modification time is `ns` nanoseconds after a common moment. */
static void
add_file (const char *folder, const char *base, long ns)
{
  const struct timespec times[2] = { { 1000000000, ns }, { 1000000000, ns } };
  g_autofree char *path = g_build_filename (folder, base, NULL);
  g_assert_true (g_file_set_contents (path, "", 0, NULL));
  g_assert_cmpint (utimensat (AT_FDCWD, path, times, 0), ==, 0);
}

static void
remove_folder (const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  for (const char *base; (base = g_dir_read_name (dir));)
    {
      g_autofree char *path = g_build_filename (folder, base, NULL);
      g_unlink (path);
    }
  g_rmdir (folder);
}

static void
check_list (const char *folder, guint most, const char *expected)
{
  g_autoptr (GPtrArray) names = dyno_network_list_read (folder, most);
  g_autoptr (GString) all = g_string_new (NULL);
  for (guint i = 0; i < names->len; i++)
    g_string_append_printf (all, "%s%s", i > 0 ? " " : "", (const char *) names->pdata[i]);
  g_assert_cmpstr (all->str, ==, expected);
}

static void
test_the_newest_is_first (void)
{
  g_autofree char *folder = make_folder ();
  check_list ("/no/such/folder", 8, "");
  check_list (folder, 8, "");
  add_file (folder, FIRST ".onnx", 1000);
  add_file (folder, THIRD ".onnx", 3000);
  add_file (folder, SECOND ".onnx", 2000);
  add_file (folder, "notes.onnx", 5000);
  add_file (folder, FIRST ".onnx.tmp", 5000);
  add_file (folder, "net@12.onnx", 5000);
  check_list (folder, 8, THIRD " " SECOND " " FIRST);
  check_list (folder, 2, THIRD " " SECOND);
  dyno_network_list_touch (folder, FIRST);
  check_list (folder, 8, FIRST " " THIRD " " SECOND);
  dyno_network_list_remove (folder, THIRD);
  check_list (folder, 8, FIRST " " SECOND);
  remove_folder (folder);
}

static void
check_shown (const GPtrArray *names, guint i, const char *expected)
{
  g_autofree char *shown = dyno_network_list_describe (names, i);
  g_assert_cmpstr (shown, ==, expected);
}

static void
test_equal_titles_have_their_digest (void)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  g_ptr_array_add (names, (gpointer) FIRST);
  g_ptr_array_add (names, (gpointer) THIRD);
  check_shown (names, 0, "net");
  check_shown (names, 1, "other.v2");
  g_ptr_array_add (names, (gpointer) "net@fedcba9876543210");
  check_shown (names, 0, "net (000000)");
  check_shown (names, 1, "other.v2");
  check_shown (names, 2, "net (fedcba)");
}

static void
check_path (const char *path, const char *expected)
{
  g_autofree char *shown = dyno_network_list_describe_path (path);
  g_assert_cmpstr (shown, ==, expected);
}

static void
test_files_are_named_as_people_do (void)
{
  check_path ("/somewhere/net.onnx", "net.onnx");
  check_path ("/somewhere/" FIRST ".onnx", "net");
  check_path ("/somewhere/a@b.onnx", "a@b.onnx");
  check_path ("/somewhere/weights", "weights");
}

static void
check_model (const char *name, const char *expected)
{
  g_autofree char *shown = dyno_words_model (name);
  g_assert_cmpstr (shown, ==, expected);
}

/* No network is known in this test, so the titles come from the names only. */
static void
test_models_have_their_titles (void)
{
  check_model ("resnet18", "ResNet-18");
  check_model (THIRD, "other.v2");
  check_model ("a@b@0123456789abcdef", "a@b");
  check_model ("@0123456789abcdef", "@0123456789abcdef");
  check_model ("net@0123456789ABCDEF", "net@0123456789ABCDEF");
  check_model ("nothing", "nothing");
  check_model (NULL, "");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ui/networklist/the-newest-is-first", test_the_newest_is_first);
  g_test_add_func ("/ui/networklist/equal-titles-have-their-digest",
                   test_equal_titles_have_their_digest);
  g_test_add_func ("/ui/networklist/files-are-named-as-people-do",
                   test_files_are_named_as_people_do);
  g_test_add_func ("/ui/words/models-have-their-titles", test_models_have_their_titles);
  return g_test_run ();
}
