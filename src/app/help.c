/* SPDX-License-Identifier: MIT */
/* Each paragraph of a topic is one string for translators. */
#include "help.h"
#include "row.h"
#include <glib/gi18n.h>
#include <handy.h>

#define WIDTH           780
#define HEIGHT          560
#define TEXT_WIDTH      520
#define MOST_PARAGRAPHS 6

typedef struct {
  const char *name, *title;
  const char *paragraphs[MOST_PARAGRAPHS];
} Topic;

static const Topic topics[] = {
  { "home",
    N_ ("First Steps"),
    { N_ ("Press Start: Dyno trains a small network on pictures that it makes itself. The page "
          "Train "
          "shows loss, accuracy, throughput and memory while it runs, and the run is kept."),
      N_ ("Then take your own data: drop a folder, an archive or a file on the window, or press "
          "“Open Folder…” on the page Data. The line above the page Train names the steps to a run "
          "from left to right: data, model, starting weights, device, output. A step with a "
          "warning "
          "says what is wrong when it is pressed."),
      N_ ("Settings that suit the device come from a preset. “Run Quick Test” on the page Home "
          "says "
          "in a minute how fast this machine trains; the page Tune finds the fastest settings for "
          "your data and model, or those that learn best.") } },
  { "data",
    N_ ("Data"),
    { N_ ("A folder with a sub-folder for each class is the usual form of pictures. Folders named "
          "train and val, lists in CSV files, Parquet tables, MNIST and CIFAR files, NumPy and "
          "MATLAB "
          "arrays, WebDataset archives, and pictures with masks are read as well."),
      N_ ("The page shows what was found: classes and how many samples each has, samples as they "
          "are "
          "and as the network sees them, and sentences about likely mistakes, such as classes that "
          "lack samples or copies of one picture in both parts."),
      N_ ("Where no validation part is given, a share of each class is set apart by the setting "
          "“Validation share”. The division depends on the seed only.") } },
  { "train",
    N_ ("Training"),
    { N_ ("The form at the side holds all settings; the field at its top finds one by its name. "
          "Undo "
          "and redo work for settings too. A setting that has no effect for the present data and "
          "model "
          "is grey, and its tooltip says why."),
      N_ ("The bar below the form shows the memory that the run will take before it starts. Start "
          "begins at once; “Add to Queue” keeps the job for later, with its settings as they are "
          "now."),
      N_ ("While a run is in progress, the form holds the settings of the next one, with a data "
          "set "
          "of its own. “Change the run in progress, too” above the settings has those that allow "
          "it "
          "change both."),
      N_ ("The middle of the header bar shows the run and how many jobs wait. A click lists all "
          "jobs: there they are started, edited, copied, brought into another order, and tried "
          "again after a failure. The queue starts by itself when the run of the window has ended, "
          "unless you choose otherwise there."),
      N_ ("A run can be paused, and stopped with or without being saved. A run that was stopped, "
          "or whose machine went down, continues from its last checkpoint by “Resume”, here or "
          "on the page Home or Runs, to the same result."),
      N_ ("Plots are moved and zoomed by mouse wheel and dragging; a click on a name hides the "
          "line; "
          "the menu of the right button saves the picture or its numbers.") } },
  { "tune",
    N_ ("Tuning"),
    { N_ ("“Fastest” searches for the settings that train fastest within the memory: batch size, "
          "mixed "
          "precision, workers, prefetch, cache and others. At the end the best settings, the base "
          "line "
          "and yours run in turn; they are called proven only if the difference is larger than the "
          "noise of these runs."),
      N_ ("“Best Model” searches for the settings that learn best in the time that you give: "
          "learning "
          "rate, weight decay, optimizer, augmentation and others. Settings that learn badly are "
          "given up early."),
      N_ ("“Use These Settings” takes them over for the next run; they can be exported for other "
          "programs, and the whole search is one HTML report.") } },
  { "diagnose",
    N_ ("Diagnosis"),
    { N_ ("The bar shows where the time of a step goes. “Wait for data” means that the processor "
          "or "
          "the disk is too slow for the device; forward and backward mean that the device itself "
          "limits, as it should."),
      N_ ("Each finding says what it was concluded from, and names the setting to change; its "
          "button "
          "changes it for the next run.") } },
  { "runs",
    N_ ("Runs"),
    { N_ ("Every run and search is listed with its settings, data and results. The field at the "
          "top "
          "finds runs by name, model, data and state; a click on a heading sorts."),
      N_ ("With one run chosen: its curves and settings, its diagnosis, its “Evaluation” on any "
          "labelled data, “Predictions” for new files, and “Export” of settings, weights (also as "
          "ONNX) and files for other programs. With two or more: their curves in one plot, and the "
          "settings in which they differ; of runs that differ only in fold or seed also mean and "
          "standard deviation of the best result."),
      N_ ("“Fine-Tune” takes the network of a run with its weights, to train it further on the "
          "data "
          "set of the window."),
      N_ ("A run that was deleted from the list can be brought back until the page is left; its "
          "folder "
          "stays.") } },
  { "device",
    N_ ("Device"),
    { N_ ("The page shows what the device and this machine do now and did in the last minutes, "
          "with "
          "and without a run: load, memory, power, temperature, clocks, and the memory of each "
          "program on the device."),
      N_ ("A device that is slowed by its power limit or by heat says so below its load. Values "
          "that "
          "a device or its driver does not give are left out.") } },
  { "command-line",
    N_ ("Command Line"),
    { N_ ("dynoctl is the same engine without a window: “dynoctl train --data photos --model "
          "resnet18” "
          "trains, and its runs are in the same list. “dynoctl help” lists all commands, and “man "
          "dynoctl” describes them."),
      N_ ("Settings that were exported as Dyno settings are read by both programs.") } },
};

/* The open help window; NULL: none is open. */
static GtkWidget *open_window, *open_list, *open_stack;

static GtkWidget *
new_paragraph (const char *text, const char *class)
{
  GtkWidget *label = gtk_label_new (text);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_line_wrap (GTK_LABEL (label), TRUE);
  gtk_label_set_selectable (GTK_LABEL (label), !class);
  gtk_label_set_max_width_chars (GTK_LABEL (label), 60);
  if (class)
    dyno_widget_add_class (label, class, TRUE);
  return label;
}

static GtkWidget *
new_page (const Topic *topic)
{
  GtkWidget *scrolled = gtk_scrolled_window_new (NULL, NULL), *clamp = hdy_clamp_new (),
            *column = gtk_box_new (GTK_ORIENTATION_VERTICAL, 12);
  gtk_container_add (GTK_CONTAINER (column), new_paragraph (_ (topic->title), "run-title"));
  for (guint i = 0; i < MOST_PARAGRAPHS && topic->paragraphs[i]; i++)
    gtk_container_add (GTK_CONTAINER (column), new_paragraph (_ (topic->paragraphs[i]), NULL));
  g_object_set (column, "margin", 18, NULL);
  hdy_clamp_set_maximum_size (HDY_CLAMP (clamp), TEXT_WIDTH);
  gtk_container_add (GTK_CONTAINER (clamp), column);
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (scrolled), GTK_POLICY_NEVER,
                                  GTK_POLICY_AUTOMATIC);
  dyno_widget_set_accessible_name (scrolled, _ (topic->title));
  gtk_container_add (GTK_CONTAINER (scrolled), clamp);
  return scrolled;
}

static GtkWidget *
new_row (const Topic *topic)
{
  GtkWidget *row = gtk_list_box_row_new (), *label = gtk_label_new (_ (topic->title));
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  g_object_set (label, "margin", 10, NULL);
  dyno_widget_set_accessible_name (row, _ (topic->title));
  gtk_container_add (GTK_CONTAINER (row), label);
  return row;
}

static void
topic_selected (GtkListBox *list, GtkListBoxRow *row)
{
  if (row)
    gtk_stack_set_visible_child_name (GTK_STACK (open_stack),
                                      topics[gtk_list_box_row_get_index (row)].name);
}

static gboolean
key_pressed (GtkWidget *window, GdkEventKey *event)
{
  if (event->keyval != GDK_KEY_Escape)
    return GDK_EVENT_PROPAGATE;
  gtk_widget_destroy (window);
  return GDK_EVENT_STOP;
}

static void
make_window (GtkWindow *parent)
{
  GtkWidget *header = gtk_header_bar_new (), *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 0),
            *side = gtk_scrolled_window_new (NULL, NULL);
  open_window = gtk_window_new (GTK_WINDOW_TOPLEVEL);
  open_stack = gtk_stack_new ();
  open_list = gtk_list_box_new ();
  for (guint i = 0; i < G_N_ELEMENTS (topics); i++)
    {
      gtk_container_add (GTK_CONTAINER (open_list), new_row (&topics[i]));
      gtk_stack_add_named (GTK_STACK (open_stack), new_page (&topics[i]), topics[i].name);
    }
  dyno_widget_set_accessible_name (open_list, _ ("Topics"));
  dyno_widget_set_accessible_name (side, _ ("Topics"));
  g_signal_connect (open_list, "row-selected", G_CALLBACK (topic_selected), NULL);
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (side), GTK_POLICY_NEVER,
                                  GTK_POLICY_AUTOMATIC);
  gtk_container_add (GTK_CONTAINER (side), open_list);
  gtk_container_add (GTK_CONTAINER (box), side);
  gtk_box_pack_start (GTK_BOX (box), open_stack, TRUE, TRUE, 0);
  gtk_header_bar_set_title (GTK_HEADER_BAR (header), _ ("Help"));
  gtk_header_bar_set_show_close_button (GTK_HEADER_BAR (header), TRUE);
  gtk_window_set_titlebar (GTK_WINDOW (open_window), header);
  gtk_window_set_title (GTK_WINDOW (open_window), _ ("Help"));
  gtk_window_set_transient_for (GTK_WINDOW (open_window), parent);
  gtk_window_set_destroy_with_parent (GTK_WINDOW (open_window), TRUE);
  dyno_widget_fit_dialog (open_window, parent, WIDTH, HEIGHT);
  gtk_container_add (GTK_CONTAINER (open_window), box);
  g_signal_connect (open_window, "key-press-event", G_CALLBACK (key_pressed), NULL);
  g_signal_connect (open_window, "destroy", G_CALLBACK (gtk_widget_destroyed), &open_window);
  gtk_widget_show_all (header);
  gtk_widget_show_all (box);
}

void
dyno_help_show (GtkWindow *parent, const char *page)
{
  if (!open_window)
    make_window (parent);
  guint at = 0;
  for (guint i = 0; i < G_N_ELEMENTS (topics); i++)
    if (g_strcmp0 (topics[i].name, page) == 0)
      at = i;
  GtkListBoxRow *row = gtk_list_box_get_row_at_index (GTK_LIST_BOX (open_list), (int) at);
  gtk_list_box_select_row (GTK_LIST_BOX (open_list), row);
  gtk_widget_grab_focus (GTK_WIDGET (row));
  gtk_window_present (GTK_WINDOW (open_window));
}
