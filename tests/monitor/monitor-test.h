/* SPDX-License-Identifier: MIT */
/* Helpers of the monitor layer's tests: trees of files as in /proc and /sys. */
#pragma once
#include "source.h"

G_BEGIN_DECLS

/* Makes a new folder below the temporary directory. */
char *test_tree_new (void);
/* Writes ROOT/PATH, and creates its folders; NULL removes the file. */
void test_tree_write (const char *root, const char *path, const char *text);
void test_tree_write_bytes (const char *root, const char *path, const void *data, gsize size_bytes);
/* Makes a symbolic link ROOT/PATH. */
void test_tree_link (const char *root, const char *path, const char *target);
/* Removes the tree, and frees root. */
void test_tree_free (char *root);

/* The values differ by at most a millionth. */
void test_assert_near (double value, double expected);
#define test_assert_missing(value) g_assert_true (isnan (value))

/* Writes the files of the tests' machine, which has four cores, at one of two moments a second
 * apart. */
void test_tree_write_machine (const char *root, guint moment);

G_END_DECLS
