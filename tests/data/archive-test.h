/* SPDX-License-Identifier: MIT */
/* Small archives for tests, made byte by byte. */
#pragma once
#include "data-test.h"

G_BEGIN_DECLS

/* Appends a member; type: '0' a file, '2' a link to `content`, '5' a folder. */
void test_tar_add (GByteArray *tar, const char *name, char type, gconstpointer content, gsize size);
void test_tar_add_pax (GByteArray *tar, const char *name, gconstpointer content, gsize size);
void test_tar_add_long (GByteArray *tar, const char *name, gconstpointer content, gsize size);
void test_tar_end (GByteArray *tar);

typedef struct {
  GByteArray *bytes, *directory;
  guint n;
} TestZip;

void test_zip_init (TestZip *zip);
/* Returns the position of the directory entry, so that a test can damage it. */
guint test_zip_add (TestZip *zip, const char *name, gboolean deflated, gboolean zip64,
                    gconstpointer content, gsize size);
void test_zip_end (TestZip *zip, gboolean zip64); /* completes the archive in `bytes` */
void test_zip_clear (TestZip *zip);

G_END_DECLS
