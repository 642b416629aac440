/* SPDX-License-Identifier: MIT */
/* Declarations shared by the two files of the layer: physical.c (words, instances, physical
 * devices) and faults.c (the faults). */
#pragma once
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

#define EXPORT __attribute__ ((visibility ("default")))

typedef struct {
  uint64_t lost, hang, memory, memory_limit, limit_from, submit_memory, host, pipeline, pipelines,
      idle_size, idle_constant, devices, buffer, shared, invocations, budget_bytes, usage_bytes;
  bool budget, card, no_fp16, no_16bit, no_matrix, no_address, late_upload, late_compute;
  char fail[64];   /* a call; empty: none */
  char thread[16]; /* empty: any */
  char gate[256];  /* a path; empty: none */
} LayerFaults;

typedef struct {
  void *key; /* the loader's dispatch table, which its physical devices share; NULL: free */
  VkInstance handle;
  PFN_vkGetInstanceProcAddr next;
  /* Looked up when the instance is created: later the loader returns the functions of the first
   * layer, which is this one. */
  PFN_vkDestroyInstance DestroyInstance;
  PFN_vkGetPhysicalDeviceProperties2 GetPhysicalDeviceProperties2;
  PFN_vkGetPhysicalDeviceFeatures2 GetPhysicalDeviceFeatures2;
  PFN_vkGetPhysicalDeviceMemoryProperties2 GetPhysicalDeviceMemoryProperties2;
  PFN_vkGetPhysicalDeviceQueueFamilyProperties GetPhysicalDeviceQueueFamilyProperties;
  PFN_vkEnumerateDeviceExtensionProperties EnumerateDeviceExtensionProperties;
} LayerInstance;

typedef struct {
  uint64_t submits, allocations, pipelines; /* of the device that was created last */
  uint64_t allocated;                       /* the largest number of bytes at the same time */
  uint64_t devices;                         /* since faults were set */
} LayerCounts;

extern pthread_mutex_t layer_lock; /* protects all state of the layer */
extern LayerFaults layer_faults;
extern LayerCounts layer_counts;

/* For tests that open the layer as a module. */
void dyno_faults_set (const char *words);
uint64_t dyno_faults_count (const char *what);

void layer_give_up (const char *format, ...) __attribute__ ((noreturn, format (printf, 1, 2)));
void *layer_key (const void *handle);
/* handle: an instance or a physical device; the first call reads the faults */
LayerInstance layer_instance (const void *handle);
bool layer_has_second_family (void);
bool layer_has_budget (void);        /* the layer provides VK_EXT_memory_budget */
bool layer_fails (const char *call); /* whether the call was set to fail */
uint32_t layer_count_families (VkPhysicalDevice physical); /* without the layer's second family */
/* Returns the function of this layer; NULL: it is not intercepted. */
PFN_vkVoidFunction layer_instance_call (const char *name);
