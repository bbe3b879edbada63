/* bench_stack.c - see bench_stack.h. RUN is the name of the function to define. */
#include "bench_stack.h"

#define NOINLINE __attribute__((noinline))

typedef long work_function(void *argument);

#define DECLARE(name) static long name(unsigned depth, work_function *work, void *argument, long a);

/* Functions with frames of different sizes and different saved registers. */
#define FRAME(name, next, n_words)                                                                 \
    NOINLINE static long name(unsigned depth, work_function *work, void *argument, long a)         \
    {                                                                                              \
        volatile long local[n_words] = {a};                                                        \
        long b = a * 3 + local[0];                                                                 \
        if (depth == 0)                                                                            \
            return work(argument) + b;                                                             \
        return next(depth - 1, work, argument, b) + b * a + local[depth % (n_words)] + depth;      \
    }
#define LEAN_FRAME(name, next)                                                                     \
    NOINLINE static long name(unsigned depth, work_function *work, void *argument, long a)         \
    {                                                                                              \
        if (depth == 0)                                                                            \
            return work(argument) + 1;                                                             \
        return next(depth - 1, work, argument, a) + 1;                                             \
    }

#define FAMILY(p, next)                                                                            \
    DECLARE(p##1)                                                                                  \
    DECLARE(p##2)                                                                                  \
    DECLARE(p##3)                                                                                  \
    DECLARE(p##4)                                                                                  \
    DECLARE(p##5)                                                                                  \
    FRAME(p##5, next, 2)                                                                           \
    LEAN_FRAME(p##4, p##5)                                                                         \
    FRAME(p##3, p##4, 9)                                                                           \
    LEAN_FRAME(p##2, p##3)                                                                         \
    FRAME(p##1, p##2, 5)

DECLARE(first)
FAMILY(a, first)
FAMILY(b, a1)
FAMILY(c, b1)
FAMILY(d, c1)
FAMILY(e, d1)
FAMILY(f, e1)
FRAME(first, f1, 3)

long RUN(unsigned depth, work_function *work, void *argument)
{
    return first(depth, work, argument, 1);
}
