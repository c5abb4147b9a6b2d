/**
 * Steps of pipes, in C: part of plait.h, which includes it, and describes errors, handles and collective calls.
 *
 * A file that is opened as "pipe:NAME" passes arrays to another program step by step (DeBenedictis & del Rosario 1993,
 * section 8).  Without plait_begin_step each write is a step, and each read reads one.  Files that are not pipes have
 * one step: later writes replace it, and attributes are not stored.
 */
#ifndef PLAIT_STEPS_H
#define PLAIT_STEPS_H

#include <stdint.h>

#include "plait/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Sets an attribute, a named number or text, of the step that the next plait_begin_step begins.  Not collective; the
 *  readers get the attributes of rank 0. */
plait_status plait_put_integer(plait_file* file, const char* name, int64_t value);
plait_status plait_put_real(plait_file* file, const char* name, double value);
plait_status plait_put_text(plait_file* file, const char* name, const char* value);
/** Begins a step: a writer waits until the queue has capacity for it, a reader until the next step has arrived.  `more`
 *  is 0 for a reader if no more steps will come, otherwise 1.  Collective. */
plait_status plait_begin_step(plait_file* file, int* more);
/** Ends the step: a writer passes it to the readers; a reader releases it, so that the writer can reuse its part of
 *  the queue.  Collective. */
plait_status plait_end_step(plait_file* file);
/** The number of the step that began last, counted from 0. */
plait_status plait_step_number(const plait_file* file, int64_t* number);
/** The value of an attribute of that step.  plait_get_real also returns integers; plait_text_free frees a text.
 *  PLAIT_ERROR_ARGUMENT: the step has no attribute of that name, or it has another type. */
plait_status plait_get_integer(const plait_file* file, const char* name, int64_t* value);
plait_status plait_get_real(const plait_file* file, const char* name, double* value);
plait_status plait_get_text(const plait_file* file, const char* name, char** value);

/** Makes the following accesses refer to the array `name` of the step; before the first such call that is "data".  A
 *  reader then gets its shape and type from plait_file_shape and the similar functions; a writer must have called
 *  plait_define_variable for it.  Not collective. */
plait_status plait_select_variable(plait_file* file, const char* name);
/** Selects an array that the writer has not selected before, with its shape and element type; all ranks call it.
 *  `dtype` is as in plait_open_options, or NULL, and then `element_bytes` is the size of an element. */
plait_status plait_define_variable(plait_file* file, const char* name, int dimensions, const int64_t* shape,
                                   const char* dtype, int64_t element_bytes);
/** The number of arrays of the step, and the name of one of them, counted from 0; plait_text_free frees the name. */
plait_status plait_variables(const plait_file* file, int* count);
plait_status plait_variable_name(const plait_file* file, int number, char** name);

#ifdef __cplusplus
}
#endif

#endif
