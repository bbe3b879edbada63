/* diff_work.c - a program whose runs are compared (scripts/bench diff): ten functions of different
 * kinds take turns, the same work in each run, but for one that can be made slower.
 *
 *   diff_work SECONDS [FUNCTION PERCENT]   about so many seconds of CPU; FUNCTION does PERCENT more
 *
 * Six compute, two call the C library a lot, one asks for memory and gives it back, one waits for
 * memory: what runs differ by without any change is small for the first and large for the last. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define KEEP __attribute__((noinline))

enum { TEXT_BYTES = 1 << 16, NUMBERS = 32768, SIDE = 64, CELLS = 1 << 23, ROUNDS_PER_SECOND = 100 };

static char text[TEXT_BYTES];
static char packed[2 * TEXT_BYTES];
static uint32_t numbers[NUMBERS];
static double left[SIDE][SIDE], right[SIDE][SIDE], product[SIDE][SIDE];
static uint32_t *next_cell;
static volatile uint64_t result; /* so that no work is left out */

static uint32_t random_next(void)
{
    static uint32_t state = 12345;
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

KEEP static void hash_text(unsigned amount)
{
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < (size_t)amount * 9800; i++)
        hash = (hash ^ (unsigned char)text[i % TEXT_BYTES]) * 1099511628211u;
    result += hash;
}

KEEP static void multiply(unsigned amount)
{
    for (size_t row = 0; row < SIDE * (size_t)amount / 8; row++)
        for (size_t column = 0; column < SIDE; column++) {
            double sum = 0;
            for (size_t i = 0; i < SIDE; i++)
                sum += left[row % SIDE][i] * right[i][column];
            product[row % SIDE][column] = sum;
        }
    result += (uint64_t)product[3][5];
}

static int compare_numbers(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

KEEP static void sort_numbers(unsigned amount)
{
    size_t n = NUMBERS * (size_t)amount / 250;
    for (size_t i = 0; i < n; i++)
        numbers[i] = random_next();
    qsort(numbers, n, sizeof(*numbers), compare_numbers);
    result += numbers[n / 2];
}

KEEP static void format_numbers(unsigned amount)
{
    char line[64];
    for (unsigned i = 0; i < 57 * amount; i++)
        result += (uint64_t)snprintf(line, sizeof(line), "%u: %.3f", i, i * 0.37);
}

KEEP static void count_words(unsigned amount)
{
    uint64_t words = 0;
    for (size_t i = 0; i < (size_t)amount * 12600; i++)
        words += text[i % TEXT_BYTES] == ' ' && text[(i + 1) % TEXT_BYTES] != ' ';
    result += words;
}

KEEP static void sieve(unsigned amount)
{
    static bool composite[TEXT_BYTES];
    size_t n = TEXT_BYTES * (size_t)amount / 4;
    for (size_t begin = 0; begin < n; begin += TEXT_BYTES) {
        size_t end = n - begin < TEXT_BYTES ? n - begin : TEXT_BYTES;
        memset(composite, 0, end);
        for (size_t i = 2; i * i < end; i++)
            for (size_t k = i * i; !composite[i] && k < end; k += i)
                composite[k] = true;
        result += composite[end - 1];
    }
}

KEEP static void parse_numbers(unsigned amount)
{
    for (unsigned i = 0; i < 153 * amount; i++)
        result += (uint64_t)strtod("3.14159265358979e2", NULL);
}

KEEP static void pack(unsigned amount)
{
    uLongf bytes = sizeof(packed);
    compress2((Bytef *)packed, &bytes, (const Bytef *)text, TEXT_BYTES * (uLong)amount / 197, 6);
    result += bytes;
}

KEEP static void churn(unsigned amount)
{
    void *kept[128] = {NULL};
    for (unsigned i = 0; i < 1060 * amount; i++) {
        size_t at = random_next() % 128;
        free(kept[at]);
        kept[at] = malloc(16 + random_next() % 1000);
    }
    for (size_t i = 0; i < 128; i++)
        free(kept[i]);
}

KEEP static void follow(unsigned amount)
{
    static uint32_t at;
    for (unsigned i = 0; i < 55 * amount; i++)
        at = next_cell[at];
    result += at;
}

static const struct work {
    const char *name;
    void (*run)(unsigned amount);
    unsigned amount; /* a tenth of a percent of the time of a round */
} works[] = {
    {"hash_text", hash_text, 200},
    {"multiply", multiply, 150},
    {"sort_numbers", sort_numbers, 120},
    {"pack", pack, 120},
    {"format_numbers", format_numbers, 100},
    {"count_words", count_words, 90},
    {"follow", follow, 80},
    {"parse_numbers", parse_numbers, 60},
    {"sieve", sieve, 50},
    {"churn", churn, 30},
};

/* One cycle through all cells, in an order no prefetcher knows (Sattolo). */
static bool prepare(void)
{
    next_cell = malloc(CELLS * sizeof(*next_cell));
    if (next_cell == NULL)
        return false;
    for (uint32_t i = 0; i < CELLS; i++)
        next_cell[i] = i;
    for (uint32_t i = CELLS - 1; i > 0; i--) {
        uint32_t other = (uint32_t)(((uint64_t)random_next() << 8 | random_next()) % i),
                 kept = next_cell[i];
        next_cell[i] = next_cell[other];
        next_cell[other] = kept;
    }
    for (size_t i = 0; i < TEXT_BYTES; i++)
        text[i] = " etaoinshrdlu"[random_next() % 13];
    for (size_t i = 0; i < SIDE * SIDE; i++)
        left[i / SIDE][i % SIDE] = right[i % SIDE][i / SIDE] = (double)i;
    return true;
}

int main(int argc, char **argv)
{
    if ((argc != 2 && argc != 4) || !prepare()) {
        fprintf(stderr, "usage: diff_work SECONDS [FUNCTION PERCENT]\n");
        return 2;
    }
    long rounds = strtol(argv[1], NULL, 10) * ROUNDS_PER_SECOND;
    for (long round = 0; round < rounds; round++)
        for (size_t i = 0; i < sizeof(works) / sizeof(works[0]); i++) {
            unsigned amount = works[i].amount;
            if (argc == 4 && strcmp(argv[2], works[i].name) == 0)
                amount += amount * (unsigned)strtoul(argv[3], NULL, 10) / 100;
            works[i].run(amount);
        }
    return 0;
}
