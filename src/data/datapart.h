/* SPDX-License-Identifier: MIT */
/* The parts that a data set may bring. */
#pragma once

typedef enum {
  DYNO_PART_NONE, /* the name belongs to no part */
  DYNO_PART_TRAIN,
  DYNO_PART_VALIDATION,
  DYNO_PART_TEST,
} DynoPart;
