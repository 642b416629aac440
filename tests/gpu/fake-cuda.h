/* SPDX-License-Identifier: MIT */
/* The controls of fake-cuda.c for a test, in the library's symbol fake_cuda. */
#pragma once

typedef struct {
  /* the symbol whose call number fail_at, counted from 1, returns "not supported"; NULL: none */
  const char *fail;
  int fail_at, calls;
  int copies; /* number of copies that were begun */
  int early;  /* number of copies that were not done when the process queried them */
  int open;   /* number of existing contexts, imports and mappings */
} FakeCuda;
