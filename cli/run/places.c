/* places.c - see places.h. */
#include "run/places.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

bool place_beside_us(const char *name, char *out, size_t out_bytes, struct err *err)
{
    char own[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", own, sizeof own - 1);
    if (n < 0)
        return err_fail_errno(err, errno, "cannot read /proc/self/exe");
    own[n] = '\0';
    *strrchr(own, '/') = '\0';
    int length = snprintf(out, out_bytes, "%s/%s", own, name);
    return (length >= 0 && (size_t)length < out_bytes) ||
           err_fail(err, ERR_LIMIT, ERR_NO_OFFSET, "%.150s: the path is too long", own);
}
