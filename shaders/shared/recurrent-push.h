/* SPDX-License-Identifier: MIT */
/* Push constants of the recurrence of an LSTM and of a GRU, of G = 4 and 3 gates. */
#ifndef DYNO_SHARED_RECURRENT_PUSH_H
#define DYNO_SHARED_RECURRENT_PUSH_H
#include "compat.h"

/* constant_id of each */
#define DYNO_RECURRENT_N      0
#define DYNO_RECURRENT_T      1
#define DYNO_RECURRENT_H      2
/* elements of a row of the gates and of a row of the weight: G H and pads */
#define DYNO_RECURRENT_GP     3
#define DYNO_RECURRENT_YP     4 /* elements of a step of y */
#define DYNO_RECURRENT_COLUMN 5 /* column of y at which this direction's share begins */
#define DYNO_RECURRENT_STRIDE 6 /* steps of the lengths' sequence in one step of x */
#define DYNO_RECURRENT_KP     7 /* elements of a step of the kept values: 4 H and pads */

DYNO_STRUCT (DynoRecurrentPush) {
  uint64_t gates;   /* (N, T, GP): W_ih x + b_ih */
  uint64_t weight;  /* [H][GP] */
  uint64_t bias;    /* GP floats: b_hh */
  uint64_t lengths; /* N int32 */
  uint64_t y;       /* (N, T, YP) */
  uint64_t kept;    /* (N, T, KP): LSTM i, f, g, o; GRU r, z, n and the product for n with b_hh */
  uint64_t cell;    /* (N, T, H) floats, of an LSTM */
  uint32_t first;   /* the first of count steps, in the order of the recurrence */
  uint32_t count;
};
DYNO_STRUCT_SIZE (DynoRecurrentPush, 64)

DYNO_STRUCT (DynoRecurrentBackwardPush) {
  uint64_t dy;     /* (N, T, YP) */
  uint64_t y;      /* (N, T, YP) */
  uint64_t kept;   /* (N, T, KP) */
  uint64_t cell;   /* (N, T, H) floats, of an LSTM */
  uint64_t weight; /* [G H][H], from recurrent_transpose.comp */
  uint64_t lengths;
  uint64_t dgates;   /* (N, T, GP) */
  uint64_t dproduct; /* (N, T, GP), of a GRU: the gradient of W_hh h + b_hh */
  uint64_t previous; /* (N, T, HP): the state before each step */
  uint64_t carry;    /* N * H floats, carried from one dispatch to the next */
  uint32_t first;
  uint32_t count;
};
DYNO_STRUCT_SIZE (DynoRecurrentBackwardPush, 88)

DYNO_STRUCT (DynoRecurrentTransposePush) {
  uint64_t source;
  uint64_t target;
};
DYNO_STRUCT_SIZE (DynoRecurrentTransposePush, 16)
#endif
