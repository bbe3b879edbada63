/* jit_work.c - makes code at run time, runs it, and tells of it in the ways of runtimes.
 *
 *   jit_work WAYS MS    map   /tmp/perf-PID.map
 *                       dump  jit-PID.dump in the working directory, with lines
 *                       both  or none of them
 *
 * Two functions, each half of the time, one calling the other in its loop: outer, whose code is moved
 * halfway (only the dump can tell), and inner. They are copies of one piece of code, which calls what
 * it is given and counts down. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

typedef void function_type(uint64_t turns, void (*called)(uint64_t));

/*  push %rbp; mov %rsp,%rbp; push %rbx; push %r12; mov %rdi,%rbx; mov %rsi,%r12
 *  1: mov $200,%ecx; 2: dec %ecx; jnz 2b                       burns
 *  test %r12,%r12; jz 3f; mov $2,%edi; call *%r12              calls
 *  3: dec %rbx; jnz 1b; pop %r12; pop %rbx; pop %rbp; ret */
static const uint8_t code[] = {
    0x55, 0x48, 0x89, 0xe5, 0x53, 0x41, 0x54, 0x48, 0x89, 0xfb, 0x49, 0x89, 0xf4, 0xb9, 0xc8,
    0x00, 0x00, 0x00, 0xff, 0xc9, 0x75, 0xfc, 0x4d, 0x85, 0xe4, 0x74, 0x08, 0xbf, 0x02, 0x00,
    0x00, 0x00, 0x41, 0xff, 0xd4, 0x48, 0xff, 0xcb, 0x75, 0xe5, 0x41, 0x5c, 0x5b, 0x5d, 0xc3};
#define LINE_OF_CALL 22u /* offset where the second line begins */
#define SLOT_BYTES 256u

static uint8_t *pages;
static FILE *dump;

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void put(uint64_t value, unsigned n_bytes)
{
    fwrite(&value, n_bytes, 1, dump);
}

static void put_record(unsigned id, size_t n_bytes)
{
    put(id, 4);
    put(16 + n_bytes, 4);
    put(now_ns(), 8);
}

static void dump_begin(void)
{
    char path[64];
    snprintf(path, sizeof path, "jit-%d.dump", (int)getpid());
    dump = fopen(path, "w");
    put(0x4a695444, 4), put(1, 4), put(40, 4), put(62, 4), put(0, 4), put((uint64_t)getpid(), 4);
    put(now_ns(), 8), put(0, 8);
}

static void dump_tell(const char *name, const uint8_t *at, unsigned index)
{
    static const char file[] = "/srv/made.lang";
    put_record(2, 16 + 2 * (16 + sizeof file));
    put((uint64_t)at, 8), put(2, 8);
    for (unsigned line = 0; line < 2; line++) {
        put((uint64_t)at + line * LINE_OF_CALL, 8), put(100 * index + line, 4), put(1, 4);
        fwrite(file, sizeof file, 1, dump);
    }
    put_record(0, 40 + strlen(name) + 1 + sizeof code);
    put((uint64_t)getpid(), 4), put((uint64_t)getpid(), 4), put((uint64_t)at, 8);
    put((uint64_t)at, 8), put(sizeof code, 8), put(index, 8);
    fwrite(name, strlen(name) + 1, 1, dump);
    fwrite(at, sizeof code, 1, dump);
    fflush(dump);
}

static void dump_move(const uint8_t *from, const uint8_t *to, unsigned index)
{
    put_record(1, 48);
    put((uint64_t)getpid(), 4), put((uint64_t)getpid(), 4), put((uint64_t)to, 8);
    put((uint64_t)from, 8), put((uint64_t)to, 8), put(sizeof code, 8), put(index, 8);
    fflush(dump);
}

static function_type *make(unsigned slot)
{
    union {
        uint8_t *bytes;
        function_type *function;
    } at = {.bytes = pages + (size_t)SLOT_BYTES * slot};
    memcpy(at.bytes, code, sizeof code);
    return at.function;
}

static function_type *inner;

static void call_inner(uint64_t turns)
{
    inner(turns, NULL);
}

static void run(function_type *outer, uint64_t ms)
{
    for (uint64_t end = now_ns() + ms * 1000000u; now_ns() < end;)
        outer(2000, call_inner);
}

int main(int argc, char **argv)
{
    const char *ways = argc > 1 ? argv[1] : "none";
    uint64_t ms = argc > 2 ? strtoull(argv[2], NULL, 10) : 200;
    pages =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return 1;
    function_type *outer = make(0);
    inner = make(1);
    if (strcmp(ways, "map") == 0 || strcmp(ways, "both") == 0) {
        char path[64];
        snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
        FILE *map = fopen(path, "w");
        fprintf(map, "%p 100 of an earlier time\nno line at all\n", (void *)pages);
        fprintf(map, "%" PRIx64 " %x outer(int, Text)\n", (uint64_t)pages, SLOT_BYTES);
        fprintf(map, "0X%" PRIX64 " 0x%x JS:*inner file:///srv/made.js:7:9\n",
                (uint64_t)pages + SLOT_BYTES, SLOT_BYTES);
        fclose(map);
    }
    if (strcmp(ways, "dump") == 0 || strcmp(ways, "both") == 0) {
        dump_begin();
        dump_tell("outer", pages, 1);
        dump_tell("inner", pages + SLOT_BYTES, 2);
    }
    run(outer, ms / 2);
    outer = make(2);
    if (dump != NULL)
        dump_move(pages, pages + 2 * SLOT_BYTES, 1);
    run(outer, ms / 2);
    printf("%d\n", (int)getpid());
    return 0;
}
