/* SPDX-License-Identifier: MIT */
/* The machine: its devices, sensors and presets. */
#include "verbs.h"
#include "ceilings.h"
#include "cli.h"
#include "devicetext.h"
#include "diagnose.h"
#include "expected.h"
#include "file.h"
#include "sensortext.h"
#include <math.h>
#include <string.h>

/* --- presets ---------------------------------------------------------------------------------- */

static const char preset[] =
    "[preset]\nname=My card\narchitecture=Own\nvram=12GB\nvram_total=10240MB\nvram_usable=8192MB\n"
    "vram_source=a tool\nworkers=2-4\nworkers_cpu_bound=16\nprefetch=3\namp=true\npinned=false\n"
    "persistent_workers=true\nderived=prefetch;persistent_workers;\nmatch=My card;\n"
    "notes=first;second;\nadvice=An advice.\n"
    "[row 1]\nimage_size=512\nbatch_safe=4\nbatch_recommended=5\nbatch_max=6\n"
    "derived=batch_recommended;\n"
    "[row 2]\nimage_size=224\ntask=values\ninput=image\ndata=biwi;300w-lp;\nmodel=headpose;\n"
    "batch_safe=8\nbatch_recommended=8\nbatch_max=8\n"
    "[row 3]\nimage_size=224\nbatch_safe=16\nbatch_recommended=24\nbatch_max=32\n"
    "derived=batch_max;\n"
    "[row 4]\nimage_size=0\ninput=sequence\nframework=tensorflow\nbatch_safe=64\n"
    "batch_recommended=96\nbatch_max=128\n"
    "[expected 1]\ntask=values\nbatch=64\nbefore_batch=32\nsamples_per_s=300-500\n"
    "before_samples_per_s=82\nvram_gb=5\n"
    "[expected 2]\npower_w=100-120\n";

static const char bare_preset[] = "[preset]\nname=Bare card\nvram=1.5GB\nworkers=0\namp=false\n"
                                  "[row 1]\nimage_size=32\nbatch_safe=1\nbatch_recommended=1\n"
                                  "batch_max=1\n";

/* Every value of a preset file of a user's own is printed under its name, with the mark of those
 * that are derived. */
static void
test_presets (void)
{
#define PRESETS(line, expected) verbs_check (dyno_verb_presets, "presets " line, expected)
  g_autofree char *path = g_build_filename (verbs_folder, "own.preset", NULL),
                  *bare = g_build_filename (verbs_folder, "bare.preset", NULL);

  g_assert_true (g_file_set_contents (path, preset, -1, NULL));
  g_assert_true (g_file_set_contents (bare, bare_preset, -1, NULL));
  PRESETS ("$/own.preset",
           "My card (own), Own\n"
           "memory    12 GB, of which 8 GB usable: 8192 of the 10240 MiB in all (a tool)\n"
           "workers   2-4, up to 16 when the CPU is the bottleneck, persistent*\n"
           "prefetch  3*\n"
           "AMP       on\n"
           "pinned    off\n"
           "notes     first; second\n"
           "expected  values to predict: batch 64 (32 before): 300-500 samples/s (82 "
           "before), 5 GB\n"
           "expected  100-120 W\n"
           "from      $/own.preset\n"
           "\n"
           "An advice.\n"
           "\n"
           " images  safe  recommended  max  for\n"
           "512x512     4           5*    6\n"
           "224x224     8            8    8  biwi/300w-lp, headpose, values to predict\n"
           "224x224    16           24  32*\n"
           "      -    64           96  128  sequences, tensorflow\n"
           "\n"
           "* derived: Dyno's own value, no guide gives it\n"
           "= 0\n");
  PRESETS (
      "$/own.preset --json",
      "{\"id\": \"own\", \"name\": \"My card\", \"architecture\": \"Own\", \"vram_bytes\": "
      "12884901888, \"vram_total_bytes\": 10737418240, \"vram_usable_bytes\": "
      "8589934592, \"vram_source\": \"a tool\", \"rows\": [{\"image_size\": 512, \"workload\": "
      "\"\", \"task\": \"\", \"input\": \"\", \"data\": [], \"model\": [], \"framework\": null, "
      "\"batch_safe\": 4, \"batch_recommended\": 5, \"batch_max\": 6, \"derived\": "
      "[\"batch_recommended\"]}, {\"image_size\": 224, \"workload\": \"biwi/300w-lp, "
      "headpose, values to predict\", \"task\": \"values\", \"input\": \"image\", \"data\": "
      "[\"biwi\", \"300w-lp\"], \"model\": [\"headpose\"], \"framework\": null, \"batch_safe\": "
      "8, \"batch_recommended\": 8, \"batch_max\": 8, \"derived\": []}, {\"image_size\": "
      "224, \"workload\": \"\", \"task\": \"\", \"input\": \"\", \"data\": [], \"model\": [], "
      "\"framework\": null, \"batch_safe\": 16, \"batch_recommended\": 24, \"batch_max\": "
      "32, \"derived\": [\"batch_max\"]}, {\"image_size\": 0, \"workload\": \"sequences, "
      "tensorflow\", \"task\": \"\", \"input\": \"sequence\", \"data\": [], \"model\": [], "
      "\"framework\": \"tensorflow\", \"batch_safe\": 64, \"batch_recommended\": 96, "
      "\"batch_max\": 128, \"derived\": []}], \"workers_min\": 2, \"workers_max\": 4, "
      "\"workers_cpu_bound\": 16, \"prefetch\": 3, \"amp\": true, \"pinned\": false, "
      "\"persistent_workers\": true, \"notes\": [\"first\", \"second\"], \"derived\": "
      "[\"prefetch\", \"persistent_workers\"], \"expected\": [{\"workload\": \"values to "
      "predict\", \"task\": \"values\", \"input\": \"\", \"data\": [], \"model\": [], "
      "\"framework\": null, \"batch\": 64, \"before_batch\": 32, \"samples_per_s\": [300, "
      "500], \"before_samples_per_s\": [82, 82], \"vram_gb\": [5, 5]}, {\"workload\": \"\", "
      "\"task\": \"\", \"input\": \"\", \"data\": [], \"model\": [], \"framework\": null, "
      "\"batch\": "
      "0, \"before_batch\": 0, \"power_w\": [100, 120]}], \"advice\": \"An advice.\", "
      "\"source\": \"$/own.preset\", \"this_gpu\": false, \"matches_device\": false}\n"
      "= 0\n");
  PRESETS ("$/bare.preset",
           "Bare card (bare)\n"
           "memory    1.5 GB, of which 1.31 GB usable: 1344 of the 1536 MiB in all\n"
           "workers   0, persistent\n"
           "prefetch  2\n"
           "AMP       off\n"
           "pinned    on\n"
           "from      $/bare.preset\n"
           "\n"
           "\n"
           "\n"
           "images  safe  recommended  max  for\n"
           " 32x32     1            1    1\n"
           "\n"
           "* derived: Dyno's own value, no guide gives it\n"
           "= 0\n");
  PRESETS ("t4", "T4 (t4), Turing\n"
                 "memory    16 GB, of which 14.5 GB usable: 14848 of the 15360 MiB in all "
                 "(nvidia-smi, ECC on)\n"
                 "workers   2-4, persistent*\n"
                 "prefetch  2\n"
                 "AMP       on\n"
                 "pinned    on*\n"
                 "notes     hosted notebooks: few CPU cores\n"
                 "from      built in\n"
                 "\n"
                 "The card of hosted notebooks, which give it few CPU cores: two to four "
                 "workers, and a cache of decoded samples where RAM allows. AMP on; batch 8 to "
                 "12 at 512x512, 16 to 32 at 224x224.\n"
                 "\n"
                 " images  safe  recommended  max  for\n"
                 "512x512     8          10*   12\n"
                 "224x224    16          24*   32\n"
                 "\n"
                 "* derived: Dyno's own value, no guide gives it\n"
                 "= 0\n");
#undef PRESETS
}

/* --- sensors ---------------------------------------------------------------------------------- */

static DynoSensorReading *reading;

static int
print_sensors (int argc, char **argv)
{
  DynoDeviceInfo device = { .name = "Card", .pci = "0000:01:00.0" };

  dyno_sensors_print (strcmp (argv[0], "card") == 0 ? &device : NULL, reading, argc > 1);
  return 0;
}

/* A value of each sensor with its unit, in the digits of its size; programs, the memory of some of
 * which is not known. */
static void
test_sensors (void)
{
  static const double values[] = { 3.25, 9.99, 10.4, 350, 0.04, -4.5, 1, 1048576, 2147483648.0,
                                   1023, 2,    97.5, 12,  5,    6,    7, 8,       9,
                                   10,   11 };

  G_STATIC_ASSERT (G_N_ELEMENTS (values) == DYNO_N_SENSORS);
  reading = g_new0 (DynoSensorReading, 1);
  dyno_sensor_reading_init (reading);
  verbs_check (print_sensors, "none",
               "no GPU\n"
               "sensor                      value          from\n"
               "GPU busy                    not available\n"
               "GPU temperature             not available\n"
               "GPU power                   not available\n"
               "GPU power limit             not available\n"
               "GPU clock                   not available\n"
               "GPU memory clock            not available\n"
               "GPU held back               not available\n"
               "VRAM of this process        not available\n"
               "VRAM in use                 not available\n"
               "VRAM of the device          not available\n"
               "Other processes on the GPU  not available\n"
               "CPU busy                    not available\n"
               "CPU by this process         not available\n"
               "RAM used                    not available\n"
               "RAM of the machine          not available\n"
               "Swapped in                  not available\n"
               "Disk reads by this process  not available\n"
               "Waits for the CPU           not available\n"
               "Waits for disks             not available\n"
               "Waits for memory            not available\n"
               "= 0\n");
  verbs_check (
      print_sensors, "none --json",
      "{\"device\": null, \"pci\": null, \"gpu_busy_percent\": null, \"gpu_temperature_c\": "
      "null, \"gpu_power_w\": null, \"gpu_power_limit_w\": null, \"gpu_clock_mhz\": null, "
      "\"gpu_memory_clock_mhz\": null, \"gpu_throttle\": null, \"vram_own_bytes\": null, "
      "\"vram_all_bytes\": null, \"vram_total_bytes\": null, \"gpu_other_processes\": "
      "null, \"cpu_busy_percent\": null, \"cpu_own_percent\": null, \"ram_used_bytes\": "
      "null, \"ram_total_bytes\": null, \"swap_in_bytes_per_s\": null, "
      "\"disk_read_bytes_per_s\": null, \"pressure_cpu_percent\": null, "
      "\"pressure_io_percent\": null, \"pressure_memory_percent\": null, "
      "\"throttle_reasons\": [], \"core_busy_percent\": [], \"programs\": null, \"sources\": "
      "{}}\n"
      "= 0\n");
  memcpy (reading->values, values, sizeof values);
  for (guint i = 0; i < DYNO_N_SENSORS; i++)
    reading->sources[i] = (guint8) (i % (DYNO_SENSOR_SOURCE_ACCOUNT + 1));
  reading->n_cores = 2;
  reading->core_busy[0] = 50;
  reading->core_busy[1] = (float) NAN;
  reading->programs.known = TRUE;
  reading->programs.n = 2;
  reading->programs.list[0] = (DynoSensorProgram){ .pid = 7, .name = "train", .bytes = 3145728 };
  reading->programs.list[1] = (DynoSensorProgram){ .pid = 8, .bytes = (double) NAN };
  verbs_check (print_sensors, "card",
               "Card, 0000:01:00.0\n"
               "sensor                      value     from\n"
               "GPU busy                    3.2 %\n"
               "GPU temperature             10.0 °C   host\n"
               "GPU power                   10 W      nvml\n"
               "GPU power limit             350 W     amdgpu\n"
               "GPU clock                   0.0 MHz   intel\n"
               "GPU memory clock            -4.5 MHz  driver\n"
               "GPU held back               yes       account\n"
               "VRAM of this process        1.00 MiB\n"
               "VRAM in use                 2.00 GiB  host\n"
               "VRAM of the device          1.00 KiB  nvml\n"
               "Other processes on the GPU  2         amdgpu\n"
               "CPU busy                    98 %      intel\n"
               "CPU by this process         12 %      driver\n"
               "RAM used                    5 B       account\n"
               "RAM of the machine          6 B\n"
               "Swapped in                  7 B/s     host\n"
               "Disk reads by this process  8 B/s     nvml\n"
               "Waits for the CPU           9 %       amdgpu\n"
               "Waits for disks             10 %      intel\n"
               "Waits for memory            11 %      driver\n"
               "program  process  device memory\n"
               "train          7       3.00 MiB\n"
               "?              8\n"
               "= 0\n");
  reading->throttle_reasons = DYNO_THROTTLE_POWER | DYNO_THROTTLE_HARDWARE;
  verbs_check (
      print_sensors, "card --json",
      "{\"device\": \"Card\", \"pci\": \"0000:01:00.0\", \"gpu_busy_percent\": 3.25, "
      "\"gpu_temperature_c\": 9.99, \"gpu_power_w\": 10.4, \"gpu_power_limit_w\": 350, "
      "\"gpu_clock_mhz\": 0.04, \"gpu_memory_clock_mhz\": -4.5, \"gpu_throttle\": 1, "
      "\"vram_own_bytes\": 1048576, \"vram_all_bytes\": 2147483648, \"vram_total_bytes\": "
      "1023, \"gpu_other_processes\": 2, \"cpu_busy_percent\": 97.5, \"cpu_own_percent\": "
      "12, \"ram_used_bytes\": 5, \"ram_total_bytes\": 6, \"swap_in_bytes_per_s\": 7, "
      "\"disk_read_bytes_per_s\": 8, \"pressure_cpu_percent\": 9, \"pressure_io_percent\": "
      "10, \"pressure_memory_percent\": 11, \"throttle_reasons\": [\"power\", \"hardware\"], "
      "\"core_busy_percent\": [50, null], \"programs\": [{\"pid\": 7, \"name\": \"train\", "
      "\"bytes\": 3145728}, {\"pid\": 8, \"name\": null, \"bytes\": null}], \"sources\": "
      "{\"gpu_temperature_c\": \"host\", \"gpu_power_w\": \"nvml\", \"gpu_power_limit_w\": "
      "\"amdgpu\", \"gpu_clock_mhz\": \"intel\", \"gpu_memory_clock_mhz\": \"driver\", "
      "\"gpu_throttle\": \"account\", \"vram_all_bytes\": \"host\", \"vram_total_bytes\": "
      "\"nvml\", \"gpu_other_processes\": \"amdgpu\", \"cpu_busy_percent\": \"intel\", "
      "\"cpu_own_percent\": \"driver\", \"ram_used_bytes\": \"account\", "
      "\"swap_in_bytes_per_s\": \"host\", \"disk_read_bytes_per_s\": \"nvml\", "
      "\"pressure_cpu_percent\": \"amdgpu\", \"pressure_io_percent\": \"intel\", "
      "\"pressure_memory_percent\": \"driver\"}}\n"
      "= 0\n");
  reading->programs.n = 0;
  verbs_check (print_sensors, "card",
               "Card, 0000:01:00.0\n"
               "sensor                      value            from\n"
               "GPU busy                    3.2 %\n"
               "GPU temperature             10.0 °C          host\n"
               "GPU power                   10 W             nvml\n"
               "GPU power limit             350 W            amdgpu\n"
               "GPU clock                   0.0 MHz          intel\n"
               "GPU memory clock            -4.5 MHz         driver\n"
               "GPU held back               power, hardware  account\n"
               "VRAM of this process        1.00 MiB\n"
               "VRAM in use                 2.00 GiB         host\n"
               "VRAM of the device          1.00 KiB         nvml\n"
               "Other processes on the GPU  2                amdgpu\n"
               "CPU busy                    98 %             intel\n"
               "CPU by this process         12 %             driver\n"
               "RAM used                    5 B              account\n"
               "RAM of the machine          6 B\n"
               "Swapped in                  7 B/s            host\n"
               "Disk reads by this process  8 B/s            nvml\n"
               "Waits for the CPU           9 %              amdgpu\n"
               "Waits for disks             10 %             intel\n"
               "Waits for memory            11 %             driver\n"
               "= 0\n");
  g_free (reading);
}

/* --- devices ---------------------------------------------------------------------------------- */

static const DynoDeviceInfo *shown_device;

static int
print_device (int argc, char **argv)
{
  dyno_device_print (shown_device, argc > 1);
  return 0;
}

/* A device that has everything, with its rates, and one that has little. */
static void
test_devices (void)
{
  const DynoCeilings rates = { .copy_bytes_per_s = 1.5e12,
                               .fma_flops_per_s = 20e12,
                               .single_flops_per_s = 15e12,
                               .matrix_flops_per_s = 90e12,
                               .single_kernel = "f32 tile",
                               .matrix_kernel = "f16 tile" };
  DynoDeviceInfo info = { .index = 3,
                          .name = "Card",
                          .driver = "a driver 1.2",
                          .vendor_id = 1,
                          .device_id = 2,
                          .api_version = 1u << 22 | 3u << 12 | 250,
                          .type = DYNO_DEVICE_TYPE_DISCRETE,
                          .vram_bytes = G_GUINT64_CONSTANT (12) << 30,
                          .fp16 = TRUE,
                          .matrix = DYNO_MATRIX_NV,
                          .matrix_khr_device = TRUE,
                          .matrix_shapes = "16x16x16",
                          .subgroup_size = 32,
                          .shared_bytes = 49152,
                          .max_invocations = 1024,
                          .processors = 28,
                          .memory_budget = TRUE,
                          .transfer_queue = TRUE,
                          .timestamp_ns = 0.5 };
  DynoDeviceInfo bare = { .name = "Bare", .driver = "none", .type = DYNO_DEVICE_TYPE_INTEGRATED };
  g_autofree char *json = NULL, *compiler = NULL;
  const char *end, *start;

  g_assert_true (dyno_state_dir_set (verbs_folder, NULL));
  for (guint i = 0; i < 16; i++)
    info.uuid[i] = (guint8) (i * 17);
  shown_device = &bare;
  verbs_check (print_device, "devices",
               "0  Bare\n"
               "   type        integrated, Vulkan 0.0\n"
               "   driver      none\n"
               "   memory      0 B\n"
               "   AMP         no: the device has no fp16\n"
               "   matrix      no units: FMA\n"
               "   subgroup    0, workgroup memory 0 B, 0 invocations\n"
               "   processors  assumed to be 8: the driver does not report them\n"
               "   transfers   on the compute queue\n"
               "= 0\n");
  bare.type = DYNO_DEVICE_TYPE_SOFTWARE;
  bare.index = 1;
  verbs_check (print_device, "devices",
               "1  Bare (software, slow)\n"
               "   type        software, Vulkan 0.0\n"
               "   driver      none\n"
               "   memory      0 B\n"
               "   AMP         no: the device has no fp16\n"
               "   matrix      no units: FMA\n"
               "   subgroup    0, workgroup memory 0 B, 0 invocations\n"
               "   transfers   on the compute queue\n"
               "= 0\n");
  shown_device = &info;
  dyno_ceilings_keep (&info, &rates);
  verbs_check (print_device, "devices",
               "3  Card\n"
               "   type        discrete, Vulkan 1.3\n"
               "   driver      a driver 1.2\n"
               "   memory      12.0 GiB, use by other programs known\n"
               "   AMP         yes\n"
               "   matrix      VK_NV_cooperative_matrix\n"
               "               the device also has the faster VK_KHR_cooperative_matrix, "
               "which a build with a newer\n"
               "               shader compiler uses (Debian 13, Ubuntu 24.10 or later)\n"
               "   subgroup    32, workgroup memory 48.0 KiB, 1024 invocations\n"
               "   processors  28\n"
               "   transfers   on a queue of their own\n"
               "   measured    copy 1,500 GB/s, fp32 in registers 20.0 TFLOP/s\n"
               "               fp32 product 15.0 TFLOP/s (f32 tile)\n"
               "               fp16 product on matrix units 90.0 TFLOP/s (f16 tile)\n"
               "= 0\n");
  json = verbs_run (print_device, "devices --json");
  end = strstr (json, ", \"subgroup_size\"");
  start = strstr (json, ", \"compiler\"");
  g_assert_true (start && end);
  compiler = g_strndup (json, (gsize) (start - json));
  g_assert_cmpstr (
      compiler, ==,
      "{\"index\": 3, \"name\": \"Card\", \"driver\": \"a driver 1.2\", \"type\": \"discrete\", "
      "\"software\": false, \"note\": null, \"api\": \"1.3.250\", \"uuid\": "
      "\"00112233445566778899aabbccddeeff\", \"vendor_id\": 1, \"device_id\": 2, "
      "\"vram_bytes\": 12884901888, \"fp16\": true, \"matrix\": \"nv\", \"matrix_khr_device\": "
      "true, \"matrix_nv_device\": false, \"matrix_shapes\": \"16x16x16\"");
  g_assert_cmpstr (
      end, ==,
      ", \"subgroup_size\": 32, \"shared_bytes\": 49152, \"max_invocations\": 1024, "
      "\"processors\": 28, \"memory_budget\": true, \"transfer_queue\": true, "
      "\"timestamp_ns\": 0.5, \"ceilings\": {\"copy_gb_per_s\": 1500, \"fma_tflop_per_s\": "
      "20, \"fp32_tflop_per_s\": 15, \"fp32_kernel\": \"f32 tile\", \"matrix_tflop_per_s\": "
      "90, \"matrix_kernel\": \"f16 tile\"}}\n"
      "= 0\n");
}

/* --- the numbers of a preset beside those of a run -------------------------------------------- */

static DynoCliJob *expected_job;
static DynoRunStatus expected_status;
static DynoDiagnosisInput *expected_input;

static int
print_expected (int argc, char **argv)
{
  if (argc > 1)
    dyno_expected_print_event (expected_job, &expected_status, expected_input);
  else
    dyno_expected_print (expected_job, &expected_status, expected_input);
  return 0;
}

/* Only what is both expected and measured; nothing without a preset. */
static void
test_expected (void)
{
  g_autofree char *path = g_build_filename (verbs_folder, "expected.preset", NULL);
  g_autofree DynoDiagnosisInput *input = g_new (DynoDiagnosisInput, 1);
  g_auto (DynoCliJob) job = { 0 };
  g_autoptr (GError) error = NULL;

  expected_job = &job;
  expected_input = input;
  dyno_diagnosis_input_init (input);
  g_assert_true (g_file_set_contents (path, preset, -1, NULL));
  job.job = dyno_job_new ();
  job.dataset = dyno_dataset_open ("builtin:poses?size=16&samples=4", NULL, NULL, NULL, NULL, NULL);
  g_strlcpy (job.device.name, "This card", sizeof job.device.name);
  expected_status.run_rate = 70.5;
  verbs_check (print_expected, "expected", "= 0\n");
  verbs_check (print_expected, "expected --json", "= 0\n");
  job.preset = dyno_preset_find (path, NULL, &error);
  g_assert_no_error (error);
  verbs_check (print_expected, "expected",
               "preset: 70.5 samples/s (expected 300-500); expected is of its guide's network "
               "on My card, this is This card\n"
               "= 0\n");
  verbs_check (
      print_expected, "expected --json",
      "{\"event\": \"expected\", \"preset\": \"expected\", \"samples_per_s\": {\"measured\": "
      "70.5, \"expected\": [300, 500]}}\n"
      "= 0\n");
  input->log.whole.vram_bytes = G_GUINT64_CONSTANT (3) << 30;
  input->sensors.gpu_power = 90;
  verbs_check (print_expected, "expected",
               "preset: 70.5 samples/s (expected 300-500), 3 GB (expected 5), 90 W (expected "
               "100-120); expected is of its guide's network on My card, this is This card\n"
               "= 0\n");
  verbs_check (
      print_expected, "expected --json",
      "{\"event\": \"expected\", \"preset\": \"expected\", \"samples_per_s\": {\"measured\": "
      "70.5, \"expected\": [300, 500]}, \"vram_gb\": {\"measured\": 3, \"expected\": [5, "
      "5]}, \"power_w\": {\"measured\": 90, \"expected\": [100, 120]}}\n"
      "= 0\n");
  expected_status.run_rate = (double) NAN;
  input->log.whole.vram_bytes = 0;
  input->sensors.gpu_power = (double) NAN;
  verbs_check (print_expected, "expected", "= 0\n");
  verbs_check (print_expected, "expected --json", "= 0\n");
}

void
verbs_add_machine (void)
{
  g_test_add_func ("/cli/verbs/presets", test_presets);
  g_test_add_func ("/cli/verbs/sensors", test_sensors);
  g_test_add_func ("/cli/verbs/devices", test_devices);
  g_test_add_func ("/cli/verbs/expected", test_expected);
}
