/* SPDX-License-Identifier: MIT */
/* See attention.h. */
#include "reference/attention.h"
#include <math.h>

/* The index of a row's first value in q (part 0), k or v. */
static gsize
place (const ReferenceAttention *s, guint32 n, guint32 t, guint part, guint32 head)
{
  return ((((gsize) n * s->t + t) * 3 + part) * s->heads + head) * s->d;
}

static gsize
output_place (const ReferenceAttention *s, guint32 n, guint32 t, guint32 head)
{
  return (((gsize) n * s->t + t) * s->heads + head) * s->d;
}

static double
dot (const double *a, const double *b, guint32 n)
{
  double sum = 0;
  for (guint32 i = 0; i < n; i++)
    sum += a[i] * b[i];
  return sum;
}

static guint32
count_keys (const ReferenceAttention *s, guint32 n)
{
  return s->valid ? s->valid[n] : s->t;
}

static double
scale (const ReferenceAttention *s)
{
  return s->scale > 0 ? s->scale : 1 / sqrt (s->d);
}

/* The probabilities of query t. */
static void
softmax (const ReferenceAttention *s, const double *qkv, guint32 n, guint32 t, guint32 head,
         double *p)
{
  double most = -INFINITY, sum = 0;
  for (guint32 u = 0; u < count_keys (s, n); u++)
    {
      p[u] = dot (qkv + place (s, n, t, 0, head), qkv + place (s, n, u, 1, head), s->d) * scale (s);
      most = MAX (most, p[u]);
    }
  for (guint32 u = 0; u < count_keys (s, n); u++)
    sum += p[u] = exp (p[u] - most);
  for (guint32 u = 0; u < count_keys (s, n); u++)
    p[u] /= sum;
}

void
reference_attention_forward (const ReferenceAttention *s, const double *qkv, double *y)
{
  g_autofree double *p = g_new (double, s->t);
  for (guint32 n = 0; n < s->n; n++)
    for (guint32 head = 0; head < s->heads; head++)
      for (guint32 t = 0; t < s->t; t++)
        {
          double *row = y + output_place (s, n, t, head);
          softmax (s, qkv, n, t, head, p);
          for (guint32 i = 0; i < s->d; i++)
            row[i] = 0;
          for (guint32 u = 0; u < count_keys (s, n); u++)
            for (guint32 i = 0; i < s->d; i++)
              row[i] += p[u] * qkv[place (s, n, u, 2, head) + i];
        }
}

void
reference_attention_backward (const ReferenceAttention *s, const double *qkv, const double *dy,
                              double *dqkv)
{
  g_autofree double *p = g_new (double, s->t), *dp = g_new (double, s->t);
  for (guint32 n = 0; n < s->n; n++)
    for (guint32 head = 0; head < s->heads; head++)
      for (guint32 t = 0; t < s->t; t++)
        {
          const double *row = dy + output_place (s, n, t, head);
          gsize q = place (s, n, t, 0, head);
          double mean = 0;
          softmax (s, qkv, n, t, head, p);
          for (guint32 u = 0; u < count_keys (s, n); u++)
            {
              dp[u] = dot (row, qkv + place (s, n, u, 2, head), s->d);
              mean += p[u] * dp[u];
            }
          for (guint32 u = 0; u < count_keys (s, n); u++)
            {
              double ds = p[u] * (dp[u] - mean) * scale (s);
              gsize k = place (s, n, u, 1, head), v = place (s, n, u, 2, head);
              for (guint32 i = 0; i < s->d; i++)
                {
                  dqkv[q + i] += ds * qkv[k + i];
                  dqkv[k + i] += ds * qkv[q + i];
                  dqkv[v + i] += p[u] * row[i];
                }
            }
        }
}
