/* SPDX-License-Identifier: MIT */
/* Throughput over about the last second, from the end of the first step on: that step includes
 * one-time work (the driver compiles programs, the data pipeline is filled).  Private to the train
 * layer. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

#define DYNO_RATE_ENTRIES 512

typedef struct {
  gint64 times_us[DYNO_RATE_ENTRIES];
  guint64 samples[DYNO_RATE_ENTRIES]; /* samples in total, at that time */
  guint64 n;                          /* entries ever added */
} DynoRate;

/* Drops all entries: the next step is a first step. */
void dyno_rate_reset (DynoRate *rate);

/* Adds a step of so many samples that ended at time_us, by a clock that stops in pauses; returns
 * samples per second, 0 (not known) for the first step. */
double dyno_rate_add (DynoRate *rate, gint64 time_us, guint64 samples);

/* Leaves gap_us out: validation and saving between epochs are not training time. */
void dyno_rate_skip (DynoRate *rate, gint64 gap_us);

G_END_DECLS
