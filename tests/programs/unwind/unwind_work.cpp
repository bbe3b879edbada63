/* unwind_work.cpp - see unwind_work.h. */
#include "unwind_work.h"

#include <algorithm>
#include <alloca.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <map>
#include <regex>
#include <signal.h>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include <vector>

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

static volatile uint64_t sink;

NOINLINE static uint64_t burn(unsigned n)
{
    uint64_t value = n;
    for (unsigned i = 0; i < n; i++)
        value = value * 6364136223846793005u + (value >> 7);
    sink = value;
    return value;
}

/* Exceptions thrown through frames with cleanups. */
struct guard {
    unsigned n;
    ~guard()
    {
        sink += burn(n);
    }
};

NOINLINE static uint64_t throw_below(unsigned depth)
{
    guard cleanup{depth};
    if (depth == 0)
        throw std::runtime_error("bottom");
    return throw_below(depth - 1) + burn(20);
}

static uint64_t run_exceptions(unsigned n)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < n; i++) {
        try {
            value += throw_below(i % 40);
        } catch (const std::exception &error) {
            value += std::strlen(error.what());
        }
    }
    return value;
}

/* Deep recursion, two functions with different frames. */
NOINLINE static uint64_t recurse_b(unsigned depth, uint64_t a, uint64_t b);
NOINLINE static uint64_t recurse_a(unsigned depth, uint64_t a)
{
    volatile uint64_t local[9] = {a};
    if (depth == 0)
        return burn(400);
    return recurse_b(depth - 1, a + local[0], depth) * 3 + local[depth % 9];
}

NOINLINE static uint64_t recurse_b(unsigned depth, uint64_t a, uint64_t b)
{
    uint64_t first = depth == 0 ? burn(300) : recurse_a(depth - 1, a ^ b);
    return first + burn(3) + a * b;
}

static uint64_t run_recursion(unsigned n)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < n; i++)
        value += recurse_a(i % 300, i);
    return value;
}

/* Frames of varying size: alloca, and alloca in realigned frames. */
NOINLINE static uint64_t with_alloca(unsigned depth)
{
    size_t size = 16 + depth * 40 % 600;
    auto *bytes = static_cast<volatile unsigned char *>(alloca(size));
    bytes[size - 1] = static_cast<unsigned char>(depth);
    uint64_t value = depth == 0 ? burn(200) : with_alloca(depth - 1);
    return value + bytes[size - 1] + burn(5);
}

typedef uint64_t wide __attribute__((vector_size(64)));

NOINLINE static uint64_t realigned(unsigned depth, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
                                   uint64_t e, uint64_t f, uint64_t on_stack)
{
    alignas(64) volatile wide local = {a, b, c, d, e, f, on_stack, depth};
    size_t size = 32 + depth % 7 * 64;
    auto *bytes = static_cast<volatile unsigned char *>(alloca(size));
    bytes[size - 1] = static_cast<unsigned char>(a);
    uint64_t value =
        depth == 0 ? burn(200) : realigned(depth - 1, b, c, d, e, f, on_stack, bytes[size - 1]);
    return value + local[depth % 8] + burn(4);
}

NOINLINE static uint64_t realigned_plain(unsigned depth, uint64_t a)
{
    alignas(64) volatile wide local = {a, depth};
    uint64_t value = depth == 0 ? burn(200) : realigned_plain(depth - 1, a + local[0]);
    return value + local[depth % 8] + burn(4);
}

static uint64_t run_alloca(unsigned n)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < n; i++)
        value += with_alloca(i % 30) + realigned(i % 20, 1, 2, 3, 4, 5, 6, i) +
                 realigned_plain(i % 25, i);
    return value;
}

/* Callbacks through libc and libstdc++. */
extern "C" {
static int compare_numbers(const void *left, const void *right)
{
    uint64_t a = *static_cast<const uint64_t *>(left) ^ burn(3);
    uint64_t b = *static_cast<const uint64_t *>(right) ^ burn(3);
    return a < b ? -1 : a > b;
}
}

static uint64_t run_callbacks(unsigned n)
{
    std::vector<uint64_t> numbers(500);
    uint64_t value = 0;
    for (unsigned i = 0; i < n / 20; i++) {
        for (size_t k = 0; k < numbers.size(); k++)
            numbers[k] = burn(static_cast<unsigned>(k % 13) + i);
        std::qsort(numbers.data(), numbers.size(), sizeof numbers[0], compare_numbers);
        std::sort(numbers.begin(), numbers.end(),
                  [](uint64_t a, uint64_t b) { return (a ^ burn(2)) > (b ^ burn(2)); });
        value += numbers[i % numbers.size()];
    }
    return value;
}

/* A handler on an alternate stack, interrupted in turn. */
extern "C" {
static void on_user_signal(int, siginfo_t *, void *)
{
    sink += recurse_a(12, 3);
}
}

static uint64_t run_signals(unsigned n)
{
    static unsigned char other_stack[64 << 10];
    stack_t stack = {};
    struct sigaction action = {};
    stack.ss_sp = other_stack;
    stack.ss_size = sizeof other_stack;
    sigaltstack(&stack, nullptr);
    action.sa_sigaction = on_user_signal;
    action.sa_flags = SA_ONSTACK | SA_SIGINFO;
    sigaction(SIGUSR1, &action, nullptr);
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGUSR2, &action, nullptr);
    uint64_t value = 0;
    for (unsigned i = 0; i < n; i++) {
        raise(i % 2 == 0 ? SIGUSR1 : SIGUSR2);
        value += burn(50);
    }
    return value;
}

/* Many small libc calls through the PLT, and system calls, the vdso among them. */
static uint64_t run_plt(unsigned n)
{
    char text[64];
    uint64_t value = 0;
    double x = 0.5;
    for (unsigned i = 0; i < n * 4; i++) {
        struct timespec now;
        snprintf(text, sizeof text, "%u %s %.6f", i, "text", x);
        value += strlen(text) + strtoul(text, nullptr, 10);
        x = std::sin(x) + std::pow(1.0001, i % 100) / 7;
        clock_gettime(CLOCK_MONOTONIC, &now);
        value += static_cast<uint64_t>(now.tv_nsec & 1) + static_cast<uint64_t>(getppid() > 0);
        free(malloc(i % 700 + 1));
    }
    return value + static_cast<uint64_t>(x);
}

/* Tail calls in a ring, and functions that end in a call of one that does not return. */
NOINLINE static uint64_t tail_c(unsigned n, uint64_t a);
NOINLINE static uint64_t tail_b(unsigned n, uint64_t a)
{
    return n == 0 ? burn(60) + a : tail_c(n - 1, a * 5 + sink);
}
NOINLINE static uint64_t tail_c(unsigned n, uint64_t a)
{
    return n == 0 ? burn(70) ^ a : tail_b(n - 1, a + burn(6));
}

[[noreturn]] NOINLINE static void fail_always(unsigned n)
{
    sink += burn(300);
    throw n;
}
NOINLINE static void calls_noreturn(unsigned n)
{
    sink += n;
    fail_always(n);
}

static uint64_t run_tails(unsigned n)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < n; i++) {
        value += tail_b(i % 30, i);
        try {
            calls_noreturn(i);
        } catch (unsigned caught) {
            value += caught;
        }
    }
    return value;
}

/* libstdc++ heavy: regular expressions recurse, maps allocate. */
static uint64_t run_library(unsigned n)
{
    std::regex pattern("(a|b)*c([0-9]+)x?(yy|z)*");
    std::map<std::string, unsigned> seen;
    uint64_t value = 0;
    for (unsigned i = 0; i < n / 4; i++) {
        std::string text = "abbabac" + std::to_string(i * 977) + "xyyzyy";
        std::smatch match;
        if (std::regex_match(text, match, pattern))
            value += ++seen[match[2].str()];
    }
    return value;
}

/* A plugin: loaded, used, unloaded, again and again. */
static uint64_t run_plugin(unsigned n)
{
    const char *path = getenv("UNWIND_PLUGIN");
    uint64_t value = 0;
    for (unsigned i = 0; path != nullptr && i < n / 40; i++) {
        void *plugin = dlopen(path, i % 2 == 0 ? RTLD_NOW : RTLD_LAZY);
        if (plugin == nullptr) {
            fprintf(stderr, "%s\n", dlerror());
            return value;
        }
        auto run = reinterpret_cast<uint64_t (*)(unsigned, uint64_t (*)(unsigned))>(
            dlsym(plugin, "plugin_run"));
        value += run(12, burn);
        dlclose(plugin);
    }
    return value;
}

/* A coroutine on memory of its own. */
static ucontext_t coroutine_main;
static ucontext_t coroutine_other;
static void coroutine_body()
{
    for (unsigned i = 0;; i++) {
        sink += recurse_a(i % 20, i);
        swapcontext(&coroutine_other, &coroutine_main);
    }
}

static uint64_t run_coroutine(unsigned n)
{
    static unsigned char *stack;
    if (stack == nullptr) {
        stack = static_cast<unsigned char *>(malloc(128 << 10));
        getcontext(&coroutine_other);
        coroutine_other.uc_stack.ss_sp = stack;
        coroutine_other.uc_stack.ss_size = 128 << 10;
        coroutine_other.uc_link = nullptr;
        makecontext(&coroutine_other, coroutine_body, 0);
    }
    for (unsigned i = 0; i < n; i++)
        swapcontext(&coroutine_main, &coroutine_other);
    return sink;
}

const unwind_work unwind_works[] = {
    {"exceptions", run_exceptions}, {"recursion", run_recursion}, {"alloca", run_alloca},
    {"callbacks", run_callbacks},   {"signals", run_signals},     {"plt", run_plt},
    {"tails", run_tails},           {"library", run_library},     {"plugin", run_plugin},
    {"coroutine", run_coroutine},   {nullptr, nullptr},
};
