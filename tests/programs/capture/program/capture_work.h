/* capture_work.h - what a program may do that a profiler must survive: one function for each,
 * called by capture_program. Each returns the exit status it wants, 0 = all went as it should. */
#ifndef SAMPLER_TESTS_CAPTURE_WORK_H
#define SAMPLER_TESTS_CAPTURE_WORK_H

#include <stdint.h>

/* Uses `ns` of the calling thread's CPU time. The result depends on all steps. */
uint64_t work_spin(uint64_t ns);

uint64_t work_thread_cpu_ns(void);
uint64_t work_process_cpu_ns(void);

/* Says what went wrong, on stdout, and returns 1. */
int work_fail(const char *what);

int work_threads(int argc, char **argv);      /* COUNT AT_ONCE US: short threads            */
int work_blocked(int argc, char **argv);      /* MS: workers with all signals blocked       */
int work_fork(int argc, char **argv);         /* COUNT MS: children one after another        */
int work_fork_big(int argc, char **argv);     /* MB MS: fork with a lot of memory to copy    */
int work_late_threads(int argc, char **argv); /* exit while threads run                      */

int work_eintr(int argc, char **argv);      /* MS: calls that would return EINTR           */
int work_own_eintr(int argc, char **argv);  /* ROUNDS: waits that its own signals must end */
int work_own_signal(int argc, char **argv); /* the program uses SIGPROF itself             */
int work_masks(int argc, char **argv);      /* masks read back as they were set            */
int work_sigwait(int argc, char **argv);    /* a thread that takes all signals             */

int work_close_all(int argc, char **argv);  /* MS: closes all it can, then works           */
int work_file_limit(int argc, char **argv); /* MS BYTES: RLIMIT_FSIZE                      */
int work_end(int argc, char **argv);        /* MS HOW: return, exit, _exit, quick_exit ... */
int work_exec(int argc, char **argv);       /* MS PROGRAM [ARG...]                         */
int work_exec_fails(int argc, char **argv); /* MS                                          */
int work_stderr(int argc, char **argv);     /* MS FILE: stderr closed, its number reused   */
int work_children(int argc, char **argv);   /* SIGCHLD and wait at exit                    */

#endif
