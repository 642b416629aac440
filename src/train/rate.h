/* SPDX-License-Identifier: MIT */
/* Throughput over about the last second, from the end of the first step on: that step contains what
 * is done once (programs compiled by the driver, the pipeline of data filled).  Private to the
 * train layer. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

#define DYNO_RATE_ENTRIES 512

typedef struct {
  gint64 times_us[DYNO_RATE_ENTRIES];
  guint64 samples[DYNO_RATE_ENTRIES]; /* in all, at that time */
  guint64 n;                          /* entries ever */
} DynoRate;

/* Forgets all: what comes next is a first step. */
void dyno_rate_reset (DynoRate *rate);

/* A step of so many samples ended at time_us, a clock that stands still in pauses; gives samples a
 * second, 0 (not known) for the first step. */
double dyno_rate_add (DynoRate *rate, gint64 time_us, guint64 samples);

/* Leaves gap_us out: validation and saving between epochs are no training time. */
void dyno_rate_skip (DynoRate *rate, gint64 gap_us);

G_END_DECLS
