/* test_sys.c - sys/os.h, sys/vdso.h, and the functions of sys/string.c against plain loops. */
#include <errno.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "sys/os.h"
#include "sys/vdso.h"
#include "unit.h"

#define N_BYTES 100u

static void fill(uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        bytes[i] = (uint8_t)(i * 7 + 1);
}

/* Each length and distance, overlapping both ways, nothing beyond touched. */
static void moves(void **state)
{
    (void)state;
    for (size_t n = 0; n <= N_BYTES / 2; n++) {
        for (size_t from = 0; from + n <= N_BYTES; from += 3) {
            for (size_t to = 0; to + n <= N_BYTES; to++) {
                uint8_t bytes[N_BYTES], before[N_BYTES], after[N_BYTES];
                fill(bytes, N_BYTES);
                fill(before, N_BYTES);
                fill(after, N_BYTES);
                for (size_t i = 0; i < n; i++)
                    after[to + i] = before[from + i];
                assert_ptr_equal(memmove(bytes + to, bytes + from, n), bytes + to);
                for (size_t i = 0; i < N_BYTES; i++)
                    assert_int_equal(bytes[i], after[i]);
                fill(bytes, N_BYTES);
                assert_ptr_equal(memcpy(bytes + to, before + from, n), bytes + to);
                for (size_t i = 0; i < N_BYTES; i++)
                    assert_int_equal(bytes[i], after[i]);
            }
        }
    }
}

static void sets(void **state)
{
    (void)state;
    for (size_t n = 0; n <= N_BYTES; n++) {
        for (size_t at = 0; at + n <= N_BYTES; at += 5) {
            uint8_t bytes[N_BYTES], before[N_BYTES];
            fill(bytes, N_BYTES);
            fill(before, N_BYTES);
            assert_ptr_equal(memset(bytes + at, 0x1f5, n), bytes + at);
            for (size_t i = 0; i < N_BYTES; i++)
                assert_int_equal(bytes[i], i >= at && i < at + n ? 0xf5 : before[i]);
        }
    }
}

static void compares(void **state)
{
    (void)state;
    uint8_t one[N_BYTES], other[N_BYTES];
    fill(one, N_BYTES);
    fill(other, N_BYTES);
    for (size_t n = 0; n <= N_BYTES; n++) {
        assert_int_equal(memcmp(one, other, n), 0);
        for (size_t i = 0; i < n; i++) {
            other[i] = (uint8_t)(one[i] ^ 0x80);
            assert_true((memcmp(one, other, n) < 0) == (one[i] < other[i]));
            assert_int_not_equal(bcmp(one, other, n), 0);
            assert_int_equal(memcmp(one, other, i), 0);
            other[i] = one[i];
        }
    }
}

static void texts(void **state)
{
    (void)state;
    static const char text[] = "SigPnd:\t0\nSigBlk:\t1\n";
    assert_int_equal(strlen(text), sizeof text - 1);
    assert_int_equal(strlen(""), 0);
    assert_int_equal(strnlen(text, 3), 3);
    assert_int_equal(strnlen(text, 100), sizeof text - 1);
    assert_ptr_equal(strstr(text, "SigBlk:"), text + 10);
    assert_ptr_equal(strstr(text, ""), text);
    assert_null(strstr(text, "SigBlk:\t2"));
    assert_null(strstr(text, "1\n\n"));
    assert_ptr_equal(strstr("aab", "ab"), strchr("aab", 'a') + 1);
    assert_ptr_equal(memchr(text, '\n', sizeof text), text + 9);
    assert_ptr_equal(memchr(text, 0, sizeof text), text + sizeof text - 1);
    assert_null(memchr(text, '\n', 9));
}

/* Result, errno and all six arguments of a call by number. */
static void calls(void **state)
{
    (void)state;
    errno = 0;
    assert_int_equal(os_call(SYS_close, -1), -1);
    assert_int_equal(errno, EBADF);
    errno = 0;
    assert_int_equal(os_getpid(), getpid());
    assert_int_equal(errno, 0);
    assert_int_equal(syscall_raw(SYS_close, -1, 0, 0, 0, 0, 0), -EBADF);
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    int fd = os_open("/proc/self/exe", O_RDONLY | O_CLOEXEC, 0);
    uint8_t wanted[4];
    assert_int_equal(pread(fd, wanted, sizeof wanted, (off_t)page), sizeof wanted);
    long at = os_call(SYS_mmap, NULL, page, PROT_READ, MAP_PRIVATE, fd, page);
    assert_int_not_equal(at, -1);
    assert_int_equal(memcmp((const void *)(uintptr_t)at, wanted, sizeof wanted), 0);
    os_unmap((void *)(uintptr_t)at, page);
    assert_int_equal(os_close(fd), 0);
}

/* All that can be read, and that it ends where it cannot. */
static void copies(void **state)
{
    (void)state;
    char to[4] = {0}, from[] = "abcd";
    const struct iovec pieces[] = {{.iov_base = from, .iov_len = 2},
                                   {.iov_base = from + 3, .iov_len = 1},
                                   {.iov_base = NULL, .iov_len = 1}};
    assert_int_equal(os_copy(to, sizeof to, pieces, 3), 3);
    assert_memory_equal(to, "abd", 4);
    errno = 0;
    assert_int_equal(os_copy(to, sizeof to, pieces + 2, 1), -1);
    assert_int_equal(errno, EFAULT);
}

static void exits(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0)
        os_exit(41);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(WEXITSTATUS(status), 41);
}

/* The same clock before and after os_setup has found the vDSO's. */
static void clocks(void **state)
{
    (void)state;
    struct timespec before, after;
    for (int i = 0; i < 2; i++) {
        clock_gettime(CLOCK_MONOTONIC, &before);
        uint64_t ns = os_clock_ns(CLOCK_MONOTONIC);
        clock_gettime(CLOCK_MONOTONIC, &after);
        assert_true(ns >= (uint64_t)before.tv_sec * OS_NS_PER_S + (uint64_t)before.tv_nsec);
        assert_true(ns <= (uint64_t)after.tv_sec * OS_NS_PER_S + (uint64_t)after.tv_nsec);
        assert_true(os_clock_ns(os_thread_clock(os_gettid())) > 0);
        assert_int_equal(os_clock_ns(12345), 0);
        os_setup();
    }
    assert_null(vdso_symbol("no_such_function"));
    if (vdso_symbol(SYSCALL_VDSO_CLOCK) == NULL)
        print_message("no clock in this kernel's vDSO\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moves), cmocka_unit_test(sets),   cmocka_unit_test(compares),
        cmocka_unit_test(texts), cmocka_unit_test(calls),  cmocka_unit_test(copies),
        cmocka_unit_test(exits), cmocka_unit_test(clocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
