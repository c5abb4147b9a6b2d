/* The cases of the test programs. */
#ifndef CASES_H
#define CASES_H

/* One process. */
void layout_text(void);
void layout_shapes(void);
void layout_elements_against_brute_force(void);
void layout_halo(void);
void layout_errors(void);
void conversion_against_brute_force(void);
void conversion_errors(void);
void file_every_layout(void);
void file_parts_with_strides(void);
void file_regions(void);
void file_halo(void);
void file_started(void);
void file_properties(void);
void file_discarded(void);
void file_in_chunks(void);
void file_grows(void);
void file_adds(void);
void open_errors(void);
void access_errors(void);
void messages_belong_to_handles(void);
void options_of_other_versions(void);
void redistribute_every_layout(void);
void redistribute_parts(void);
void redistribute_section_and_halo(void);
void redistribute_plan(void);
void redistribute_errors(void);
void shared_memory(void);
void stream_modes_alone(void);
void stream_errors(void);
void attributes_change(void);
void attributes_errors(void);
void steps_with_attributes_and_variables(void);
void steps_without_begin_step(void);
void steps_of_another_type(void);
void steps_errors(void);
void steps_of_an_abandoned_writer(void);
void steps_of_a_file(void);
void forked_child(void);
void unclosed_at_exit(void);

/* Several processes. */
void mpi_comm(void);
void mpi_file_every_layout(void);
void mpi_file_started(void);
void mpi_redistribute_every_layout(void);
void mpi_redistribute_plan(void);
void mpi_open_mistakes(void);
void mpi_access_mistakes(void);
void mpi_redistribute_mistakes(void);
void mpi_fail_functions(void);
void mpi_abandoned(void);
void mpi_stream_modes(void);
void mpi_stream_mistakes(void);
void mpi_steps_between_ranks(void);
void mpi_steps_mistakes(void);
void mpi_distant_everywhere(void);
void mpi_distant_names(void);
void mpi_distant_mistakes(void);
void mpi_wrong_opening(void);
void mpi_wrong_accesses(void);
void mpi_wrong_streams(void);
void mpi_wrong_redistributions(void);
void mpi_wrong_distant(void);
void mpi_wrong_layouts(void);
void mpi_wrong_conversions(void);
void mpi_wrong_queries(void);
void mpi_wrong_handles(void);
void mpi_wrong_steps(void);

#endif
