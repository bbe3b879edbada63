/* test_cache.c - the promises of symbolize/cache: what was put is there for the next process, damage and
 * other users' folders cost time only, the oldest goes first. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "alloc_fault.h"
#include "cache/cache.h"
#include "cache/folder.h"
#include "unit.h"

#define INDEX_BYTES (3 * (size_t)ENTRY_CHUNK_BYTES + 1000)
#define NAME_A "0123456789abcdef0123456789abcdef01234567-00c0ffee.index"
#define NAME_B "ff23456789abcdef0123456789abcdef01234567-00c0ffee.index"
#define NAME_C "aa-00c0ffee.index"

static const struct cache_key key_a = {NAME_A};
static const struct cache_key key_b = {NAME_B};
static const struct cache_key key_c = {NAME_C};
static char parent[] = "/tmp/test_cache.XXXXXX";
static char made[64];

/* Packs by half or so; another one for each seed. */
static struct cache_index index_make(unsigned seed)
{
    struct cache_index index = {malloc(INDEX_BYTES), INDEX_BYTES};
    assert_non_null(index.bytes);
    for (size_t i = 0; i < INDEX_BYTES; i++) {
        seed = seed * 1103515245U + 12345U;
        index.bytes[i] = (uint8_t)(seed >> 28);
    }
    return index;
}

static bool is_index(const struct cache_index *found, unsigned seed)
{
    struct cache_index wanted = index_make(seed);
    bool same = found->size_bytes == wanted.size_bytes &&
                memcmp(found->bytes, wanted.bytes, wanted.size_bytes) == 0;
    free(wanted.bytes);
    return same;
}

static void put_one(const struct cache_key *key, unsigned seed, uint64_t limit_bytes)
{
    struct symbol_cache *cache = symbol_cache_open(limit_bytes);
    symbol_cache_put(cache, key, text_make("/usr/lib/libthing.so.1"), index_make(seed));
    symbol_cache_close(cache);
}

/* 1: it is that one; 0: there is none; -1: another. */
static int got(const struct cache_key *key, unsigned seed)
{
    struct symbol_cache *cache = symbol_cache_open(CACHE_LIMIT_BYTES);
    struct cache_index found;
    int result = 0;
    if (symbol_cache_get(cache, key, &found)) {
        result = is_index(&found, seed) ? 1 : -1;
        free(found.bytes);
    }
    symbol_cache_close(cache);
    return result;
}

static int folder_of_test(void)
{
    struct err err = ERR_INIT;
    int folder = cache_folder_open(false, &err);
    assert_true(folder >= 0);
    return folder;
}

static int folder_fresh(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    assert_int_equal(setenv("XDG_CACHE_HOME", parent, 1), 0);
    int folder = cache_folder_open(false, &err);
    if (folder >= 0) {
        (void)cache_folder_trim(folder, 0);
        close(folder);
    }
    (void)rmdir(made);
    return 0;
}

/* ---- what is kept ---- */

static void next_process_has_it(void **state)
{
    (void)state;
    assert_int_equal(got(&key_a, 1), 0);
    put_one(&key_a, 1, CACHE_LIMIT_BYTES);
    put_one(&key_b, 2, CACHE_LIMIT_BYTES);
    assert_int_equal(got(&key_a, 1), 1);
    assert_int_equal(got(&key_b, 2), 1);
    assert_int_equal(got(&key_c, 1), 0);
    put_one(&key_a, 3, CACHE_LIMIT_BYTES); /* the later one counts */
    assert_int_equal(got(&key_a, 3), 1);
    char path[64];
    int folder = folder_of_test();
    entry_read_path(folder, &key_a, path, sizeof path);
    assert_string_equal(path, "/usr/lib/libthing.so.1");
    struct stat status;
    assert_int_equal(fstatat(folder, NAME_A, &status, 0), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    assert_int_equal(fstat(folder, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);
    close(folder);
}

/* Other processes of the same run ask before anything is written. */
static void one_put_before_is_there(void **state)
{
    (void)state;
    struct symbol_cache *cache = symbol_cache_open(CACHE_LIMIT_BYTES);
    struct cache_index found;
    symbol_cache_put(cache, &key_a, text_make("x"), index_make(7));
    assert_true(symbol_cache_get(cache, &key_a, &found));
    assert_true(is_index(&found, 7));
    free(found.bytes);
    assert_false(symbol_cache_get(cache, &key_b, &found));
    symbol_cache_close(cache);
}

static void small_ones_are_not_worth_it(void **state)
{
    (void)state;
    struct symbol_cache *cache = symbol_cache_open(CACHE_LIMIT_BYTES);
    struct cache_index small = index_make(1);
    small.size_bytes = CACHE_LEAST_BYTES - 1;
    symbol_cache_put(cache, &key_a, text_make("x"), small);
    symbol_cache_close(cache);
    assert_int_equal(access(made, F_OK), -1);
}

static void no_cache_keeps_nothing(void **state)
{
    (void)state;
    struct cache_index found;
    symbol_cache_put(NULL, &key_a, text_make("x"), index_make(1));
    assert_false(symbol_cache_get(NULL, &key_a, &found));
    symbol_cache_close(NULL);
    assert_int_equal(access(made, F_OK), -1);
}

/* ---- damage ---- */

static struct cache_index file_bytes(int folder)
{
    struct stat status;
    int fd = openat(folder, NAME_A, O_RDONLY);
    assert_true(fd >= 0 && fstat(fd, &status) == 0);
    struct cache_index file = {malloc((size_t)status.st_size), (size_t)status.st_size};
    assert_non_null(file.bytes);
    assert_int_equal(read(fd, file.bytes, file.size_bytes), status.st_size);
    close(fd);
    return file;
}

static void file_write(int folder, const uint8_t *bytes, size_t n)
{
    int fd = openat(folder, NAME_A, O_WRONLY | O_TRUNC);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, n), n);
    close(fd);
}

/* One byte in a thousand places: never another index, never a crash. */
static void damage_is_no_entry(void **state)
{
    (void)state;
    put_one(&key_a, 1, CACHE_LIMIT_BYTES);
    int folder = folder_of_test();
    struct cache_index file = file_bytes(folder);
    unsigned seed = 1;
    for (unsigned n = 0; n < 1000; n++) {
        seed = seed * 1103515245U + 12345U;
        /* Half of them in the head. */
        size_t at = (seed >> 8) % (n % 2 == 0 ? 160 : file.size_bytes);
        uint8_t was = file.bytes[at];
        file.bytes[at] = (uint8_t)(was ^ (1U << n % 8));
        file_write(folder, file.bytes, file.size_bytes);
        assert_int_equal(got(&key_a, 1), 0);
        file.bytes[at] = was;
    }
    for (size_t n = 0; n < file.size_bytes; n = n < 200 ? n + 1 : n + 10007) {
        file_write(folder, file.bytes, n);
        assert_int_equal(got(&key_a, 1), 0);
    }
    file_write(folder, file.bytes, file.size_bytes);
    assert_int_equal(got(&key_a, 1), 1);
    /* Under another name it is none. */
    assert_int_equal(renameat(folder, NAME_A, folder, NAME_B), 0);
    assert_int_equal(got(&key_b, 1), 0);
    free(file.bytes);
    close(folder);
}

/* A damaged one is made anew. */
static void damaged_one_is_replaced(void **state)
{
    (void)state;
    put_one(&key_a, 1, CACHE_LIMIT_BYTES);
    int folder = folder_of_test();
    file_write(folder, (const uint8_t *)"SMPLKEEP", 8);
    assert_int_equal(got(&key_a, 1), 0);
    put_one(&key_a, 1, CACHE_LIMIT_BYTES);
    assert_int_equal(got(&key_a, 1), 1);
    close(folder);
}

/* ---- whose folder ---- */

static void folder_others_write_to_is_not_used(void **state)
{
    (void)state;
    put_one(&key_a, 1, CACHE_LIMIT_BYTES);
    assert_int_equal(chmod(made, 0770), 0);
    assert_int_equal(got(&key_a, 1), 0);
    put_one(&key_b, 1, CACHE_LIMIT_BYTES);
    assert_int_equal(chmod(made, 0700), 0);
    assert_int_equal(got(&key_a, 1), 1);
    assert_int_equal(got(&key_b, 1), 0);
}

static void link_is_not_followed(void **state)
{
    (void)state;
    char elsewhere[64];
    put_one(&key_a, 1, CACHE_LIMIT_BYTES);
    snprintf(elsewhere, sizeof elsewhere, "%s/elsewhere", parent);
    assert_int_equal(rename(made, elsewhere), 0);
    assert_int_equal(symlink(elsewhere, made), 0);
    assert_int_equal(got(&key_a, 1), 0);
    assert_int_equal(unlink(made), 0);
    assert_int_equal(rename(elsewhere, made), 0);
    assert_int_equal(got(&key_a, 1), 1);
    /* Nor is one in the place of an entry. */
    int folder = folder_of_test();
    assert_int_equal(renameat(folder, NAME_A, folder, "real"), 0);
    assert_int_equal(symlinkat("real", folder, NAME_A), 0);
    assert_int_equal(got(&key_a, 1), 0);
    assert_int_equal(unlinkat(folder, "real", 0) + unlinkat(folder, NAME_A, 0), 0);
    close(folder);
}

static void home_without_cache_gets_one(void **state)
{
    (void)state;
    char path[256];
    char home[64];
    snprintf(home, sizeof home, "%s/home", parent);
    assert_int_equal(mkdir(home, 0755), 0);
    assert_int_equal(unsetenv("XDG_CACHE_HOME"), 0);
    assert_int_equal(setenv("HOME", home, 1), 0);
    put_one(&key_a, 1, CACHE_LIMIT_BYTES);
    assert_int_equal(got(&key_a, 1), 1);
    snprintf(path, sizeof path, "%s/.cache/sampler/" NAME_A, home);
    assert_int_equal(unlink(path), 0);
    snprintf(path, sizeof path, "%s/.cache/sampler", home);
    assert_int_equal(rmdir(path), 0);
    snprintf(path, sizeof path, "%s/.cache", home);
    assert_int_equal(rmdir(path) + rmdir(home), 0);
    /* A home that is not there is not made; a relative one is none. */
    put_one(&key_a, 1, CACHE_LIMIT_BYTES);
    assert_int_equal(access(home, F_OK), -1);
    assert_int_equal(setenv("HOME", "home", 1), 0);
    assert_int_equal(setenv("XDG_CACHE_HOME", "cache", 1), 0);
    assert_false(cache_folder_path(path, sizeof path));
    assert_int_equal(got(&key_a, 1), 0);
}

/* ---- what is in it ---- */

static void used_set(int folder, const char *name, time_t when)
{
    const struct timespec times[2] = {{.tv_sec = when}, {.tv_sec = when}};
    assert_int_equal(utimensat(folder, name, times, 0), 0);
}

static void one_used_longest_ago_goes(void **state)
{
    (void)state;
    struct stat status;
    put_one(&key_a, 1, CACHE_LIMIT_BYTES);
    put_one(&key_b, 2, CACHE_LIMIT_BYTES);
    int folder = folder_of_test();
    assert_int_equal(fstatat(folder, NAME_A, &status, 0), 0);
    used_set(folder, NAME_A, 1000);
    used_set(folder, NAME_B, 2000);
    assert_int_equal(got(&key_a, 1), 1); /* used again */
    put_one(&key_c, 3, (uint64_t)status.st_size * 5 / 2);
    assert_int_equal(got(&key_a, 1), 1);
    assert_int_equal(got(&key_b, 2), 0);
    assert_int_equal(got(&key_c, 3), 1);
    close(folder);
}

static void only_own_files_are_touched(void **state)
{
    (void)state;
    static const char *const others[] = {"notes", "0123-00c0ffee.index.bak", "0123-00C0FFEE.index",
                                         ENTRY_TEMPORARY "new"};
    struct cache_files files = {0};
    put_one(&key_a, 1, CACHE_LIMIT_BYTES);
    int folder = folder_of_test();
    for (size_t i = 0; i < N_ELEMENTS(others); i++)
        close(openat(folder, others[i], O_WRONLY | O_CREAT, 0600));
    close(openat(folder, ENTRY_TEMPORARY "old", O_WRONLY | O_CREAT, 0600));
    used_set(folder, ENTRY_TEMPORARY "old", 1000);
    assert_true(cache_folder_list(folder, &files));
    assert_int_equal(files.n, 1);
    assert_string_equal(files.items[0].key.name, NAME_A);
    cache_files_deinit(&files);
    assert_int_equal(cache_folder_trim(folder, 0).n, 1);
    for (size_t i = 0; i < N_ELEMENTS(others); i++)
        assert_int_equal(unlinkat(folder, others[i], 0), 0);
    assert_int_equal(unlinkat(folder, ENTRY_TEMPORARY "old", 0), -1); /* a writer that was killed */
    close(folder);
}

/* Of this program, with a section that is so much longer and a file that is. */
static struct cache_key key_of_self(unsigned section_bytes, unsigned file_bytes)
{
    struct elf_file *file = NULL;
    struct err err = ERR_INIT;
    struct cache_key key;
    GElf_Shdr header;
    assert_true(elf_file_open("/proc/self/exe", &file, &err));
    Elf_Scn *section = elf_getscn(file->elf, 1);
    assert_ptr_equal(gelf_getshdr(section, &header), &header);
    header.sh_size += section_bytes;
    assert_int_not_equal(gelf_update_shdr(section, &header), 0); /* in memory */
    file->status.st_size += file_bytes;
    assert_true(cache_key_make(file, &key));
    assert_true(cache_key_is(key.name));
    elf_file_close(file);
    return key;
}

/* The same build in a file of another layout is another file. */
static void key_names_the_file(void **state)
{
    (void)state;
    const struct cache_key key = key_of_self(0, 0);
    const struct cache_key others[] = {key_of_self(1, 0), key_of_self(0, 1)};
    assert_string_equal(key.name, key_of_self(0, 0).name);
    for (size_t i = 0; i < N_ELEMENTS(others); i++) {
        assert_string_not_equal(key.name, others[i].name);
        assert_memory_equal(key.name, others[i].name, strcspn(key.name, "-"));
    }
}

/* ---- several at once ---- */

static _Noreturn void write_often(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        put_one(&key_a, 5, CACHE_LIMIT_BYTES);
    _exit(0);
}

static void writers_do_not_harm_readers(void **state)
{
    (void)state;
    pid_t children[3];
    put_one(&key_a, 5, CACHE_LIMIT_BYTES);
    for (size_t i = 0; i < N_ELEMENTS(children); i++)
        if ((children[i] = fork()) == 0)
            write_often(20);
    for (unsigned i = 0; i < 40; i++)
        assert_int_equal(got(&key_a, 5), 1);
    for (size_t i = 0; i < N_ELEMENTS(children); i++)
        assert_int_equal(waitpid(children[i], NULL, 0), children[i]);
}

static void memory_runs_out(void **state)
{
    unsigned n_fired = 0;
    for (unsigned n = 1; n < 100; n++) {
        struct cache_index index = index_make(1), found;
        (void)folder_fresh(state);
        alloc_fault_arm(n);
        struct symbol_cache *cache = symbol_cache_open(CACHE_LIMIT_BYTES);
        symbol_cache_put(cache, &key_a, text_make("x"), index);
        symbol_cache_close(cache);
        cache = symbol_cache_open(CACHE_LIMIT_BYTES);
        bool there = symbol_cache_get(cache, &key_a, &found);
        symbol_cache_close(cache);
        bool fired = alloc_fault_fired();
        assert_true(there || fired);
        if (there) {
            assert_true(is_index(&found, 1));
            free(found.bytes);
        }
        if (!fired)
            break;
        n_fired++;
    }
    assert_in_range(n_fired, 5, 90);
}

static int parent_make(void **state)
{
    (void)state;
    if (mkdtemp(parent) == NULL)
        return -1;
    snprintf(made, sizeof made, "%s/sampler", parent);
    return 0;
}

static int parent_remove(void **state)
{
    (void)folder_fresh(state);
    return rmdir(parent);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(next_process_has_it, folder_fresh),
        cmocka_unit_test_setup(one_put_before_is_there, folder_fresh),
        cmocka_unit_test_setup(small_ones_are_not_worth_it, folder_fresh),
        cmocka_unit_test_setup(no_cache_keeps_nothing, folder_fresh),
        cmocka_unit_test_setup(damage_is_no_entry, folder_fresh),
        cmocka_unit_test_setup(damaged_one_is_replaced, folder_fresh),
        cmocka_unit_test_setup(folder_others_write_to_is_not_used, folder_fresh),
        cmocka_unit_test_setup(link_is_not_followed, folder_fresh),
        cmocka_unit_test_setup(home_without_cache_gets_one, folder_fresh),
        cmocka_unit_test_setup(one_used_longest_ago_goes, folder_fresh),
        cmocka_unit_test_setup(only_own_files_are_touched, folder_fresh),
        cmocka_unit_test_setup(key_names_the_file, folder_fresh),
        cmocka_unit_test_setup(writers_do_not_harm_readers, folder_fresh),
        cmocka_unit_test_setup(memory_runs_out, folder_fresh),
    };
    return cmocka_run_group_tests(tests, parent_make, parent_remove);
}
