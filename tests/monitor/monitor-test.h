/* SPDX-License-Identifier: MIT */
/* What the tests of the monitor layer share: trees of files as /proc and /sys have them. */
#pragma once
#include "source.h"

G_BEGIN_DECLS

/* A fresh folder below the temporary directory. */
char *test_tree_new (void);
/* Writes ROOT/PATH, its folders made; NULL removes it. */
void test_tree_write (const char *root, const char *path, const char *text);
void test_tree_write_bytes (const char *root, const char *path, const void *data, gsize size_bytes);
/* A symbolic link ROOT/PATH. */
void test_tree_link (const char *root, const char *path, const char *target);
/* Removes it with what is in it, and frees root. */
void test_tree_free (char *root);

/* Equal within a millionth. */
void test_assert_near (double value, double expected);
#define test_assert_missing(value) g_assert_true (isnan (value))

/* The machine of the tests at one of two moments, a second of four cores apart. */
void test_tree_write_machine (const char *root, guint moment);

G_END_DECLS
