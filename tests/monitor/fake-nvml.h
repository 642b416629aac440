/* SPDX-License-Identifier: MIT */
/* A library that answers as NVML does, for one card at 0000:65:00.0; the test tells it how. */
#pragma once

enum { FAKE_HANG_NOWHERE, FAKE_HANG_INIT, FAKE_HANG_READ, FAKE_HANG_SHUTDOWN };

/* The symbol fake_nvml of the library; all atomic. */
typedef struct {
  int hang;        /* where a call never returns */
  int init_error;  /* nvmlInit's answer */
  int error;       /* the answer of all that is asked of a card */
  int lists_own;   /* the processes are this one and two others; 0: a hidden one and two others */
  int no_reserved; /* what the driver keeps is not told apart, though the function is there */
  unsigned long long reasons;
  int inits, shutdowns, reads; /* counted */
} FakeNvml;
