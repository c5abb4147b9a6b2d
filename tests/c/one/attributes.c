/* Attributes of an array in a Zarr folder: reading and changing them, and wrong calls. */
#define _XOPEN_SOURCE 700
#include <plait.h>

#include "cases.h"
#include "check.h"

static const int64_t kSize = 6;

static void make_array(const char* name) {
  plait_open_options options;
  plait_layout* layout = NULL;
  plait_file* file = NULL;
  const float values[6] = {0};
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.shape = &kSize;
  options.dimensions = 1;
  options.dtype = "<f4";
  CHECK_OK(plait_layout_parse_shape("(*)", 1, &kSize, &layout));
  CHECK_OK(plait_open(name, "w", plait_alone(), &options, &file));
  CHECK_OK(plait_write(file, layout, values, sizeof values));
  CHECK_OK(plait_close(&file));
  CHECK_OK(plait_layout_free(&layout));
}

/* Sets and removes attributes, with errors in between. */
static void change_attributes(const char* name) {
  plait_file* file = NULL;
  const int64_t shape[2] = {2, 3};
  const int32_t table[6] = {1, 2, 3, 4, 5, -6};
  const double half = 0.5;
  CHECK_OK(plait_open(name, "r+", plait_alone(), NULL, &file));
  CHECK_OK(plait_file_set_attribute(file, "table", "<i4", 2, shape, table));
  CHECK_OK(plait_file_set_attribute(file, "half", "<f8", 0, NULL, &half));
  CHECK_OK(plait_file_set_attribute_text(file, "units", "m"));
  CHECK_OK(plait_file_set_attribute_text(file, "units", "kelvin"));
  CHECK_OK(plait_file_set_attribute_text(file, "other", "x"));
  CHECK_OK(plait_file_remove_attribute(file, "other"));
  CHECK_FAILS(plait_file_remove_attribute(file, "other"), PLAIT_ERROR_ARGUMENT, "no attribute \"other\"");
  CHECK_FAILS(plait_file_set_attribute(file, "x", "<z4", 0, NULL, &half), PLAIT_ERROR_ARGUMENT, "<z4");
  CHECK_FAILS(plait_file_set_attribute(file, "x", "<f8", 0, NULL, NULL), PLAIT_ERROR_ARGUMENT, "values is NULL");
  CHECK_FAILS(plait_file_set_attribute(file, NULL, "<f8", 0, NULL, &half), PLAIT_ERROR_ARGUMENT, "name is NULL");
  CHECK_FAILS(plait_file_set_attribute_text(file, "x", NULL), PLAIT_ERROR_ARGUMENT, "text is NULL");
  CHECK_FAILS(plait_file_set_attribute_text(NULL, "x", "y"), PLAIT_ERROR_ARGUMENT, "file is NULL");
  CHECK_FAILS(plait_file_remove_attribute(NULL, "x"), PLAIT_ERROR_ARGUMENT, "file is NULL");
  CHECK_OK(plait_close(&file));
}

static void check_values(plait_file* file) {
  char* text = NULL;
  int count = 0;
  int dimensions = -1;
  int64_t values = 0;
  int64_t integers[6] = {0};
  double reals[6] = {0};
  CHECK_OK(plait_file_attributes(file, &count));
  CHECK_EQUAL(count, 3);
  CHECK_OK(plait_file_attribute_name(file, 0, &text));
  CHECK(text != NULL && strlen(text) > 3);
  CHECK_OK(plait_text_free(&text));
  CHECK_OK(plait_file_attribute_type(file, "table", &text, &dimensions, &values));
  CHECK(strcmp(text, "<i8") == 0);
  CHECK_EQUAL(dimensions, 2);
  CHECK_EQUAL(values, 6);
  CHECK_OK(plait_text_free(&text));
  CHECK_OK(plait_file_attribute_type(file, "units", NULL, &dimensions, NULL));
  CHECK_EQUAL(dimensions, 0);
  CHECK_OK(plait_file_attribute_integers(file, "table", integers, 6));
  CHECK(integers[0] == 1 && integers[5] == -6);
  CHECK_OK(plait_file_attribute_reals(file, "table", reals, 6));
  CHECK(reals[1] == 2 && reals[5] == -6);
  CHECK_OK(plait_file_attribute_reals(file, "half", reals, 1));
  CHECK(reals[0] == 0.5);
  CHECK_OK(plait_file_attribute_text(file, "units", 0, &text));
  CHECK(strcmp(text, "kelvin") == 0);
  CHECK_OK(plait_text_free(&text));
}

void attributes_change(void) {
  const char* name = scratch("attributes.zarr");
  plait_file* file = NULL;
  make_array(name);
  change_attributes(name);
  CHECK_OK(plait_open(name, "r", plait_alone(), NULL, &file));
  check_values(file);
  CHECK_OK(plait_close(&file));
}

void attributes_errors(void) {
  const char* name = scratch("attributes.zarr");
  plait_file* file = NULL;
  char* text = NULL;
  int64_t integers[6];
  double reals[6];
  make_array(name);
  change_attributes(name);
  CHECK_OK(plait_open(name, "r", plait_alone(), NULL, &file));
  CHECK_FAILS(plait_file_attributes(file, NULL), PLAIT_ERROR_ARGUMENT, "count is NULL");
  CHECK_FAILS(plait_file_attributes(NULL, NULL), PLAIT_ERROR_ARGUMENT, "file is NULL");
  CHECK_FAILS(plait_file_attribute_name(file, 3, &text), PLAIT_ERROR_ARGUMENT, "has 3 attributes");
  CHECK_FAILS(plait_file_attribute_name(file, 0, NULL), PLAIT_ERROR_ARGUMENT, "name is NULL");
  CHECK_FAILS(plait_file_attribute_type(file, "none", NULL, NULL, NULL), PLAIT_ERROR_ARGUMENT, "it has ");
  CHECK_FAILS(plait_file_attribute_integers(file, "half", integers, 6), PLAIT_ERROR_ARGUMENT, "not integers");
  CHECK_FAILS(plait_file_attribute_integers(file, "table", integers, 5), PLAIT_ERROR_ARGUMENT, "has 6");
  CHECK_FAILS(plait_file_attribute_integers(file, "table", NULL, 6), PLAIT_ERROR_ARGUMENT, "values is NULL");
  CHECK_FAILS(plait_file_attribute_reals(file, "units", reals, 6), PLAIT_ERROR_ARGUMENT, "not reals");
  CHECK_FAILS(plait_file_attribute_text(file, "half", 0, &text), PLAIT_ERROR_ARGUMENT, "not text");
  CHECK_FAILS(plait_file_attribute_text(file, "units", 1, &text), PLAIT_ERROR_ARGUMENT, "has 1 texts");
  CHECK_FAILS(plait_file_set_attribute_text(file, "x", "y"), PLAIT_ERROR_ARGUMENT, "open for reading");
  CHECK(text == NULL);
  CHECK_OK(plait_close(&file));
}
