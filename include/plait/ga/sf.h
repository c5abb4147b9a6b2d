/**
 * Shared Files under the names that Global Arrays publishes, over plait::SharedFile (plait/shared_file.hpp): temporary
 * files that every process reads and writes anywhere, without the others' doing (Nieplocha, Foster and Dachsel,
 * "Distant I/O" (1998), section 3).  docs/guides/global-arrays.md has what differs.
 *
 * Programs include it as "sf.h" and are linked with plait::sf.  The processes are those of MPI_COMM_WORLD, which is to
 * be initialised for MPI_THREAD_MULTIPLE where there are several; without MPI it is this one.
 *
 * Sizes and offsets are in bytes: whole numbers from 0 to 2^53.  All functions but SF_Errmsg return 0, or a code below
 * 0 or 1 whose text SF_Errmsg gives; nothing aborts.  Any number of threads may call them, collective ones apart.
 */
#ifndef PLAIT_GA_SF_H
#define PLAIT_GA_SF_H

#ifdef __cplusplus
extern "C" {
#endif

typedef double SFsize_t;

/** The longest text that SF_Errmsg writes, with the 0 at its end. */
#define SF_ERRMSG_SIZE 80

/**
 * Makes a file called `<fname>.<number>`, where the number is that of the handle, from 0 on, in the folder that fname
 * names.  Where all processes see that folder as the same one it is one file there, otherwise each keeps stripes of it.
 * The file begins empty and goes with the program; what else has its name is left alone.  Collective; all pass the
 * same.
 *
 * size_hard_limit  no byte is to be written behind it; 0, less, or more than there are numbers: no limit
 * size_soft_limit  the size that is expected: a warning says so where disks lack the room; below 0: not known
 * req_size         the size of a typical request, which sets the stripes; below 0: not known
 */
int SF_Create(const char* fname, SFsize_t size_hard_limit, SFsize_t size_soft_limit, SFsize_t req_size, int* handle);
/** The same under the name `<fname>.<suffix>`. */
int SF_Create_suffix(const char* fname, SFsize_t size_hard_limit, SFsize_t size_soft_limit, SFsize_t req_size,
                     int* handle, int suffix);
/** Waits for this process's requests and deletes the file.  Collective. */
int SF_Destroy(int handle);

/** Ends the access of this process until SF_Open; the file stays.  Nobody waits for anybody. */
int SF_Close(int handle);
/** Makes it possible to read and write again. */
int SF_Open(int handle);
/** From now on this process only reads, until SF_Open. */
int SF_Rwtor(int handle);
/** Makes durable what has been written and waited for, by any process. */
int SF_Fsync(int handle);

/**
 * Begins to move bytes at an offset; the buffer is left alone until SF_Wait.  What was never written reads as zero;
 * reading past the end of the file is an error of the wait.  After an error `req_id` is -1.
 */
int SF_Write(int handle, SFsize_t offset, SFsize_t bytes, const void* buffer, int* req_id);
int SF_Read(int handle, SFsize_t offset, SFsize_t bytes, void* buffer, int* req_id);
/** Waits until the bytes are moved, and makes the id -1; -1 stands for nothing. */
int SF_Wait(int* req_id);
/** The same for several; 1 where one of them failed. */
int SF_Waitall(int* list, int num);

/**
 * Writes at most SF_ERRMSG_SIZE bytes: the beginning of what was wrong with the last call of this thread that returned
 * the code, or what the code means.  plait_message(NULL) of plait.h has the whole of the last one.
 */
void SF_Errmsg(int code, char* msg);

#ifdef __cplusplus
}
#endif

#endif
