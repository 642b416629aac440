/* SPDX-License-Identifier: MIT */
/* Cards of AMD and Intel, with trees of files as their drivers provide. */
#include "monitor-test.h"
#include <math.h>
#include <string.h>

#define SECOND G_USEC_PER_SEC
#define PCI    "0000:03:00.0"
#define DEVICE "bus/pci/devices/" PCI "/"

static gpointer
open_card (const char *root, const char *pci)
{
  DynoSourceSetup setup = { .proc_root = (char *) root,
                            .sys_root = (char *) root,
                            .device = { .vendor_id = 0x1002, .device_id = 0x744c },
                            .has_device = TRUE };

  g_strlcpy (setup.device.pci, pci, sizeof setup.device.pci);
  return dyno_source_drm.open (&setup);
}

static void
read_at (gpointer source, gint64 now_us, DynoSensorReading *reading)
{
  dyno_sensor_reading_init (reading);
  dyno_source_drm.read (source, now_us, reading);
}

/* Writes a file of a process that is a client of the card. */
static void
write_client (const char *root, const char *pid, const char *fd, const char *text)
{
  g_autofree char *link = g_strdup_printf ("%s/fd/%s", pid, fd),
                  *info = g_strdup_printf ("%s/fdinfo/%s", pid, fd);

  test_tree_link (root, link, "/dev/dri/renderD128");
  test_tree_write (root, info, text);
}

/* Process 100 is this process, by /proc/self. */
static void
write_self (const char *root)
{
  test_tree_write (root, "self/stat", "100 (dynoctl) R 1 1\n");
}

/* --- amdgpu ----------------------------------------------------------------------------------- */

static void
write_amdgpu (const char *root)
{
  static const char *const files[][2] = {
    { "uevent", "DRIVER=amdgpu\nPCI_CLASS=30000\nPCI_ID=1002:744C\nPCI_SLOT_NAME=" PCI "\n" },
    { "vendor", "0x1002\n" },
    { "device", "0x744c\n" },
    { "gpu_busy_percent", "97\n" },
    { "mem_info_vram_total", "25753026560\n" },
    { "mem_info_vram_used", "3221225472\n" },
    { "pp_dpm_sclk", "0: 500Mhz \n1: 2371Mhz *\n2: 2725Mhz \n" },
    { "pp_dpm_mclk", "0: 96Mhz \n1: 1249Mhz *\n" },
    { "hwmon/hwmon4/name", "amdgpu\n" },
    { "hwmon/hwmon4/temp1_input", "64000\n" },
    { "hwmon/hwmon4/power1_average", "298000000\n" },
    { "hwmon/hwmon4/power1_cap", "303000000\n" },
    { "hwmon/hwmon4/freq1_input", "2402000000\n" },
    { "hwmon/hwmon4/freq2_input", "1250000000\n" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    {
      g_autofree char *path = g_strconcat (DEVICE, files[i][0], NULL);
      test_tree_write (root, path, files[i][1]);
    }
}

/* Writes the driver's table of a version, with its reasons for low clocks. */
static void
write_metrics (const char *root, guint8 form, guint8 content, gsize size, gsize offset,
               guint64 status)
{
  guint8 bytes[256] = { (guint8) size, 0, form, content };

  status = GUINT64_TO_LE (status);
  memcpy (bytes + offset, &status, sizeof status);
  test_tree_write_bytes (root, DEVICE "gpu_metrics", bytes, size);
}

static void
test_amdgpu (void)
{
  char *root = test_tree_new ();
  gpointer source;
  DynoSensorReading r;

  write_self (root);
  write_amdgpu (root);
  write_client (root, "100", "7",
                "pos:\t0\ndrm-driver:\tamdgpu\ndrm-client-id:\t40\ndrm-pdev:\t" PCI "\n"
                "drm-memory-vram:\t1048576 KiB\ndrm-resident-vram:\t2097152 KiB\n"
                "drm-engine-compute:\t9 ns\n");
  source = open_card (root, PCI);
  g_assert_nonnull (source);
  read_at (source, SECOND, &r);
  test_assert_near (r.values[DYNO_SENSOR_GPU_BUSY], 97);
  test_assert_near (r.values[DYNO_SENSOR_GPU_TEMPERATURE], 64);
  test_assert_near (r.values[DYNO_SENSOR_GPU_POWER], 298);
  test_assert_near (r.values[DYNO_SENSOR_GPU_POWER_LIMIT], 303);
  test_assert_near (r.values[DYNO_SENSOR_GPU_CLOCK], 2402);
  test_assert_near (r.values[DYNO_SENSOR_GPU_MEMORY_CLOCK], 1250);
  test_assert_near (r.values[DYNO_SENSOR_VRAM_TOTAL], 25753026560.0);
  test_assert_near (r.values[DYNO_SENSOR_VRAM_ALL], 3221225472.0);
  test_assert_near (r.values[DYNO_SENSOR_VRAM_OWN], 2097152 * 1024.0);
  test_assert_near (r.values[DYNO_SENSOR_GPU_OTHERS], 0);
  test_assert_missing (r.values[DYNO_SENSOR_GPU_THROTTLE]);
  g_assert_cmpuint (r.sources[DYNO_SENSOR_GPU_POWER], ==, DYNO_SENSOR_SOURCE_AMDGPU);

  /* newer kernels name the power file differently, and chips without a sensor have only the level
   * of the clock */
  test_tree_write (root, DEVICE "hwmon/hwmon4/power1_average", NULL);
  test_tree_write (root, DEVICE "hwmon/hwmon4/power1_input", "120500000\n");
  test_tree_write (root, DEVICE "hwmon/hwmon4/freq1_input", NULL);
  test_tree_write (root, DEVICE "hwmon/hwmon4/freq2_input", "");
  read_at (source, 2 * SECOND, &r);
  test_assert_near (r.values[DYNO_SENSOR_GPU_POWER], 120.5);
  test_assert_near (r.values[DYNO_SENSOR_GPU_CLOCK], 2371);
  test_assert_near (r.values[DYNO_SENSOR_GPU_MEMORY_CLOCK], 1249);
  dyno_source_drm.close (source);
  test_tree_free (root);
}

static void
test_amdgpu_throttle (void)
{
  static const struct {
    guint8 form, content;
    gsize size, offset;
    guint64 status;
    gboolean known;
    guint reasons;
  } rows[] = {
    { 1, 3, 120, 112, 0, TRUE, 0 },
    { 1, 3, 120, 112, 1 << 0, TRUE, DYNO_THROTTLE_POWER },
    { 1, 3, 120, 112, 1 << 22, TRUE, DYNO_THROTTLE_CURRENT },
    { 1, 3, 120, 112, G_GUINT64_CONSTANT (1) << 35, TRUE, DYNO_THROTTLE_TEMPERATURE },
    { 1, 3, 120, 112, G_GUINT64_CONSTANT (1) << 36, TRUE, 0 }, /* set to the highest clocks */
    { 1, 3, 120, 112, (G_GUINT64_CONSTANT (1) << 40) | 2, TRUE,
      DYNO_THROTTLE_TEMPERATURE | DYNO_THROTTLE_POWER },
    { 1, 3, 120, 112, G_GUINT64_CONSTANT (1) << 57, TRUE, DYNO_THROTTLE_HARDWARE },
    { 1, 3, 120, 112, G_MAXUINT64, FALSE, 0 },
    { 1, 3, 119, 111, 1, FALSE, 0 }, /* truncated */
    { 1, 1, 120, 112, 1, FALSE, 0 },
    { 1, 4, 200, 112, 1, FALSE, 0 }, /* another layout */
    { 2, 2, 128, 120, 1 << 3, TRUE, DYNO_THROTTLE_POWER },
    { 2, 4, 152, 120, 1 << 17, TRUE, DYNO_THROTTLE_CURRENT },
    { 3, 0, 200, 120, 1, FALSE, 0 },
  };
  char *root = test_tree_new ();
  gpointer source;
  DynoSensorReading r;

  write_amdgpu (root);
  source = open_card (root, PCI);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      write_metrics (root, rows[i].form, rows[i].content, rows[i].size, rows[i].offset,
                     rows[i].status);
      read_at (source, (i + 1) * SECOND, &r);
      g_assert_cmpint (isfinite (r.values[DYNO_SENSOR_GPU_THROTTLE]), ==, rows[i].known);
      g_assert_cmpuint (r.throttle_reasons, ==, rows[i].reasons);
    }
  dyno_source_drm.close (source);
  test_tree_free (root);
}

/* --- Intel ------------------------------------------------------------------------------------ */

static void
test_i915 (void)
{
  char *root = test_tree_new ();
  gpointer source;
  DynoSensorReading r;

  write_self (root);
  test_tree_write (root, DEVICE "uevent", "DRIVER=i915\n");
  test_tree_write (root, DEVICE "drm/card1/gt_act_freq_mhz", "100\n");
  test_tree_write (root, DEVICE "drm/card1/gt/gt0/rps_act_freq_mhz", "2400\n");
  test_tree_write (root, DEVICE "drm/card1/gt/gt0/throttle_reason_status", "1\n");
  test_tree_write (root, DEVICE "drm/card1/gt/gt0/throttle_reason_pl1", "1\n");
  test_tree_write (root, DEVICE "drm/card1/gt/gt0/throttle_reason_pl4", "0\n");
  test_tree_write (root, DEVICE "drm/card1/gt/gt0/throttle_reason_thermal", "1\n");
  test_tree_write (root, DEVICE "hwmon/hwmon2/energy1_input", "1000000000\n");
  test_tree_write (root, DEVICE "hwmon/hwmon2/power1_max", "190000000\n");
  write_client (root, "100", "5",
                "drm-driver:\ti915\ndrm-pdev:\t" PCI "\ndrm-client-id:\t3\n"
                "drm-engine-render:\t1000000000 ns\ndrm-engine-compute:\t5000000000 ns\n"
                "drm-engine-capacity-video:\t2\ndrm-engine-video:\t0 ns\n"
                "drm-total-local0:\t3072 MiB\ndrm-resident-local0:\t2 GiB\n");
  source = open_card (root, PCI);
  read_at (source, 10 * SECOND, &r);
  test_assert_missing (r.values[DYNO_SENSOR_GPU_POWER]);
  test_assert_missing (r.values[DYNO_SENSOR_GPU_BUSY]);
  test_assert_near (r.values[DYNO_SENSOR_GPU_CLOCK], 2400);
  test_assert_near (r.values[DYNO_SENSOR_GPU_POWER_LIMIT], 190);
  test_assert_near (r.values[DYNO_SENSOR_VRAM_OWN], 2147483648.0);
  g_assert_cmpuint (r.throttle_reasons, ==, DYNO_THROTTLE_POWER | DYNO_THROTTLE_TEMPERATURE);
  test_assert_near (r.values[DYNO_SENSOR_GPU_THROTTLE], 1);

  test_tree_write (root, DEVICE "hwmon/hwmon2/energy1_input", "1300000000\n");
  write_client (root, "100", "5",
                "drm-driver:\ti915\ndrm-pdev:\t" PCI "\ndrm-client-id:\t3\n"
                "drm-engine-render:\t1200000000 ns\ndrm-engine-compute:\t6500000000 ns\n"
                "drm-engine-capacity-video:\t2\ndrm-engine-video:\t1000000000 ns\n");
  read_at (source, 12 * SECOND, &r);
  test_assert_near (r.values[DYNO_SENSOR_GPU_POWER], 150);
  test_assert_near (r.values[DYNO_SENSOR_GPU_BUSY], 75); /* the busiest engine */
  test_assert_missing (r.values[DYNO_SENSOR_VRAM_OWN]);
  g_assert_cmpuint (r.sources[DYNO_SENSOR_GPU_BUSY], ==, DYNO_SENSOR_SOURCE_INTEL);

  /* the rate since the second reading, and not since the first */
  test_tree_write (root, DEVICE "hwmon/hwmon2/energy1_input", "1310000000\n");
  write_client (root, "100", "5",
                "drm-driver:\ti915\ndrm-pdev:\t" PCI "\ndrm-client-id:\t3\n"
                "drm-engine-render:\t1300000000 ns\ndrm-engine-compute:\t6500000000 ns\n"
                "drm-engine-capacity-video:\t2\ndrm-engine-video:\t1400000000 ns\n");
  read_at (source, 13 * SECOND, &r);
  test_assert_near (r.values[DYNO_SENSOR_GPU_POWER], 10);
  test_assert_near (r.values[DYNO_SENSOR_GPU_BUSY], 20); /* both video engines together */

  /* The programs on an engine together, from the second reading of each on. */
  static const guint64 render_ms[][2] = { { 1300, 9000 }, { 1500, 9300 }, { 1900, 9350 } };
  static const double busy[] = { 0, 50, 45 };
  for (guint i = 0; i < 3; i++)
    {
      static const char *const pids[] = { "100", "200" };
      for (guint k = 0; k < 2; k++)
        {
          g_autofree char *text =
              g_strdup_printf ("drm-driver:\ti915\ndrm-pdev:\t" PCI "\ndrm-client-id:\t%u\n"
                               "drm-engine-render:\t%" G_GUINT64_FORMAT "000000 ns\n",
                               3 + k, render_ms[i][k]);
          write_client (root, pids[k], "5", text);
        }
      read_at (source, (20 + i) * SECOND, &r);
      if (i > 0)
        test_assert_near (r.values[DYNO_SENSOR_GPU_BUSY], busy[i]);
    }
  dyno_source_drm.close (source);
  test_tree_free (root);
}

/* Kernels before 6.0 have one file for the clock, in the card's folder. */
static void
test_i915_old (void)
{
  char *root = test_tree_new ();
  gpointer source;
  DynoSensorReading r;

  test_tree_write (root, DEVICE "uevent", "DRIVER=i915\n");
  test_tree_write (root, DEVICE "drm/card0/gt_act_freq_mhz", "1150\n");
  source = open_card (root, PCI);
  read_at (source, SECOND, &r);
  test_assert_near (r.values[DYNO_SENSOR_GPU_CLOCK], 1150);
  test_assert_missing (r.values[DYNO_SENSOR_GPU_THROTTLE]);
  test_assert_missing (r.values[DYNO_SENSOR_GPU_TEMPERATURE]);
  test_assert_missing (r.values[DYNO_SENSOR_GPU_OTHERS]); /* no source for processes */
  dyno_source_drm.close (source);
  test_tree_free (root);
}

static void
test_xe (void)
{
  char *root = test_tree_new ();
  gpointer source;
  DynoSensorReading r;

  write_self (root);
  test_tree_write (root, DEVICE "uevent", "DRIVER=xe\n");
  test_tree_write (root, DEVICE "tile0/gt0/freq0/act_freq", "2850\n");
  test_tree_write (root, DEVICE "tile0/gt0/freq0/throttle/status", "1\n");
  test_tree_write (root, DEVICE "tile0/gt0/freq0/throttle/reason_pl1", "0\n");
  test_tree_write (root, DEVICE "tile0/gt0/freq0/throttle/reason_pl4", "1\n");
  test_tree_write (root, DEVICE "tile0/gt0/freq0/throttle/reason_mem_thermal", "1\n");
  test_tree_write (root, DEVICE "hwmon/hwmon6/name", "xe\n");
  test_tree_write (root, DEVICE "hwmon/hwmon6/temp2_input", "58000\n");
  test_tree_write (root, DEVICE "hwmon/hwmon6/temp3_input", "70000\n");
  test_tree_write (root, DEVICE "hwmon/hwmon6/energy1_input", "50000000\n");
  test_tree_write (root, DEVICE "hwmon/hwmon6/power2_max", "150000000\n");
  write_client (
      root, "100", "9",
      "drm-driver:\txe\ndrm-pdev:\t" PCI "\ndrm-client-id:\t11\n"
      "drm-total-vram0:\t900 KiB\ndrm-resident-vram0:\t800 KiB\n"
      "drm-cycles-ccs:\t1000\ndrm-total-cycles-ccs:\t100000\ndrm-engine-capacity-ccs:\t4\n"
      "drm-cycles-bcs:\t500\n");
  source = open_card (root, PCI);
  read_at (source, 10 * SECOND, &r);
  test_assert_near (r.values[DYNO_SENSOR_GPU_TEMPERATURE], 58);
  test_assert_near (r.values[DYNO_SENSOR_GPU_CLOCK], 2850);
  test_assert_near (r.values[DYNO_SENSOR_GPU_POWER_LIMIT], 150);
  test_assert_near (r.values[DYNO_SENSOR_VRAM_OWN], 800 * 1024.0);
  g_assert_cmpuint (r.throttle_reasons, ==, DYNO_THROTTLE_CURRENT | DYNO_THROTTLE_TEMPERATURE);
  write_client (
      root, "100", "9",
      "drm-driver:\txe\ndrm-pdev:\t" PCI "\ndrm-client-id:\t11\n"
      "drm-cycles-ccs:\t3000\ndrm-total-cycles-ccs:\t101000\ndrm-engine-capacity-ccs:\t4\n"
      "drm-cycles-bcs:\t900\n");
  test_tree_write (root, DEVICE "hwmon/hwmon6/energy1_input", "40000000\n");
  read_at (source, 11 * SECOND, &r);
  test_assert_near (r.values[DYNO_SENSOR_GPU_BUSY], 50); /* 2000 of 1000 cycles on four engines */
  test_assert_missing (r.values[DYNO_SENSOR_GPU_POWER]); /* the counter was reset */
  write_client (
      root, "100", "9",
      "drm-driver:\txe\ndrm-pdev:\t" PCI "\ndrm-client-id:\t11\n"
      "drm-cycles-ccs:\t3100\ndrm-total-cycles-ccs:\t101250\ndrm-engine-capacity-ccs:\t4\n");
  test_tree_write (root, DEVICE "hwmon/hwmon6/energy1_input", "45000000\n");
  read_at (source, 12 * SECOND, &r);
  test_assert_near (r.values[DYNO_SENSOR_GPU_BUSY], 10);
  test_assert_near (r.values[DYNO_SENSOR_GPU_POWER], 5); /* the counter counts again */
  dyno_source_drm.close (source);
  test_tree_free (root);
}

/* --- clients ---------------------------------------------------------------------------------- */

/* Files of one client count once, and those of another card or driver do not count. */
static void
test_clients (void)
{
  static const char own[] = "drm-driver:\tamdgpu\ndrm-pdev:\t" PCI "\ndrm-client-id:\t1\n"
                            "drm-memory-vram:\t100 KiB\n";
  char *root = test_tree_new ();
  gpointer source;
  DynoSensorReading r;

  write_self (root);
  write_amdgpu (root);
  write_client (root, "100", "3", own);
  write_client (root, "100", "4", own);
  write_client (root, "100", "5",
                "drm-driver:\tamdgpu\ndrm-pdev:\t" PCI "\ndrm-client-id:\t2\n"
                "drm-memory-vram:\t10 KiB\n");
  write_client (root, "100", "6",
                "drm-driver:\tamdgpu\ndrm-pdev:\t0000:04:00.0\ndrm-client-id:\t3\n"
                "drm-memory-vram:\t5000 KiB\n");
  write_client (root, "200", "3", "drm-pdev:\t" PCI "\ndrm-client-id:\t8\n");
  write_client (root, "200", "4", "drm-pdev:\t" PCI "\ndrm-client-id:\t9\n");
  /* Their memory is not the own, in whatever order the folder lists them. */
  for (guint i = 0; i < 16; i++)
    {
      g_autofree char *pid = g_strdup_printf ("%u", 1000 + i);
      g_autofree char *other = g_strdup_printf ("drm-pdev:\t" PCI "\ndrm-client-id:\t%u\n"
                                                "drm-memory-vram:\t7 KiB\n",
                                                1000 + i);
      write_client (root, pid, "3", other);
    }
  write_client (root, "300", "3", "drm-pdev:\t" PCI "0\ndrm-client-id:\t10\n");
  write_client (root, "400", "3", "");
  test_tree_link (root, "500/fd/3", "/dev/null");
  test_tree_write (root, "500/fdinfo/3", own);
  test_tree_write (root, "100/comm", "trainer\n");
  source = open_card (root, PCI);
  read_at (source, SECOND, &r);
  test_assert_near (r.values[DYNO_SENSOR_VRAM_OWN], 110 * 1024.0);
  test_assert_near (r.values[DYNO_SENSOR_GPU_OTHERS], 17);
  /* The clients of a program are summed; its name ends at the end of the line. */
  g_assert_true (r.programs.known);
  g_assert_cmpuint (r.programs.n, ==, 18);
  g_assert_cmpuint (r.programs.list[0].pid, ==, 100);
  g_assert_true (r.programs.list[0].own);
  g_assert_cmpstr (r.programs.list[0].name, ==, "trainer");
  test_assert_near (r.programs.list[0].bytes, 110 * 1024.0);
  test_assert_near (r.programs.list[1].bytes, 7 * 1024.0);
  g_assert_cmpuint (r.programs.list[17].pid, ==, 200);
  g_assert_cmpstr (r.programs.list[17].name, ==, "");
  test_assert_missing (r.programs.list[17].bytes);

  /* Processes are searched only at intervals. */
  write_client (root, "600", "3", "drm-pdev:\t" PCI "\ndrm-client-id:\t12\n");
  read_at (source, 2 * SECOND, &r);
  test_assert_near (r.values[DYNO_SENSOR_GPU_OTHERS], 17);
  read_at (source, 7 * SECOND, &r);
  test_assert_near (r.values[DYNO_SENSOR_GPU_OTHERS], 18);
  g_assert_cmpuint (r.programs.n, ==, 19); /* nothing is kept from the previous search */
  test_assert_near (r.programs.list[0].bytes, 110 * 1024.0);
  dyno_source_drm.close (source);
  test_tree_free (root);
}

/* --- which card ------------------------------------------------------------------------------- */

static void
test_finding (void)
{
  char *root = test_tree_new ();
  DynoSourceSetup software = { .proc_root = root,
                               .sys_root = root,
                               .device = { .type = DYNO_DEVICE_TYPE_SOFTWARE, .pci = PCI },
                               .has_device = TRUE };
  gpointer source;

  g_assert_null (open_card (root, PCI));
  g_assert_null (open_card (root, ""));
  write_amdgpu (root);
  g_assert_null (open_card (root, "0000:04:00.0"));
  g_assert_null (open_card (root, "../devices/" PCI));
  g_assert_null (dyno_source_drm.open (&software));
  /* found by vendor and model, if there is only one such card */
  source = open_card (root, "");
  g_assert_nonnull (source);
  dyno_source_drm.close (source);
  test_tree_write (root, "bus/pci/devices/0000:05:00.0/uevent", "DRIVER=amdgpu\n");
  test_tree_write (root, "bus/pci/devices/0000:05:00.0/vendor", "0x1002\n");
  test_tree_write (root, "bus/pci/devices/0000:05:00.0/device", "0x744c\n");
  g_assert_null (open_card (root, ""));
  test_tree_write (root, DEVICE "uevent", "DRIVER=vfio-pci\n");
  g_assert_null (open_card (root, PCI));
  test_tree_write (root, DEVICE "uevent", "");
  g_assert_null (open_card (root, PCI));
  test_tree_free (root);
}

/* A card with empty files and files of any content. */
static void
test_broken (void)
{
  static const char *const texts[] = {
    "", "\n", "x", "-", "9999999999999999999999999\n", ":*\n*:\n"
  };
  static const char *const names[] = { "gpu_busy_percent",
                                       "mem_info_vram_total",
                                       "mem_info_vram_used",
                                       "pp_dpm_sclk",
                                       "hwmon/hwmon4/temp1_input",
                                       "hwmon/hwmon4/freq1_input",
                                       "hwmon/hwmon4/power1_average",
                                       "gpu_metrics" };
  char *root = test_tree_new ();
  gpointer source;
  DynoSensorReading r;

  write_self (root);
  write_amdgpu (root);
  source = open_card (root, PCI);
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      for (guint k = 0; k < G_N_ELEMENTS (names); k++)
        {
          g_autofree char *path = g_strconcat (DEVICE, names[k], NULL);
          test_tree_write (root, path, texts[i]);
        }
      write_client (root, "100", "3", texts[i]);
      read_at (source, (i + 1) * 10 * SECOND, &r);
      test_assert_missing (r.values[DYNO_SENSOR_GPU_THROTTLE]);
      if (!g_ascii_isdigit (texts[i][0]))
        test_assert_missing (r.values[DYNO_SENSOR_GPU_BUSY]);
    }
  dyno_source_drm.close (source);
  test_tree_free (root);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/monitor/drm/amdgpu", test_amdgpu);
  g_test_add_func ("/monitor/drm/amdgpu-reasons-by-the-form-of-the-table", test_amdgpu_throttle);
  g_test_add_func ("/monitor/drm/i915", test_i915);
  g_test_add_func ("/monitor/drm/i915-of-older-kernels", test_i915_old);
  g_test_add_func ("/monitor/drm/xe", test_xe);
  g_test_add_func ("/monitor/drm/clients-count-once-and-of-this-card", test_clients);
  g_test_add_func ("/monitor/drm/card-by-address-or-as-the-only-one", test_finding);
  g_test_add_func ("/monitor/drm/broken-files-are-not-available", test_broken);
  return g_test_run ();
}
