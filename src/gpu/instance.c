/* SPDX-License-Identifier: MIT */
/* The Vulkan instance, with the Khronos validation layer where it is requested.
 *
 * DYNO_VALIDATION=1 requests the layer, DYNO_VALIDATION=sync also its synchronisation checks.
 * Messages of the layer go to g_warning and are counted.  A layer that is requested but not
 * installed is reported once and is no error. */
#include "device-private.h"
#include "intl.h"
#include "room.h"
#include <string.h>

#define LAYER_NAME "VK_LAYER_KHRONOS_validation"
#define ROOM_BYTES (G_GUINT64_CONSTANT (384) << 20) /* for all drivers with their libraries */

static VKAPI_ATTR VkBool32 VKAPI_CALL
on_message (VkDebugUtilsMessageSeverityFlagBitsEXT severity, VkDebugUtilsMessageTypeFlagsEXT types,
            const VkDebugUtilsMessengerCallbackDataEXT *data, void *user_data)
{
  DynoInstance *instance = user_data;

  g_atomic_int_inc (&instance->messages);
  g_warning ("Vulkan validation: %s", data->pMessage);
  return VK_FALSE;
}

static gboolean
has_layer (const DynoVkGlobal *global)
{
  g_autofree VkLayerProperties *layers = NULL;
  uint32_t count = 0;

  if (global->EnumerateInstanceLayerProperties (&count, NULL) != VK_SUCCESS || count == 0)
    return FALSE;
  layers = g_new0 (VkLayerProperties, count);
  if (global->EnumerateInstanceLayerProperties (&count, layers) < 0)
    return FALSE;
  for (uint32_t i = 0; i < count; i++)
    if (strcmp (layers[i].layerName, LAYER_NAME) == 0)
      return TRUE;
  return FALSE;
}

static gpointer
report_missing_layer (gpointer data)
{
  g_message ("Validation was asked for, but " LAYER_NAME
             " is not installed (package vulkan-validationlayers)");
  return NULL;
}

static gboolean
check_version (const DynoVkGlobal *global, GError **error)
{
  uint32_t version = VK_API_VERSION_1_0;
  VkResult result = global->EnumerateInstanceVersion (&version);

  if (result != VK_SUCCESS)
    {
      dyno_vk_set_error (error, result, "vkEnumerateInstanceVersion", NULL);
      return FALSE;
    }
  if (version >= VK_API_VERSION_1_2)
    return TRUE;
  g_set_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_NO_DEVICE,
               _ ("The Vulkan loader speaks version %u.%u; 1.2 is needed: update libvulkan1"),
               VK_API_VERSION_MAJOR (version), VK_API_VERSION_MINOR (version));
  return FALSE;
}

DynoInstance *
dyno_instance_new (gboolean validation, GError **error)
{
  static GOnce missing_once = G_ONCE_INIT;
  static const char *const layers[] = { LAYER_NAME };
  static const char *const extensions[] = { VK_EXT_DEBUG_UTILS_EXTENSION_NAME,
                                            VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME };
  static const VkValidationFeatureEnableEXT enables[] = {
    VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT
  };
  g_autoptr (DynoInstance) instance = g_new0 (DynoInstance, 1);
  const char *asked = g_getenv ("DYNO_VALIDATION");
  gboolean sync = g_strcmp0 (asked, "sync") == 0;
  VkApplicationInfo application = { .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                    .pApplicationName = "Dyno",
                                    .pEngineName = "Dyno",
                                    .apiVersion = VK_API_VERSION_1_3 };
  VkDebugUtilsMessengerCreateInfoEXT messenger = {
    .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
    .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT
                       | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
    .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
    .pfnUserCallback = on_message,
    .pUserData = instance,
  };
  VkValidationFeaturesEXT features = { .sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT,
                                       .pNext = &messenger,
                                       .enabledValidationFeatureCount = G_N_ELEMENTS (enables),
                                       .pEnabledValidationFeatures = enables };
  VkInstanceCreateInfo info = { .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                .pApplicationInfo = &application };
  VkResult result;

  if (!dyno_room_has (ROOM_BYTES))
    {
      g_set_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_OUT_OF_HOST_MEMORY,
                   _ ("No Vulkan driver is loaded: the process can get less than %d MB of memory; "
                      "raise its limit (ulimit -v) or close other programs"),
                   (int) (ROOM_BYTES >> 20));
      return NULL;
    }
  validation = validation || (asked && *asked != '\0' && strcmp (asked, "0") != 0);
  instance->global = dyno_vk_load (error);
  if (!instance->global || !check_version (instance->global, error))
    return NULL;
  if (validation && !has_layer (instance->global))
    {
      g_once (&missing_once, report_missing_layer, NULL);
      validation = FALSE;
    }
  if (validation)
    {
      info.pNext = sync ? (const void *) &features : (const void *) &messenger;
      info.enabledLayerCount = G_N_ELEMENTS (layers);
      info.ppEnabledLayerNames = layers;
      info.enabledExtensionCount = sync ? 2 : 1;
      info.ppEnabledExtensionNames = extensions;
    }
  result = instance->global->CreateInstance (&info, NULL, &instance->handle);
  if (result == VK_ERROR_INCOMPATIBLE_DRIVER)
    {
      g_set_error_literal (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_NO_DEVICE,
                           _ ("No Vulkan driver is installed; install the driver of your GPU, or "
                              "mesa-vulkan-drivers"));
      return NULL;
    }
  if (result != VK_SUCCESS)
    {
      instance->handle = VK_NULL_HANDLE;
      dyno_vk_set_error (error, result, "vkCreateInstance", NULL);
      return NULL;
    }
  if (!dyno_vk_load_instance (&instance->vk, instance->global, instance->handle, error))
    return NULL;
  if (validation && instance->vk.CreateDebugUtilsMessengerEXT)
    instance->vk.CreateDebugUtilsMessengerEXT (instance->handle, &messenger, NULL,
                                               &instance->messenger);
  return g_steal_pointer (&instance);
}

void
dyno_instance_free (DynoInstance *instance)
{
  if (!instance)
    return;
  if (instance->messenger != VK_NULL_HANDLE)
    instance->vk.DestroyDebugUtilsMessengerEXT (instance->handle, instance->messenger, NULL);
  if (instance->handle != VK_NULL_HANDLE && instance->vk.DestroyInstance)
    instance->vk.DestroyInstance (instance->handle, NULL);
  g_free (instance);
}
