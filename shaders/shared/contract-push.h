/* SPDX-License-Identifier: MIT */
/* Push constants of the op that sums products of two tensors over some of their indices. */
#ifndef DYNO_SHARED_CONTRACT_PUSH_H
#define DYNO_SHARED_CONTRACT_PUSH_H
#include "compat.h"

#define DYNO_CONTRACT_MOST_PARTS 10
#define DYNO_CONTRACT_SIDE       64 /* rows and columns of a tile */
#define DYNO_CONTRACT_DEPTH      16 /* summed indices that a tile loads at a time */
#define DYNO_CONTRACT_LOCAL      256 /* invocations of a tile */

/* constant_id of each */
#define DYNO_CONTRACT_COUNT   0 /* 16-byte accesses in the target, or tiles */
#define DYNO_CONTRACT_CVECS   1 /* accesses in a pixel of the target */
#define DYNO_CONTRACT_PIXELS  2 /* pixels in a sample of the target */
#define DYNO_CONTRACT_C       3 /* channels of the target */
#define DYNO_CONTRACT_SUMMED  4 /* values of the summed indices */
#define DYNO_CONTRACT_SAMPLES 5 /* samples that are summed; 1: each sample has a result */
#define DYNO_CONTRACT_SCALE   6 /* float: factor of the sum */
#define DYNO_CONTRACT_A       7 /* elements in memory of a sample of a; 0: all samples share a */
#define DYNO_CONTRACT_A_C     8 /* channels of a */
#define DYNO_CONTRACT_A_P     9 /* channels of a in memory, with pads */
#define DYNO_CONTRACT_B       10
#define DYNO_CONTRACT_B_C     11
#define DYNO_CONTRACT_B_P     12
/* Part i has three constants from PARTS + 3 i on: its extent, and its strides in a and in b. */
#define DYNO_CONTRACT_PARTS 13

DYNO_STRUCT (DynoContractPush) {
  uint64_t a;
  uint64_t b;
  uint64_t target;
};
DYNO_STRUCT_SIZE (DynoContractPush, 24)
#endif
