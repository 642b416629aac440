/* SPDX-License-Identifier: MIT */
/* What a test tells fake-cuda.c, by the symbol fake_cuda of the library. */
#pragma once

typedef struct {
  /* the symbol whose call number fail_at, counted from 1, answers "not supported"; NULL: none */
  const char *fail;
  int fail_at, calls;
  int copies; /* that were begun */
  int early;  /* that were begun and not yet done when the process was asked about them */
  int open;   /* contexts, imports and mappings that are there */
} FakeCuda;
