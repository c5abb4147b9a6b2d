/* The C interface in one process. */
#include "cases.h"
#include "check.h"

int main(int argc, char** argv) {
  static const struct test_case cases[] = {
      {"layout_text", layout_text},
      {"layout_shapes", layout_shapes},
      {"layout_elements_against_brute_force", layout_elements_against_brute_force},
      {"layout_halo", layout_halo},
      {"layout_errors", layout_errors},
      {"conversion_against_brute_force", conversion_against_brute_force},
      {"conversion_errors", conversion_errors},
      {"file_every_layout", file_every_layout},
      {"file_parts_with_strides", file_parts_with_strides},
      {"file_regions", file_regions},
      {"file_halo", file_halo},
      {"file_started", file_started},
      {"file_properties", file_properties},
      {"file_discarded", file_discarded},
      {"file_in_chunks", file_in_chunks},
      {"file_grows", file_grows},
      {"file_adds", file_adds},
      {"open_errors", open_errors},
      {"options_of_other_versions", options_of_other_versions},
      {"access_errors", access_errors},
      {"messages_belong_to_handles", messages_belong_to_handles},
      {"redistribute_every_layout", redistribute_every_layout},
      {"redistribute_parts", redistribute_parts},
      {"redistribute_section_and_halo", redistribute_section_and_halo},
      {"redistribute_plan", redistribute_plan},
      {"redistribute_errors", redistribute_errors},
      {"shared_memory", shared_memory},
      {"stream_modes_alone", stream_modes_alone},
      {"stream_errors", stream_errors},
      {"attributes_change", attributes_change},
      {"attributes_errors", attributes_errors},
      {"steps_with_attributes_and_variables", steps_with_attributes_and_variables},
      {"steps_without_begin_step", steps_without_begin_step},
      {"steps_of_another_type", steps_of_another_type},
      {"steps_errors", steps_errors},
      {"steps_of_an_abandoned_writer", steps_of_an_abandoned_writer},
      {"steps_of_a_file", steps_of_a_file},
      {"forked_child", forked_child},
      {"unclosed_at_exit", unclosed_at_exit},
  };
  make_scratch();
  const int status = run_cases(cases, sizeof cases / sizeof *cases, argc, argv);
  remove_scratch();
  return status;
}
