/* event.c - see event.h. All of it SETUP. The names are those of `perf list`. */
#include "state/event.h"

#include <linux/perf_event.h>
#include <string.h>

#include "sys/line.h"
#include "sys/os.h"

/* Default periods are prime where events come in great numbers and in loops: a period that divides
 * a loop's count would hit the same place of it each time. They aim at about a thousand samples a
 * second of a busy processor. */
struct known {
    const char *name;
    uint64_t config;
    uint64_t period;
    uint32_t type;
    bool at_return;
};

static const struct known known_events[] = {
    {"cycles", PERF_COUNT_HW_CPU_CYCLES, 3000017, PERF_TYPE_HARDWARE, false},
    {"cpu-cycles", PERF_COUNT_HW_CPU_CYCLES, 3000017, PERF_TYPE_HARDWARE, false},
    {"instructions", PERF_COUNT_HW_INSTRUCTIONS, 3000017, PERF_TYPE_HARDWARE, false},
    {"cache-references", PERF_COUNT_HW_CACHE_REFERENCES, 100003, PERF_TYPE_HARDWARE, false},
    {"cache-misses", PERF_COUNT_HW_CACHE_MISSES, 10007, PERF_TYPE_HARDWARE, false},
    {"branches", PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 500009, PERF_TYPE_HARDWARE, false},
    {"branch-instructions", PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 500009, PERF_TYPE_HARDWARE, false},
    {"branch-misses", PERF_COUNT_HW_BRANCH_MISSES, 10007, PERF_TYPE_HARDWARE, false},
    {"bus-cycles", PERF_COUNT_HW_BUS_CYCLES, 100003, PERF_TYPE_HARDWARE, false},
    {"stalled-cycles-frontend", PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, 1000003, PERF_TYPE_HARDWARE,
     false},
    {"stalled-cycles-backend", PERF_COUNT_HW_STALLED_CYCLES_BACKEND, 1000003, PERF_TYPE_HARDWARE,
     false},
    {"ref-cycles", PERF_COUNT_HW_REF_CPU_CYCLES, 3000017, PERF_TYPE_HARDWARE, false},
    /* Their unit is the nanosecond. */
    {"cpu-clock", PERF_COUNT_SW_CPU_CLOCK, 1000003, PERF_TYPE_SOFTWARE, false},
    {"task-clock", PERF_COUNT_SW_TASK_CLOCK, 1000003, PERF_TYPE_SOFTWARE, false},
    {"page-faults", PERF_COUNT_SW_PAGE_FAULTS, 1, PERF_TYPE_SOFTWARE, false},
    {"faults", PERF_COUNT_SW_PAGE_FAULTS, 1, PERF_TYPE_SOFTWARE, false},
    {"minor-faults", PERF_COUNT_SW_PAGE_FAULTS_MIN, 1, PERF_TYPE_SOFTWARE, false},
    {"major-faults", PERF_COUNT_SW_PAGE_FAULTS_MAJ, 1, PERF_TYPE_SOFTWARE, false},
    {"context-switches", PERF_COUNT_SW_CONTEXT_SWITCHES, 1, PERF_TYPE_SOFTWARE, true},
    {"cs", PERF_COUNT_SW_CONTEXT_SWITCHES, 1, PERF_TYPE_SOFTWARE, true},
    {"cpu-migrations", PERF_COUNT_SW_CPU_MIGRATIONS, 1, PERF_TYPE_SOFTWARE, true},
    {"migrations", PERF_COUNT_SW_CPU_MIGRATIONS, 1, PERF_TYPE_SOFTWARE, true},
    {"alignment-faults", PERF_COUNT_SW_ALIGNMENT_FAULTS, 1, PERF_TYPE_SOFTWARE, false},
    {"emulation-faults", PERF_COUNT_SW_EMULATION_FAULTS, 1, PERF_TYPE_SOFTWARE, false},
};

#define CACHE_ACCESS_PERIOD 100003u
#define CACHE_MISS_PERIOD 10007u
#define RAW_PERIOD 1000003u

struct cache_word {
    const char *word;
    uint32_t value;
};

static const struct cache_word cache_units[] = {
    {"L1-dcache", PERF_COUNT_HW_CACHE_L1D}, {"L1-icache", PERF_COUNT_HW_CACHE_L1I},
    {"LLC", PERF_COUNT_HW_CACHE_LL},        {"dTLB", PERF_COUNT_HW_CACHE_DTLB},
    {"iTLB", PERF_COUNT_HW_CACHE_ITLB},     {"branch", PERF_COUNT_HW_CACHE_BPU},
    {"node", PERF_COUNT_HW_CACHE_NODE},     {NULL, 0},
};

/* "-loads" and "-load-misses" */
static const struct cache_word cache_operations[] = {{"load", PERF_COUNT_HW_CACHE_OP_READ},
                                                     {"store", PERF_COUNT_HW_CACHE_OP_WRITE},
                                                     {"prefetch", PERF_COUNT_HW_CACHE_OP_PREFETCH},
                                                     {NULL, 0}};

/* SETUP */
static bool parse_known(const char *name, struct event *event)
{
    for (size_t i = 0; i < sizeof known_events / sizeof known_events[0]; i++) {
        const struct known *known = &known_events[i];
        if (strcmp(name, known->name) != 0)
            continue;
        event->type = known->type;
        event->config = known->config;
        event->default_period = known->period;
        event->at_return = known->at_return;
        return true;
    }
    return false;
}

/* The row whose word `*at` begins with; advances *at past it. NULL: none. SETUP */
static const struct cache_word *cache_word(const struct cache_word *words, const char **at)
{
    for (; words->word != NULL; words++) {
        size_t length = strlen(words->word);
        if (strncmp(*at, words->word, length) == 0) {
            *at += length;
            return words;
        }
    }
    return NULL;
}

/* UNIT-OPERATIONs, UNIT-OPERATION-misses; prefetch has "prefetches". SETUP */
static bool parse_cache(const char *name, struct event *event)
{
    const char *at = name;
    const struct cache_word *unit = cache_word(cache_units, &at);
    if (unit == NULL || *at++ != '-')
        return false;
    const struct cache_word *operation = cache_word(cache_operations, &at);
    if (operation == NULL)
        return false;
    bool misses = strcmp(at, "-misses") == 0;
    if (!misses && strcmp(at, "s") != 0 && strcmp(at, "es") != 0)
        return false;
    uint64_t result = misses ? PERF_COUNT_HW_CACHE_RESULT_MISS : PERF_COUNT_HW_CACHE_RESULT_ACCESS;
    event->type = PERF_TYPE_HW_CACHE;
    event->config = unit->value | (uint64_t)operation->value << 8 | result << 16;
    event->default_period = misses ? CACHE_MISS_PERIOD : CACHE_ACCESS_PERIOD;
    return true;
}

/* SETUP */
static bool parse_raw(const char *name, struct event *event)
{
    const char *digits = name + 1;
    if (name[0] != 'r' || digits[0] == '\0' || strlen(digits) > 16)
        return false;
    uint64_t config = 0;
    for (; *digits != '\0'; digits++) {
        bool is_digit = *digits >= '0' && *digits <= '9';
        bool is_letter = *digits >= 'a' && *digits <= 'f';
        if (!is_digit && !is_letter)
            return false;
        config = config << 4 | (uint64_t)(is_digit ? *digits - '0' : *digits - 'a' + 10);
    }
    event->type = PERF_TYPE_RAW;
    event->config = config;
    event->default_period = RAW_PERIOD;
    return true;
}

/* The number in the file, or -1. SETUP */
static int64_t number_in(const char *path)
{
    char digits[24] = "";
    int fd = os_open(path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    long n = os_call(SYS_read, fd, digits, sizeof digits - 1);
    os_close(fd);
    int64_t number = n > 0 && digits[0] >= '0' && digits[0] <= '9' ? 0 : -1;
    for (long i = 0; i < n && digits[i] >= '0' && digits[i] <= '9'; i++)
        number = number * 10 + (digits[i] - '0');
    return number;
}

/* GROUP:NAME. SETUP */
static bool parse_tracepoint(const char *name, struct event *event, const char **why)
{
    static const char *const roots[] = {"/sys/kernel/tracing/events/",
                                        "/sys/kernel/debug/tracing/events/"};
    const char *colon = strchr(name, ':');
    if (colon == NULL || strchr(name, '/') != NULL || strstr(name, "..") != NULL)
        return false;
    for (size_t i = 0; i < sizeof roots / sizeof roots[0]; i++) {
        char path[200];
        struct line line;
        line_init(&line, path, sizeof path);
        line_add(&line, roots[i]);
        line_add_bytes(&line, name, (size_t)(colon - name));
        line_add(&line, "/");
        line_add(&line, colon + 1);
        line_add(&line, "/id");
        int64_t id = line.cut ? -1 : number_in(path);
        if (id < 0)
            continue;
        event->type = PERF_TYPE_TRACEPOINT;
        event->config = (uint64_t)id;
        event->default_period = 1;
        event->at_return = true;
        return true;
    }
    *why = "no such tracepoint, or /sys/kernel/tracing cannot be read by this user";
    return false;
}

/* SETUP */
bool event_parse(const char *text, struct event *event, const char **why)
{
    char name[sizeof event->name];
    size_t length = strlen(text);
    *event = (struct event){.user_only = false};
    *why = "no such event; cpu, wall, page-faults, context-switches, cycles, instructions, "
           "cache-misses ..., rHEX or GROUP:NAME";
    if (length >= sizeof name)
        return false;
    memcpy(event->name, text, length + 1);
    event->user_only = length > 2 && strcmp(text + length - 2, ":u") == 0;
    if (event->user_only)
        length -= 2;
    memcpy(name, text, length);
    name[length] = '\0';
    return parse_known(name, event) || parse_cache(name, event) || parse_raw(name, event) ||
           parse_tracepoint(name, event, why);
}
