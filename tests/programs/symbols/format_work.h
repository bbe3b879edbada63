/* format_work.h - what format_work.cpp calls in format_odd.c. */
#ifndef FORMAT_WORK_H
#define FORMAT_WORK_H

#ifdef __cplusplus
extern "C" double odd_call(double x);
#else
double odd_call(double x);
#endif

#endif
