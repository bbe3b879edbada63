/* cxx_names.cpp - functions for which gcc's debug information has no mangled name, in all the places
 * they may stand in (tests/e2e/symbols/test_cxx_names.py, which knows the lines by the mark before). */
#include <cstdio>

#define INLINED inline __attribute__((always_inline))
#define OUT_OF_LINE __attribute__((noinline))

static volatile int number = 1;

static INLINED int global_one(int k)
{
    return k * number + 3;
}

extern "C" {
static INLINED int c_one(int k)
{
    return k * number + 5;
}
}

namespace acme
{
namespace detail
{
static INLINED int norm(int k)
{
    return k * number + 7;
}

/* With code of its own, and inlined too. */
static inline int both(int k)
{
    return k * number + 11;
}
static OUT_OF_LINE int both_apart(int k)
{
    return k * number + 13;
}
} // namespace detail

namespace
{
struct Pair {
    int k;
    INLINED int up()
    {
        return k += number;
    }
    struct Inner {
        int k;
        static INLINED int made(int k)
        {
            return k * number + 17;
        }
    };
    Pair(int start) __attribute__((always_inline)) : k(start * number)
    {
    }
    INLINED operator long() const
    {
        return k * number;
    }
};
template <class T> INLINED T twice(T value)
{
    return value * number + value;
}
} // namespace

inline namespace v2
{
static INLINED int versioned(int k)
{
    return k * number + 19;
}
} // namespace v2
} // namespace acme

struct Outer {
    int k;
    int defined_outside(int a) __attribute__((noinline));
    int run(int a) __attribute__((noinline))
    {
        struct Local {
            int z;
            INLINED int go(int b)
            {
                return z + b * number;
            }
        } local = {k};
        /* mark member */
        auto member = [&](int b) __attribute__((always_inline))
        {
            return local.go(b) * number;
        };
        return member(a) + local.go(a);
    }
};

int Outer::defined_outside(int a)
{
    /* mark outside */
    auto outside = [&](int b) __attribute__((always_inline))
    {
        return k * b * number;
    };
    return outside(a) + number;
}

int __attribute__((noinline)) run(int n)
{
    int sum = 0;
    acme::Pair pair(n);
    /* mark first */
    auto first = [&](int k) __attribute__((always_inline))
    {
        return sum += k * number;
    };
    /* mark generic */
    auto generic = [](auto value) __attribute__((always_inline))
    {
        return value * number;
    };
    /* mark unnamed */
    union {
        int k;
        INLINED int of_union()
        {
            return k * number;
        }
    } unnamed = {n};
    {
        /* mark nested */
        auto nested = [&](int k) __attribute__((always_inline))
        {
            return sum -= k * number;
        };
        nested(n);
    }
    sum += global_one(n) + c_one(n) + acme::detail::norm(n) + acme::detail::both(n);
    sum += acme::detail::both_apart(n) + pair.up() + acme::Pair::Inner::made(n);
    sum += (int)(long)pair + acme::twice(n) + acme::twice((short)n) + acme::versioned(n);
    return sum + first(n) + generic(n) + generic((short)n) + unnamed.of_union();
}

int main()
{
    int (*volatile apart)(int) = acme::detail::both; /* the copy with code of its own */
    Outer outer = {3};
    printf("%d\n", run(number) + outer.run(number) + outer.defined_outside(number) + apart(number));
}
