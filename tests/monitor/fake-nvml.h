/* SPDX-License-Identifier: MIT */
/* A library that answers as NVML does, for one card at 0000:65:00.0, as set by the test. */
#pragma once

enum { FAKE_HANG_NOWHERE, FAKE_HANG_INIT, FAKE_HANG_READ, FAKE_HANG_SHUTDOWN };

/* The symbol fake_nvml of the library; all atomic. */
typedef struct {
  int hang;       /* the function that never returns */
  int init_error; /* the result of nvmlInit */
  int error;      /* the result of all queries of a card */
  /* The processes are this one and two others; 0: an invisible one and two others. */
  int lists_own;
  /* The driver's reserved memory is not reported separately, though the function exists. */
  int no_reserved;
  unsigned long long reasons;
  int inits, shutdowns, reads; /* numbers of calls */
} FakeNvml;
