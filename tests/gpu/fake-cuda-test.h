/* SPDX-License-Identifier: MIT */
/* The CUDA stub that the test's environment names, see fake-cuda.h. */
#pragma once
#include "fake-cuda.h"
#include <gmodule.h>

static inline FakeCuda *
fake_cuda_find (void)
{
  static FakeCuda *found;
  gpointer symbol = NULL;

  if (!found)
    {
      GModule *module = g_module_open ("libcuda.so.1", G_MODULE_BIND_LAZY | G_MODULE_BIND_LOCAL);
      g_assert_nonnull (module);
      g_assert_true (g_module_symbol (module, "fake_cuda", &symbol));
      found = symbol;
    }
  return found;
}
