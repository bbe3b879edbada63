/* next_symbol_library.c - what test_next_symbol.c looks for, in a library that is built twice: KIND is sysv or gnu. */
#pragma GCC visibility push(default)

#define JOINED(a, b, c) a##b##c
#define NAMED(a, kind, c) JOINED(a, kind, c)
#define NAME(end) NAMED(next_symbol_, KIND, end)
#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
#define VERSION(function, name, at_version)                                                        \
    __asm__(".symver " TEXT(function) "," TEXT(name) at_version)

int NAME(_plain)(void);
int NAME(_plain)(void)
{
    return 1;
}

/* What is called _versioned: once as programs of old times get it, once for those built today. */
int NAME(_old)(void);
int NAME(_old)(void)
{
    return 2;
}

int NAME(_new)(void);
int NAME(_new)(void)
{
    return 3;
}
VERSION(NAME(_old), NAME(_versioned), "@OLD");
VERSION(NAME(_new), NAME(_versioned), "@@NEW");

/* Which function it is, is decided when it is looked for. */
static int chosen(void)
{
    return 4;
}

__attribute__((used)) static int (*choose(void))(void)
{
    return chosen;
}

int NAME(_chosen)(void) __attribute__((ifunc("choose")));

/* In both libraries; the first one's comes first. */
int next_symbol_in_both(void);
int next_symbol_in_both(void)
{
    return 5;
}

const int NAME(_data) = 6;
