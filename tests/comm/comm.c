/* SPDX-License-Identifier: MIT */
/* The calls of comm.h, with threads as ranks. */
#include "comm-test.h"
#include "exchangerate.h"
#include "comm-class.h"
#include "half.h"
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { RANKS = 4, VALUES = 5000 };

/* Values of widely different size, so that another order of summation gives other bits. */
static float
value_of (guint rank, guint i)
{
  return ldexpf (1.0f + (float) ((i * 7919 + rank * 104729) % 1000) / 999.0f,
                 (int) ((i + 5 * rank) % 24))
         * (rank & 1 ? -1.0f : 1.0f);
}

static void
sum_floats (DynoComm *comm, gpointer data)
{
  g_autofree float *values = g_new (float, VALUES);
  g_autofree float *all = g_new (float, RANKS *VALUES);
  guint rank = dyno_comm_get_rank (comm);

  for (guint i = 0; i < VALUES; i++)
    values[i] = value_of (rank, i);
  g_assert_true (dyno_comm_sum (comm, values, VALUES, DYNO_COMM_FLOAT32, NULL));
  for (guint i = 0; i < VALUES; i++)
    {
      float sum = value_of (0, i);
      for (guint r = 1; r < RANKS; r++)
        sum += value_of (r, i);
      g_assert_cmpmem (&sum, sizeof sum, &values[i], sizeof sum);
    }
  g_assert_true (dyno_comm_gather (comm, values, VALUES * sizeof (float), all, NULL));
  for (guint r = 0; r < RANKS; r++)
    g_assert_cmpmem (values, VALUES * sizeof (float), all + r * VALUES, VALUES * sizeof (float));
}

static void
test_order (void)
{
  comm_test_run (RANKS, sum_floats, NULL);
}

/* 1024 + 0.5 + 0.5 is 1025 when summed in fp32; summed in fp16, each 0.5 would be lost. */
static void
sum_halves (DynoComm *comm, gpointer data)
{
  static const float mine[RANKS] = { 1024, 0.5f, 0.5f, 0 };
  guint16 values[19];
  guint rank = dyno_comm_get_rank (comm);

  for (guint i = 0; i < G_N_ELEMENTS (values); i++)
    values[i] = dyno_half_from_float (mine[rank] * (i == 3 ? -1 : 1));
  values[5] = dyno_half_from_float (rank == 2 ? INFINITY : 60000);
  values[6] = dyno_half_from_float (60000);
  g_assert_true (dyno_comm_sum (comm, values, G_N_ELEMENTS (values), DYNO_COMM_FLOAT16, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (values); i++)
    {
      float sum = dyno_half_to_float (values[i]);
      if (i == 5 || i == 6)
        g_assert_true (isinf (sum));
      else
        g_assert_cmpfloat (sum, ==, i == 3 ? -1025 : 1025);
    }
}

static void
test_half (void)
{
  comm_test_run (RANKS, sum_halves, NULL);
}

/* All lengths of the remainder and both kinds of conversion, compared with sums of single
 * values. */
static void
test_half_tails (void)
{
  guint16 one[40], two[40], sum[40];
  const void *in[] = { one, two };

  for (guint i = 0; i < G_N_ELEMENTS (one); i++)
    {
      one[i] = (guint16) (i * 811);
      two[i] = (guint16) (0x8000 + i * 577);
    }
  for (guint n = 0; n <= G_N_ELEMENTS (one); n++)
    {
      memset (sum, 0xee, sizeof sum);
      dyno_comm_add_ranks (sum, in, 2, n, DYNO_COMM_FLOAT16);
      for (guint i = 0; i < n; i++)
        g_assert_cmphex (
            sum[i], ==,
            dyno_half_from_float (dyno_half_to_float (one[i]) + dyno_half_to_float (two[i])));
      for (guint i = n; i < G_N_ELEMENTS (sum); i++)
        g_assert_cmphex (sum[i], ==, 0xeeee);
    }
}

static void
sum_others (DynoComm *comm, gpointer data)
{
  guint rank = dyno_comm_get_rank (comm);
  double wide[2] = { 0.1 * (rank + 1), -1 };
  guint64 counts[3] = { rank, G_MAXUINT64, 1000 };
  char word[8] = "";
  guint32 mine = 100 + rank, all[RANKS];

  g_assert_true (dyno_comm_sum (comm, wide, 2, DYNO_COMM_FLOAT64, NULL));
  g_assert_cmpfloat (wide[0], ==, 0.1 * 1 + 0.1 * 2 + 0.1 * 3 + 0.1 * 4);
  g_assert_cmpfloat (wide[1], ==, -RANKS);
  g_assert_true (dyno_comm_sum (comm, counts, 3, DYNO_COMM_UINT64, NULL));
  g_assert_cmpuint (counts[0], ==, 6);
  g_assert_cmpuint (counts[1], ==, (guint64) 0 - RANKS);
  g_assert_cmpuint (counts[2], ==, 4000);
  g_assert_true (dyno_comm_sum (comm, counts, 0, DYNO_COMM_UINT64, NULL));
  if (rank == 2)
    strcpy (word, "second");
  g_assert_true (dyno_comm_broadcast (comm, word, sizeof word, 2, NULL));
  g_assert_cmpstr (word, ==, "second");
  g_assert_true (dyno_comm_gather (comm, &mine, sizeof mine, all, NULL));
  for (guint r = 0; r < RANKS; r++)
    g_assert_cmpuint (all[r], ==, 100 + r);
}

static void
test_others (void)
{
  comm_test_run (RANKS, sum_others, NULL);
}

static void
overlap (DynoComm *comm, gpointer data)
{
  enum { FLIGHT = 6 };
  float values[FLIGHT][100];
  DynoCommRequest *requests[FLIGHT];
  guint rank = dyno_comm_get_rank (comm);

  for (guint k = 0; k < FLIGHT; k++)
    {
      for (guint i = 0; i < 100; i++)
        values[k][i] = (float) (k * 100 + i + rank);
      requests[k] = dyno_comm_sum_begin (comm, values[k], 100, DYNO_COMM_FLOAT32, NULL);
      g_assert_nonnull (requests[k]);
    }
  for (guint k = 0; k < FLIGHT; k++)
    {
      guint which = (k * 5 + 1) % FLIGHT; /* not in the order in which they were begun */
      gboolean done = FALSE;
      while (!done)
        g_assert_true (dyno_comm_wait (comm, requests[which], 1000, &done, NULL));
      for (guint i = 0; i < 100; i++)
        g_assert_cmpfloat (values[which][i], ==, (float) (RANKS * (which * 100 + i) + 6));
    }
}

static void
test_overlap (void)
{
  comm_test_run (RANKS, overlap, NULL);
}

static void
not_yet (DynoComm *comm, gpointer data)
{
  float value = 1;
  gboolean done = TRUE;
  DynoCommRequest *request;

  if (dyno_comm_get_rank (comm) == 1)
    while (!g_atomic_int_get ((int *) data))
      g_usleep (1000);
  request = dyno_comm_sum_begin (comm, &value, 1, DYNO_COMM_FLOAT32, NULL);
  if (dyno_comm_get_rank (comm) == 0)
    {
      g_assert_true (dyno_comm_wait (comm, request, 0, &done, NULL));
      g_assert_false (done);
      g_assert_true (dyno_comm_wait (comm, request, 1000, &done, NULL));
      g_assert_false (done);
      g_atomic_int_set ((int *) data, 1);
    }
  g_assert_true (dyno_comm_wait (comm, request, -1, NULL, NULL));
  g_assert_cmpfloat (value, ==, 2);
}

static void
test_timeout (void)
{
  int go = 0;

  comm_test_run (2, not_yet, &go);
}

static void
lose_a_rank (DynoComm *comm, gpointer data)
{
  g_autoptr (GError) error = NULL;
  float values[2][10] = { 0 };
  gboolean dies = GPOINTER_TO_INT (data);
  DynoCommRequest *requests[2];

  if (dyno_comm_get_rank (comm) == 2)
    {
      if (dies)
        comm_test_die (comm);
      else
        dyno_comm_abort (comm, "the disk is full");
      return;
    }
  for (guint k = 0; k < 2; k++)
    {
      requests[k] = dyno_comm_sum_begin (comm, values[k], 10, DYNO_COMM_FLOAT32, &error);
      if (!requests[k])
        break;
    }
  for (guint k = 0; k < 2 && requests[k]; k++)
    {
      g_clear_error (&error);
      g_assert_false (dyno_comm_wait (comm, requests[k], -1, NULL, &error));
    }
  g_assert_error (error, DYNO_COMM_ERROR, DYNO_COMM_ERROR_PEER);
  g_assert_cmpstr (error->message, ==,
                   dies ? "rank 2 on host1: it no longer answers"
                        : "rank 2 on host1: the disk is full");
  g_clear_error (&error);
  g_assert_false (dyno_comm_sum (comm, values[0], 10, DYNO_COMM_FLOAT32, &error));
  g_assert_error (error, DYNO_COMM_ERROR, DYNO_COMM_ERROR_PEER);
  g_assert_cmpint (dyno_comm_is_speaker (comm), ==, dyno_comm_get_rank (comm) == 0);
  g_clear_error (&error);
  g_assert_false (dyno_comm_check (comm, 0, &error));
  g_assert_error (error, DYNO_COMM_ERROR, DYNO_COMM_ERROR_PEER);
}

static void
lose_the_first (DynoComm *comm, gpointer data)
{
  float value = 0;

  g_assert_cmpint (dyno_comm_is_speaker (comm), ==, dyno_comm_get_rank (comm) == 0);
  g_assert_true (dyno_comm_check (comm, 0, NULL));
  g_assert_true (dyno_comm_sum (comm, &value, 1, DYNO_COMM_FLOAT32, NULL));
  if (dyno_comm_get_rank (comm) == 0)
    {
      comm_test_die (comm);
      return;
    }
  g_assert_false (dyno_comm_sum (comm, &value, 1, DYNO_COMM_FLOAT32, NULL));
  g_assert_cmpint (dyno_comm_is_speaker (comm), ==, dyno_comm_get_rank (comm) == 1);
}

/* Whichever rank reports its reason first, rank 0 is the speaker. */
static void
fail_alike (DynoComm *comm, gpointer data)
{
  float value = 0;
  guint rank = dyno_comm_get_rank (comm);

  if (!data || rank == GPOINTER_TO_UINT (data) - 1)
    dyno_comm_abort (comm, "no memory");
  else
    g_assert_false (dyno_comm_sum (comm, &value, 1, DYNO_COMM_FLOAT32, NULL));
  g_assert_cmpint (dyno_comm_is_speaker (comm), ==, rank == 0);
}

/* A stop is no failure. */
static void
stop_one (DynoComm *comm, gpointer data)
{
  g_autoptr (GError) error = NULL;
  float value = 0;

  if (dyno_comm_get_rank (comm) == 2)
    {
      dyno_comm_stop (comm);
      return;
    }
  g_assert_false (dyno_comm_sum (comm, &value, 1, DYNO_COMM_FLOAT32, &error));
  g_assert_error (error, DYNO_COMM_ERROR, DYNO_COMM_ERROR_STOPPED);
  g_assert_cmpint (dyno_comm_is_speaker (comm), ==, dyno_comm_get_rank (comm) == 0);
}

static void
test_stop (void)
{
  comm_test_run (RANKS, stop_one, NULL);
}

static void
test_speaker (void)
{
  comm_test_run (RANKS, lose_the_first, NULL);
  comm_test_run (RANKS, fail_alike, NULL);
  for (guint i = 0; i < RANKS; i++)
    comm_test_run (RANKS, fail_alike, GUINT_TO_POINTER (i + 1));
}

static void
test_lost (gconstpointer data)
{
  comm_test_run (RANKS, lose_a_rank, (gpointer) data);
}

static void
ask_otherwise (DynoComm *comm, gpointer data)
{
  g_autoptr (GError) error = NULL;
  float values[20] = { 0 };

  g_assert_false (dyno_comm_sum (comm, values, dyno_comm_get_rank (comm) == 1 ? 11 : 10,
                                 DYNO_COMM_FLOAT32, &error));
  g_assert_error (error, DYNO_COMM_ERROR, DYNO_COMM_ERROR_PEER);
  g_assert_nonnull (strstr (error->message, "a sum of 11 values of 4 bytes"));
}

static void
test_mismatch (void)
{
  comm_test_run (2, ask_otherwise, NULL);
}

static void
compare (DynoComm *comm, gpointer data)
{
  static const char *const texts[][RANKS] = {
    { "a\t1\nb\t2", "a\t1\nb\t2", "a\t1\nb\t2", "a\t1\nb\t2" },
    { "a\t1\nb\t2", "a\t1\nb\t2", "a\t1\nb\t3", "a\t0\nb\t2" },
    { "a\t1\nb\t2", "a\t1\nb\t2", "a\t1", "a\t1\nb\t2" },
    { "a\t1", "a\t1\nb\t2", "a\t1", "a\t1" },
    { "a\t1", "b\t1", "a\t1", "a\t1" },
  };
  static const char *const expected[] = {
    NULL,
    "rank 2 on host1 has b = 3 where rank 0 on host0 has 2",
    "rank 2 on host1 has b = nothing where rank 0 on host0 has 2",
    "rank 1 on host0 has b = 2 where rank 0 on host0 has nothing",
    "rank 1 on host0 has b = 1 where rank 0 on host0 has a = 1",
  };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr (GError) error = NULL;
      gboolean same = dyno_comm_compare (comm, texts[i][dyno_comm_get_rank (comm)], &error);
      g_assert_cmpint (same, ==, !expected[i]);
      if (!expected[i])
        continue;
      g_assert_error (error, DYNO_COMM_ERROR, DYNO_COMM_ERROR_DIFFERS);
      g_assert_nonnull (strstr (error->message, expected[i]));
      /* This does not affect the next comparison. */
      dyno_comm_abort (comm, "one rank says so once more");
    }
}

static void
test_compare (void)
{
  comm_test_run (RANKS, compare, NULL);
}

static void
look (DynoComm *comm, gpointer data)
{
  guint rank = dyno_comm_get_rank (comm);

  g_assert_cmpuint (dyno_comm_get_size (comm), ==, 5);
  g_assert_cmpuint (dyno_comm_get_local_rank (comm), ==, rank % 2);
  g_assert_cmpuint (dyno_comm_get_local_size (comm), ==, rank == 4 ? 1 : 2);
  g_assert_cmpstr (dyno_comm_get_host (comm, 3), ==, "host1");
  g_assert_cmpuint (dyno_comm_count_hosts (comm), ==, 3);
}

static void
test_places (void)
{
  comm_test_run (5, look, NULL);
}

static const char *const launch_variables[] = {
  "OMPI_COMM_WORLD_SIZE", "PMI_SIZE",     "MPI_LOCALNRANKS", "SLURM_STEP_NUM_TASKS", "PMIX_RANK",
  "PMIX_NAMESPACE",       "SLURM_NTASKS", "SLURM_PROCID"
};

static void
test_launched (void)
{
  static const struct {
    const char *one, *one_value, *two, *two_value;
    gboolean launched;
  } cases[] = {
    { NULL, NULL, NULL, NULL, FALSE },
    { "OMPI_COMM_WORLD_SIZE", "2", NULL, NULL, TRUE },
    { "OMPI_COMM_WORLD_SIZE", "1", NULL, NULL, FALSE },
    { "PMI_SIZE", "64", NULL, NULL, TRUE },
    { "SLURM_STEP_NUM_TASKS", "8", NULL, NULL, TRUE },
    { "SLURM_NTASKS", "8", "SLURM_PROCID", "0", FALSE }, /* a batch script */
    { "PMIX_RANK", "0", "PMIX_NAMESPACE", "x", FALSE },  /* another program's variables */
    { "PMIX_RANK", "1", "SLURM_STEP_NUM_TASKS", "2", TRUE },
    { "PMIX_RANK", "0", "PMI_SIZE", "1", FALSE },
    { "PMI_SIZE", "many", NULL, NULL, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      for (guint v = 0; v < G_N_ELEMENTS (launch_variables); v++)
        g_unsetenv (launch_variables[v]);
      if (cases[i].one)
        g_setenv (cases[i].one, cases[i].one_value, TRUE);
      if (cases[i].two)
        g_setenv (cases[i].two, cases[i].two_value, TRUE);
      g_assert_cmpint (dyno_comm_is_launched (), ==, cases[i].launched);
    }
}

static void
test_no_module (void)
{
  g_autoptr (GError) error = NULL;

  g_setenv ("DYNO_MODULE_DIR", "/nonexistent", TRUE);
  g_assert_null (dyno_comm_open (&error));
  g_assert_error (error, DYNO_COMM_ERROR, DYNO_COMM_ERROR_MODULE);
  g_assert_nonnull (strstr (error->message, "dyno-mpi.so is not installed"));
}

/* Each rank receives the descriptors of all others, but not its own; data: the rank that has no
 * descriptor, or RANKS. */
static void
pass_descriptors (DynoComm *comm, gpointer data)
{
  guint rank = dyno_comm_get_rank (comm), broken = GPOINTER_TO_UINT (data), got;
  int theirs[RANKS], mine = rank == broken ? -1 : memfd_create ("comm", MFD_CLOEXEC);
  g_autoptr (GError) error = NULL;
  gboolean all, fine;

  g_assert_true (rank == broken || write (mine, &rank, sizeof rank) == sizeof rank);
  fine = dyno_comm_pass_descriptors (comm, mine, theirs, &error);
  if (broken < RANKS)
    g_assert_error (error, DYNO_COMM_ERROR, DYNO_COMM_ERROR_LOCAL);
  g_assert_true (fine == (broken == RANKS));
  for (guint r = 0; r < RANKS; r++)
    {
      g_assert_true ((theirs[r] >= 0) == (fine && r != rank));
      if (theirs[r] < 0)
        continue;
      g_assert_cmpint (pread (theirs[r], &got, sizeof got, 0), ==, sizeof got);
      g_assert_cmpuint (got, ==, r);
      close (theirs[r]);
    }
  g_assert_true (dyno_comm_all (comm, rank != 1, &all, NULL));
  g_assert_false (all);
  g_assert_true (dyno_comm_all (comm, 2, &all, NULL));
  g_assert_true (all);
  if (mine >= 0)
    close (mine);
}

static void
test_descriptors (void)
{
  comm_test_run (RANKS, pass_descriptors, GUINT_TO_POINTER (RANKS));
  comm_test_run (RANKS, pass_descriptors, GUINT_TO_POINTER (2));
  comm_test_run (RANKS, pass_descriptors, GUINT_TO_POINTER (RANKS));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/comm/sum/in-the-order-of-ranks-with-equal-bits", test_order);
  g_test_add_func ("/comm/sum/fp16-is-added-in-fp32", test_half);
  g_test_add_func ("/comm/sum/fp16-of-any-length", test_half_tails);
  g_test_add_func ("/comm/sum/other-types-broadcast-gather", test_others);
  g_test_add_func ("/comm/sum/several-in-flight", test_overlap);
  g_test_add_func ("/comm/sum/wait-gives-up-in-time", test_timeout);
  g_test_add_func ("/comm/sum/ranks-that-ask-for-different-sums-fail", test_mismatch);
  g_test_add_data_func ("/comm/peer/aborts", GINT_TO_POINTER (FALSE), test_lost);
  g_test_add_data_func ("/comm/peer/dies", GINT_TO_POINTER (TRUE), test_lost);
  g_test_add_func ("/comm/peer/told-to-stop-is-no-failure", test_stop);
  g_test_add_func ("/comm/peer/another-speaks-where-rank-0-died", test_speaker);
  g_test_add_func ("/comm/compare/names-the-first-difference", test_compare);
  g_test_add_func ("/comm/descriptors/reach-all-or-none", test_descriptors);
  g_test_add_func ("/comm/ranks/know-their-host", test_places);
  g_test_add_func ("/comm/launch/by-environment", test_launched);
  g_test_add_func ("/comm/launch/without-the-module-says-so", test_no_module);
  return g_test_run ();
}
