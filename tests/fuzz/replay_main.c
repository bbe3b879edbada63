/* replay_main.c - runs a fuzz target over given inputs, without a fuzzer and with any compiler.
 *
 *   fuzz_NAME_replay PATH...      each PATH a file, or a folder whose files are all replayed
 *
 * Exit status 0 when every input was run, 1 when one could not be read or a folder was empty (an
 * empty corpus is a test that cannot fail). What the target itself finds it says by crashing. */
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool file_replay(const char *path)
{
    FILE *file = fopen(path, "rbe");
    struct stat status;
    if (file == NULL || fstat(fileno(file), &status) != 0) {
        perror(path);
        if (file != NULL)
            fclose(file);
        return false;
    }
    /* Exactly as large as the input, so that a sanitizer sees the first byte too far. */
    size_t size = (size_t)status.st_size;
    uint8_t *data = malloc(size == 0 ? 1 : size);
    bool ok = data != NULL && fread(data, 1, size, file) == size;
    fclose(file);
    if (ok)
        (void)LLVMFuzzerTestOneInput(data, size);
    else
        fprintf(stderr, "%s: cannot be read\n", path);
    free(data);
    return ok;
}

static bool folder_replay(const char *path, unsigned *n_inputs)
{
    DIR *folder = opendir(path);
    if (folder == NULL) {
        perror(path);
        return false;
    }
    bool ok = true;
    const struct dirent *entry;
    while ((entry = readdir(folder)) != NULL) {
        char name[4096];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        ok = file_replay(name) && ok;
        (*n_inputs)++;
    }
    closedir(folder);
    return ok;
}

int main(int argc, char **argv)
{
    unsigned n_inputs = 0;
    bool ok = true;
    for (int i = 1; i < argc; i++) {
        struct stat status;
        if (stat(argv[i], &status) == 0 && S_ISDIR(status.st_mode)) {
            ok = folder_replay(argv[i], &n_inputs) && ok;
        } else {
            ok = file_replay(argv[i]) && ok;
            n_inputs++;
        }
    }
    printf("%u inputs replayed\n", n_inputs);
    return ok && n_inputs > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
