/* unwind_check.c - libsampler_check.so: libsampler.so whose samples are unwound by libunwind too,
 * and compared.
 *
 *   LD_PRELOAD=libsampler_check.so SAMPLER_CHECK_FILE=counts SAMPLER_... program
 *
 * The same objects as the library, linked with --wrap=unwind_stack, so clocks, threads and the hook
 * on dlclose are the real ones. For tests and measurements only: libunwind is not made for signal
 * handlers. What is done about that here:
 * - it asks dl_iterate_phdr, which takes the loader's lock: ours stands in front of it and answers
 * from _dl_find_object for the one address it asks about;
 * - it follows bad rules into memory that is not there: SIGSEGV and SIGBUS are ours while it runs;
 * - it is run by one thread at a time; samples that come meanwhile are not compared, but counted.
 */
#include "unwind_check.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sys/libc_real.h"
#include "unwind/modules.h"
#include "unwind/thread.h"

struct unwind_result
__real_unwind_stack( // NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp):
                     // the linker's
    struct unwind_thread *thread, const void *context, const struct unwind_frame **frames);
struct unwind_result
__wrap_unwind_stack( // NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp):
                     // the linker's
    struct unwind_thread *thread, const void *context, const struct unwind_frame **frames);

static struct unwind_check *check;
static struct unwind_thread *their_thread;
static struct unwind_thread *fresh_thread;
static int is_timed_only; /* SAMPLER_CHECK_TIME: our walks are timed, in peace */
static uint32_t is_busy;  /* atomic: a thread uses the two above */
static pid_t busy_pid;
static __thread int in_libunwind;
static sigjmp_buf behind_crash;
static int (*real_iterate)(int (*)(struct dl_phdr_info *, size_t, void *), void *);

/* ---- the two things libunwind needs help with ---- */

/* The program headers of what was found; *n = 0: not to be seen. */
static const Elf64_Phdr *phdrs_find(const struct dl_find_object *found, uint16_t *n)
{
    const struct link_map *map = found->dlfo_link_map;
    *n = 0;
    if (map->l_name[0] == '\0') { /* the program: its header may not be loaded */
        *n = (uint16_t)getauxval(AT_PHNUM);
        return address_pointer(getauxval(AT_PHDR));
    }
    const Elf64_Ehdr *header = found->dlfo_map_start;
    if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
        return NULL;
    *n = header->e_phnum;
    return address_pointer((uint64_t)header + header->e_phoff);
}

static int find_one(int (*callback)(struct dl_phdr_info *, size_t, void *), void *data)
{
    struct dl_find_object found;
    struct dl_phdr_info info = {.dlpi_adds = modules_generation(),
                                .dlpi_subs = modules_generation()};
    uint64_t pc = 0;
    memcpy(&pc, data, sizeof pc); /* the first field of what libunwind hands to its callback */
    if (_dl_find_object(address_pointer(pc), &found) != 0)
        return 0;
    info.dlpi_addr = found.dlfo_link_map->l_addr;
    info.dlpi_name = found.dlfo_link_map->l_name;
    info.dlpi_phdr = phdrs_find(&found, &info.dlpi_phnum);
    return info.dlpi_phnum == 0 ? 0 : callback(&info, sizeof info, data);
}

__attribute__((visibility("default"))) int
dl_iterate_phdr(int (*callback)(struct dl_phdr_info *, size_t, void *), void *data)
{
    if (in_libunwind)
        return find_one(callback, data);
    if (real_iterate == NULL) {
        void *symbol = dlsym(RTLD_NEXT, "dl_iterate_phdr");
        memcpy((void *)&real_iterate, &symbol, sizeof symbol);
    }
    return real_iterate(callback, data);
}

static struct sigaction before_segv, before_bus;

static void on_crash(int number, siginfo_t *info, void *context)
{
    if (in_libunwind)
        siglongjmp(behind_crash, 1);
    const struct sigaction *before = number == SIGSEGV ? &before_segv : &before_bus;
    if ((before->sa_flags & SA_SIGINFO) != 0)
        before->sa_sigaction(number, info, context);
    else if (before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN)
        before->sa_handler(number);
    else
        LIBC_REAL(sigaction)(number, before, NULL); /* comes again and ends the program */
}

static volatile struct unwind_result their_result;

/* Walks with libunwind; false when it crashed. */
static int walk_theirs(const void *context, const struct unwind_frame **frames)
{
    struct sigaction ours = {.sa_sigaction = on_crash,
                             .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK};
    sigset_t crashes, mask;
    volatile int whole = 0;
    sigemptyset(&ours.sa_mask);
    sigemptyset(&crashes);
    sigaddset(&crashes, SIGSEGV);
    sigaddset(&crashes, SIGBUS);
    LIBC_REAL(sigaction)(SIGSEGV, &ours, &before_segv);
    LIBC_REAL(sigaction)(SIGBUS, &ours, &before_bus);
    LIBC_REAL(sigprocmask)(SIG_UNBLOCK, &crashes, &mask);
    *frames = their_thread->found.frames;
    their_result = (struct unwind_result){.n_frames = 0};
    in_libunwind = 1;
    if (sigsetjmp(behind_crash, 1) == 0) {
        their_result = unwind_libunwind_walk(their_thread, context, frames);
        whole = 1;
    }
    in_libunwind = 0;
    LIBC_REAL(sigprocmask)(SIG_SETMASK, &mask, NULL);
    LIBC_REAL(sigaction)(SIGSEGV, &before_segv, NULL);
    LIBC_REAL(sigaction)(SIGBUS, &before_bus, NULL);
    return whole;
}

/* ---- counting ---- */

static void count(uint64_t *counter, uint64_t n)
{
    __atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

static void place_set(struct unwind_check_place *place, const struct unwind_frame *frame)
{
    *place = (struct unwind_check_place){.offset = 0};
    if (frame == NULL)
        return;
    place->offset = frame->pc;
    if (frame->module == 0)
        return;
    const struct module *module = modules_get(frame->module);
    const char *name = strrchr(module->path, '/');
    name = name == NULL ? module->path : name + 1;
    if ((module->flags & 2u) != 0)
        name = "[vdso]";
    place->offset -= module->bias;
    strncpy(place->module, name, sizeof place->module - 1);
}

/* Whether the stack ends where a thread or the program begins: its last frame's rule says so. */
static int is_rooted(struct unwind_result result, const struct unwind_frame *frames)
{
    struct rule_entry spare;
    if (result.n_frames == 0)
        return 0;
    const struct unwind_frame *last = &frames[result.n_frames - 1];
    return unwind_rule_find(fresh_thread, last->pc, last->exact != 0,
                            (uint32_t)modules_generation(), &spare)
               ->rule.kind == UNWIND_RULE_END;
}

struct pair {
    struct unwind_result our_result, their_result;
    const struct unwind_frame *ours, *theirs;
    uint32_t at; /* frames both have */
    uint32_t outcome;
};

static const struct unwind_frame *frame_at(const struct unwind_frame *frames, uint32_t n,
                                           uint32_t at)
{
    return at < n ? &frames[at] : NULL;
}

static void kind_count(const struct pair *pair)
{
    const struct unwind_frame *last = pair->at > 0 ? &pair->ours[pair->at - 1] : NULL;
    const struct unwind_frame *ours = frame_at(pair->ours, pair->our_result.n_frames, pair->at);
    const struct unwind_frame *theirs =
        frame_at(pair->theirs, pair->their_result.n_frames, pair->at);
    uint64_t key = (pair->outcome + 1) * UINT64_C(0x9e3779b97f4a7c15) + pair->our_result.cut;
    key = (key ^ (last == NULL ? 0 : last->pc)) * UINT64_C(0xd6e8feb86659fd93);
    key = (key ^ key >> 32 ^ (ours == NULL ? 0 : ours->pc)) * UINT64_C(0xd6e8feb86659fd93) | 1;
    for (unsigned i = 0; i < 64; i++) {
        struct unwind_check_kind *kind = &check->kinds[(key + i) % UNWIND_CHECK_KINDS];
        uint64_t none = 0;
        if (__atomic_compare_exchange_n(&kind->key, &none, key, 0, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED)) {
            kind->outcome = pair->outcome;
            kind->cut = pair->our_result.cut;
            kind->n_ours = pair->our_result.n_frames;
            kind->n_theirs = pair->their_result.n_frames;
            kind->at = pair->at;
            place_set(&kind->leaf, &pair->ours[0]);
            place_set(&kind->last, last);
            place_set(&kind->ours, ours);
            place_set(&kind->theirs, theirs);
        } else if (none != key) {
            continue;
        }
        __atomic_fetch_add(&kind->n, 1, __ATOMIC_RELAXED);
        return;
    }
    count(&check->n_kinds_full, 1);
}

/* Theirs is ours but for one frame, the caller of a leaf in code without rows. */
static int they_skip_one(const struct pair *pair)
{
    uint32_t n_theirs = pair->their_result.n_frames;
    if (pair->at == 0 || pair->our_result.n_frames != n_theirs + 1)
        return 0;
    for (uint32_t i = 1; i < n_theirs; i++) {
        if (pair->ours[i + 1].pc != pair->theirs[i].pc)
            return 0;
    }
    struct rule_entry spare;
    return unwind_rule_find(fresh_thread, pair->ours[0].pc, true, (uint32_t)modules_generation(),
                            &spare)
               ->rule.kind == UNWIND_RULE_GUESS;
}

static uint32_t outcome_of(const struct pair *pair, int crashed)
{
    int equal = !crashed && pair->at == pair->our_result.n_frames &&
                pair->at == pair->their_result.n_frames;
    int we = pair->our_result.cut == 0;
    int they = !crashed && is_rooted(pair->their_result, pair->theirs);
    if (we && !crashed &&
        pair->their_result.n_frames > 1) /* Go: by the mark of its frame pointer */
        they |= pair->theirs[pair->their_result.n_frames - 1].pc ==
                pair->ours[pair->our_result.n_frames - 1].pc;
    if (equal)
        return pair->our_result.cut == 0 ? UNWIND_CHECK_EQUAL : UNWIND_CHECK_EQUAL_CUT;
    if (we != they)
        return we ? UNWIND_CHECK_OURS : UNWIND_CHECK_THEIRS;
    if (we && they_skip_one(pair))
        return UNWIND_CHECK_SKIPPED;
    return we ? UNWIND_CHECK_BOTH_DIFFER : UNWIND_CHECK_NONE_DIFFER;
}

static void compare(const struct unwind_thread *thread, const void *context,
                    struct unwind_result result, const struct unwind_frame *frames)
{
    struct pair pair = {.our_result = result, .ours = frames};
    const struct unwind_frame *fresh = NULL;
    fresh_thread->memory = thread->memory;
    unwind_thread_forget(fresh_thread);
    struct unwind_result fresh_result = unwind_table_walk(fresh_thread, context, &fresh);
    count(&check->n_reuse_wrong, fresh_result.n_frames != result.n_frames ||
                                     fresh_result.cut != result.cut ||
                                     memcmp(fresh, frames, result.n_frames * sizeof *fresh) != 0);
    int whole = walk_theirs(context, &pair.theirs);
    pair.their_result = their_result;
    while (pair.at < result.n_frames && pair.at < pair.their_result.n_frames &&
           pair.ours[pair.at].pc == pair.theirs[pair.at].pc)
        pair.at++;
    pair.outcome = outcome_of(&pair, !whole);
    count(&check->n_crashed, !whole);
    count(&check->n_outcome[pair.outcome], 1);
    count(&check->n_cut[result.cut % UNWIND_CHECK_CUTS], 1);
    count(&check->n_samples, 1);
    count(&check->n_frames, result.n_frames);
    if (pair.outcome != UNWIND_CHECK_EQUAL)
        kind_count(&pair);
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* How often the thread was switched away from: such walks are no measurement. */
static long n_switches(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nvcsw + usage.ru_nivcsw : 0;
}

/* The bin of [ (8 + k) << e, (9 + k) << e ) is 8 * e + k. */
static unsigned bin_of(uint64_t ns)
{
    ns |= 8;
    unsigned top = 63u - (unsigned)__builtin_clzll(ns);
    unsigned bin = 8 * (top - 3) + (unsigned)(ns >> (top - 3) & 7);
    return bin < UNWIND_CHECK_BINS ? bin : UNWIND_CHECK_BINS - 1;
}

struct unwind_result __wrap_unwind_stack(struct unwind_thread *thread, const void *context,
                                         const struct unwind_frame **frames)
{
    long switches = n_switches();
    uint64_t start = now_ns();
    struct unwind_result result = __real_unwind_stack(thread, context, frames);
    uint64_t walk_ns = now_ns() - start;
    if (check == NULL)
        return result;
    if (n_switches() == switches)
        count(&check->walk_ns_bins[bin_of(walk_ns)], 1);
    if (is_timed_only) {
        count(&check->n_samples, 1);
        count(&check->n_frames, result.n_frames);
        return result;
    }
    pid_t pid = getpid();
    uint32_t idle = 0;
    if (!__atomic_compare_exchange_n(&is_busy, &idle, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED) &&
        busy_pid == pid) { /* in a forked child the other thread is not there */
        count(&check->n_busy, 1);
        return result;
    }
    busy_pid = pid;
    compare(thread, context, result, *frames);
    __atomic_store_n(&is_busy, 0, __ATOMIC_RELEASE);
    return result;
}

__attribute__((constructor(101))) static void check_start(void)
{
    const char *path = getenv("SAMPLER_CHECK_FILE");
    const char *why = "";
    is_timed_only = getenv("SAMPLER_CHECK_TIME") != NULL;
    int fd = path == NULL ? -1 : open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    void *memory = MAP_FAILED;
    if (fd >= 0 && ftruncate(fd, sizeof *check) == 0)
        memory = mmap(NULL, sizeof *check, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0)
        close(fd);
    their_thread = unwind_thread_create();
    fresh_thread = unwind_thread_create();
    if (memory != MAP_FAILED && their_thread != NULL && fresh_thread != NULL &&
        unwind_libunwind_init(&why))
        check = memory;
}
