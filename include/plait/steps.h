/**
 * Steps of pipes, in C: part of plait.h, which says how errors, handles and collective calls are.
 *
 * A file that is opened as "pipe:NAME" hands arrays to another program step by step (DeBenedictis & del Rosario 1993,
 * section 8).  Without plait_begin_step each write is a step, and each read reads one.  Other files have one step: what
 * is written later replaces it, and attributes are not kept.
 */
#ifndef PLAIT_STEPS_H
#define PLAIT_STEPS_H

#include "plait.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Gives the step that the next plait_begin_step begins an attribute: a number or a text, by its name.  Not collective;
 *  the readers get those of rank 0. */
plait_status plait_put_integer(plait_file* file, const char* name, int64_t value);
plait_status plait_put_real(plait_file* file, const char* name, double value);
plait_status plait_put_text(plait_file* file, const char* name, const char* value);
/** Begins a step: a writer waits until there is room for it in the queue, a reader until there is one.  `more` is 0 where
 *  no more will come, else 1.  Collective. */
plait_status plait_begin_step(plait_file* file, int* more);
/** Hands the step over, or gives it back to the writer.  Collective. */
plait_status plait_end_step(plait_file* file);
/** Of the step that has begun last; they count from 0. */
plait_status plait_step_number(const plait_file* file, int64_t* number);
/** An attribute of that step.  Integers are given as reals too.  PLAIT_ERROR_ARGUMENT: it has none of that name, or of
 *  that type. */
plait_status plait_get_integer(const plait_file* file, const char* name, int64_t* value);
plait_status plait_get_real(const plait_file* file, const char* name, double* value);
plait_status plait_get_text(const plait_file* file, const char* name, char** value);

/** Lets the accesses that follow mean another array of the step; the first one is called "data".  A reader finds it
 *  among those of the step, and hears its shape and type from plait_file_shape and the like; a writer has defined it. */
plait_status plait_select_variable(plait_file* file, const char* name);
/** The same for a writer, which says what it is, once on all ranks; dtype as in plait_open_options, or NULL and
 *  element_bytes. */
plait_status plait_define_variable(plait_file* file, const char* name, int dimensions, const int64_t* shape,
                                   const char* dtype, int64_t element_bytes);
/** How many arrays the step has, and the name of one of them. */
plait_status plait_variables(const plait_file* file, int* count);
plait_status plait_variable_name(const plait_file* file, int number, char** name);

#ifdef __cplusplus
}
#endif

#endif
