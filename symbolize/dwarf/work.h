/* work.h - the account of what a file may cost: bytes read more than once, and what is made of them.
 *
 * Files that say little in many bytes exist, and so do those made to: one table that each of a
 * million units refers to, one byte that stands for thousands of attributes. So what is not bounded
 * by the bytes that are there is paid for, by about what it takes of time or memory in bytes, from an
 * account that grows with the file (index_build.c). Compilers' files use a tenth
 * to a fourth of it. */
#ifndef SAMPLER_DWARF_WORK_H
#define SAMPLER_DWARF_WORK_H

#include <stdbool.h>
#include <stdint.h>

struct work_account {
    uint64_t left;
    bool spent; /* more was asked for than there was */
};

/* False: there is no more left; then it stays so. */
static inline bool work_spend(struct work_account *account, uint64_t n)
{
    if (account->left < n) {
        account->left = 0;
        account->spent = true;
        return false;
    }
    account->left -= n;
    return true;
}

#endif
