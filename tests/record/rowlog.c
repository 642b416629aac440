/* SPDX-License-Identifier: MIT */
/* More rows than memory may hold. */
#include "rowlog.h"
#include "file.h"
#include "rng.h"
#include <sys/resource.h>

typedef struct {
  guint64 number, noise;
} Row;

static Row
row_of (guint64 i)
{
  DynoRng rng = dyno_rng_init (3, i);

  return (Row){ i, dyno_rng_next (&rng) };
}

static void
append_rows (DynoRowLog *log, guint64 n)
{
  for (guint64 end = dyno_row_log_get_length (log) + n; dyno_row_log_get_length (log) < end;)
    {
      Row row = row_of (dyno_row_log_get_length (log));

      dyno_row_log_append (log, &row);
    }
}

static void
assert_rows (DynoRowLog *log, guint64 first, guint64 n)
{
  g_autofree Row *rows = g_new (Row, n);

  g_assert_cmpuint (dyno_row_log_copy (log, first, n, rows), ==, n);
  for (guint64 i = 0; i < n; i++)
    {
      Row expected = row_of (first + i);
      g_assert_cmpmem (&rows[i], sizeof rows[i], &expected, sizeof expected);
    }
}

/* Half of each row cannot be compressed, the other half is compressed to almost nothing. */
static void
test_bounded_and_exact (void)
{
  const guint64 n = 3000000;
  g_autoptr (DynoRowLog) log = dyno_row_log_new (sizeof (Row));
  Row row;

  append_rows (log, n);
  g_assert_cmpuint (dyno_row_log_get_bytes (log), <=, DYNO_ROW_LOG_MOST_BYTES);
  g_assert_cmpuint (dyno_row_log_get_file_bytes (log), >, 0);
  g_assert_cmpuint (dyno_row_log_get_file_bytes (log), <, n * sizeof (Row) * 2 / 3);
  assert_rows (log, 0, 1);
  assert_rows (log, n - 1, 1);
  assert_rows (log, n / 2 + 1, 1);
  assert_rows (log, 65530, 131100); /* over several blocks */
  assert_rows (log, n - DYNO_ROW_LOG_NEWEST / sizeof (Row) - 70000, 100000);
  g_assert_cmpuint (dyno_row_log_copy (log, n, 1, &row), ==, 0);
  g_assert_cmpuint (dyno_row_log_copy (log, n - 1, 5, &row), ==, 1);
  g_assert_cmpuint (dyno_row_log_get_bytes (log), <=, DYNO_ROW_LOG_MOST_BYTES);
}

static void
test_short_log_has_no_file (void)
{
  g_autoptr (DynoRowLog) log = dyno_row_log_new (sizeof (Row));

  append_rows (log, DYNO_ROW_LOG_NEWEST / sizeof (Row));
  g_assert_cmpuint (dyno_row_log_get_file_bytes (log), ==, 0);
  assert_rows (log, 0, 1000);
}

/* Rows for which the disk has no room are kept, and written when there is room again; also the
 * second time, and memory is bounded in between. */
static void
test_full_disk_loses_nothing (void)
{
  g_autoptr (DynoRowLog) log = dyno_row_log_new (sizeof (Row));
  const guint64 block = DYNO_ROW_LOG_BLOCK / sizeof (Row);
  guint64 end = 0;

  dyno_file_ignore_size_signal ();
  for (guint full = 0; full < 2; full++)
    {
      guint64 there = dyno_row_log_get_file_bytes (log);
      struct rlimit before, small;

      g_assert_cmpint (getrlimit (RLIMIT_FSIZE, &before), ==, 0);
      small = before;
      small.rlim_cur = there + DYNO_ROW_LOG_BLOCK;
      g_assert_cmpint (setrlimit (RLIMIT_FSIZE, &small), ==, 0);
      append_rows (log, 14 * block);
      end += 14 * block;
      g_assert_cmpint (setrlimit (RLIMIT_FSIZE, &before), ==, 0);
      g_assert_cmpuint (dyno_row_log_get_file_bytes (log), <=, there + DYNO_ROW_LOG_BLOCK);
      g_assert_cmpuint (dyno_row_log_get_bytes (log), >, DYNO_ROW_LOG_NEWEST + DYNO_ROW_LOG_BLOCK);
      assert_rows (log, 0, end);
      append_rows (log, block);
      end += block;
      g_assert_cmpuint (dyno_row_log_get_bytes (log), <=, DYNO_ROW_LOG_MOST_BYTES);
      for (guint i = 0; i < 28; i++)
        {
          append_rows (log, block / 2);
          g_assert_cmpuint (dyno_row_log_get_bytes (log), <=, DYNO_ROW_LOG_MOST_BYTES);
        }
      end += 14 * block;
      assert_rows (log, 0, end);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/record/rowlog/bounded-and-exact", test_bounded_and_exact);
  g_test_add_func ("/record/rowlog/short-log-has-no-file", test_short_log_has_no_file);
  g_test_add_func ("/record/rowlog/full-disk-loses-nothing", test_full_disk_loses_nothing);
  return g_test_run ();
}
