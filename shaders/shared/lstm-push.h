/* SPDX-License-Identifier: MIT */
/* Push constants of the recurrence of an LSTM. */
#ifndef DYNO_SHARED_LSTM_PUSH_H
#define DYNO_SHARED_LSTM_PUSH_H
#include "compat.h"

/* constant_id of each */
#define DYNO_LSTM_N      0
#define DYNO_LSTM_T      1
#define DYNO_LSTM_H      2
/* elements of a row of the gates and of a row of the weight: 4 H and pads */
#define DYNO_LSTM_KP     3
#define DYNO_LSTM_YP     4 /* elements of a step of y */
#define DYNO_LSTM_COLUMN 5 /* column of y at which this direction's share begins */
#define DYNO_LSTM_STRIDE 6 /* steps of the lengths' sequence in one step of x */

DYNO_STRUCT (DynoLstmPush) {
  uint64_t gates;   /* (N, T, KP): W_ih x + b_ih */
  uint64_t weight;  /* [H][KP] */
  uint64_t bias;    /* KP floats: b_hh */
  uint64_t lengths; /* N int32 */
  uint64_t y;       /* (N, T, YP) */
  uint64_t kept;    /* (N, T, KP): i, f, g, o after their activation functions */
  uint64_t cell;    /* (N, T, H) floats */
  uint32_t first;   /* the first of count steps, in the order of the recurrence */
  uint32_t count;
};
DYNO_STRUCT_SIZE (DynoLstmPush, 64)

DYNO_STRUCT (DynoLstmBackwardPush) {
  uint64_t dy;     /* (N, T, YP) */
  uint64_t y;      /* (N, T, YP) */
  uint64_t kept;   /* (N, T, KP) */
  uint64_t cell;   /* (N, T, H) floats */
  uint64_t weight; /* [4 H][H], from lstm_transpose.comp */
  uint64_t lengths;
  uint64_t dgates;   /* (N, T, KP) */
  uint64_t previous; /* (N, T, HP): the state before each step */
  uint64_t dcell;    /* N * H floats: dc, carried from one dispatch to the next */
  uint32_t first;
  uint32_t count;
};
DYNO_STRUCT_SIZE (DynoLstmBackwardPush, 80)

DYNO_STRUCT (DynoLstmTransposePush) {
  uint64_t source;
  uint64_t target;
};
DYNO_STRUCT_SIZE (DynoLstmTransposePush, 16)
#endif
