/* test_packages.c - the advice for files of systems made here: what is said where the package is
 * known, where its debug package is, and where neither is; and the commands and the kept advice it
 * comes from. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "packages/command.h"
#include "packages/packages.h"
#include "unit.h"

#define ID_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define ID_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define OWN "build it with -g, or name the folder of its debug file by --debug-dir"
#define DEBIAN "set DEBUGINFOD_URLS=https://debuginfod.debian.net"

static char made[64];
static char *usual_path;

/* ---- a system -------------------------------------------------------------------------------- */

static void file_write(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s%s", made, name);
    for (char *slash = path + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        (void)mkdir(path, 0700);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static int system_make(void **state)
{
    (void)state;
    snprintf(made, sizeof made, "/tmp/test_packages.XXXXXX");
    assert_non_null(mkdtemp(made));
    usual_path = strdup(getenv("PATH"));
    assert_non_null(usual_path);
    assert_int_equal(setenv("XDG_CACHE_HOME", made, 1), 0);
    return 0;
}

static int system_remove(void **state)
{
    (void)state;
    char command[128];
    assert_int_equal(setenv("PATH", usual_path, 1), 0);
    free(usual_path);
    snprintf(command, sizeof command, "rm -r %s", made);
    return system(command); /* NOLINT(cert-env33-c) */
}

/* A package with one file, or with two where they are separated by a newline. */
#define STATUS(name, source)                                                                       \
    "Package: " name "\nStatus: install ok installed\nArchitecture: amd64\nSource: " source        \
    " (1.0)\nVersion: 1.1\nMulti-Arch: same\nMaintainer: x\nDescription: x\n\n"

static void debian_make(void)
{
    file_write("/etc/os-release", "NAME=x\nID=debian\n");
    file_write("/var/lib/dpkg/status", STATUS("libthing1", "thing") STATUS("tool", "tools"));
    file_write("/var/lib/dpkg/info/format", "1\n");
    file_write("/var/lib/dpkg/info/libthing1:amd64.list", "/.\n/lib\n/lib/libthing.so.1\n");
    file_write("/var/lib/dpkg/info/tool:amd64.list", "/.\n/usr/bin/tool\n");
}

static const char *advice_of(const char *path, const char *build_id, bool has_servers)
{
    static struct package_query query;
    const struct packages_system system = {.root = made, .has_servers = has_servers};
    query = (struct package_query){.path = path, .build_id = build_id};
    packages_advise(&system, &query, 1);
    return query.advice;
}

#define PARAGRAPH(name, version, ids)                                                              \
    "Package: " name "\nSource: x\nVersion: " version "\n" ids "Section: debug\n\n"

static void list_write(const char *text)
{
    file_write("/var/lib/apt/lists/here_Packages", text);
}

/* ---- what is said ---------------------------------------------------------------------------- */

static void what_apt_does_not_know_is_at_the_server_or_in_the_archive(void **state)
{
    (void)state;
    debian_make();
    assert_string_equal(advice_of("/usr/bin/tool", ID_A, false),
                        DEBIAN ", or apt install tool-dbgsym (archive: debian-debug)");
    assert_string_equal(advice_of("/usr/bin/tool", ID_A, true),
                        "apt install tool-dbgsym (archive: debian-debug)");
    /* where /usr is merged, the package or the loader may have the other path */
    assert_string_equal(advice_of("/bin/tool", ID_A, true),
                        "apt install tool-dbgsym (archive: debian-debug)");
    assert_string_equal(advice_of("/usr/lib/libthing.so.1", "", true),
                        "apt install libthing1-dbgsym (archive: debian-debug)");
    assert_string_equal(advice_of("/lib/libthing.so.1", "", true),
                        "apt install libthing1-dbgsym (archive: debian-debug)");
}

static void what_is_in_no_package_is_for_its_owner_to_build(void **state)
{
    (void)state;
    debian_make();
    assert_string_equal(advice_of("/srv/app/tool", ID_A, false), OWN);
    assert_string_equal(advice_of("/usr/bin/tool2", ID_A, false), OWN);
    assert_string_equal(advice_of("/usr/bin/*", ID_A, false), OWN); /* no pattern */
    assert_string_equal(advice_of("/srv/usr/bin/tool", ID_A, false), OWN);
    assert_string_equal(advice_of("tool", ID_A, false), OWN);
}

static void the_debug_package_is_found_by_the_build_id_first(void **state)
{
    (void)state;
    debian_make();
    list_write(PARAGRAPH("other-dbg", "2", "Build-Ids: " ID_A " " ID_B "\n")
                   PARAGRAPH("tool-dbg", "1", "") PARAGRAPH("tool", "1", "Build-Ids: " ID_A "\n"));
    assert_string_equal(advice_of("/usr/bin/tool", ID_A, false), "apt install other-dbg");
    assert_string_equal(advice_of("/usr/bin/tool", ID_B, false), "apt install other-dbg");
    assert_string_equal(advice_of("/usr/bin/tool", "", false), "apt install tool-dbg");
    assert_string_equal(advice_of("/usr/bin/tool", "aaaa", false), "apt install tool-dbg");
    assert_string_equal(advice_of("/srv/app/tool", ID_A, false), OWN);
}

static void the_one_of_the_package_goes_before_the_one_of_its_source(void **state)
{
    (void)state;
    debian_make();
    list_write(PARAGRAPH("tools-dbg", "1", ""));
    assert_string_equal(advice_of("/usr/bin/tool", ID_A, false), "apt install tools-dbg");
    list_write(PARAGRAPH("tools-dbg", "1", "") PARAGRAPH("tool-dbgsym", "1", ""));
    assert_string_equal(advice_of("/usr/bin/tool", ID_A, false), "apt install tool-dbgsym");
    list_write(PARAGRAPH("tool-dbgsym", "1", "") PARAGRAPH("tools-dbg", "1", ""));
    assert_string_equal(advice_of("/usr/bin/tool", ID_A, false), "apt install tool-dbgsym");
    list_write(PARAGRAPH("toolkit-dbgsym", "1", "") PARAGRAPH("my-tool-dbg", "1", ""));
    assert_string_equal(advice_of("/usr/bin/tool", ID_A, true),
                        "apt install tool-dbgsym (archive: debian-debug)");
}

static void another_version_is_said_to_be_one(void **state)
{
    (void)state;
    debian_make();
    list_write(PARAGRAPH("tool-dbg", "2", "Build-Ids: " ID_B "\n"));
    assert_string_equal(advice_of("/usr/bin/tool", ID_A, false),
                        DEBIAN ", or apt install tool-dbg, which brings another version of tool; "
                               "profile again then");
    assert_string_equal(
        advice_of("/usr/bin/tool", ID_A, true),
        "apt install tool-dbg, which brings another version of tool; profile again then");
    /* of several the right one, whichever comes first */
    list_write(PARAGRAPH("tool-dbg", "2", "Build-Ids: " ID_B "\n")
                   PARAGRAPH("tool-dbg", "1", "Build-Ids: " ID_A "\n"));
    assert_string_equal(advice_of("/usr/bin/tool", ID_A, false), "apt install tool-dbg=1");
    assert_string_equal(advice_of("/usr/bin/tool", ID_B, false), "apt install tool-dbg=2");
}

static void lists_may_be_packed(void **state)
{
    (void)state;
    char path[256];
    static const char text[] = PARAGRAPH("tool-dbg", "1", "Build-Ids: " ID_A "\n");
    debian_make();
    list_write("");
    snprintf(path, sizeof path, "%s/var/lib/apt/lists/packed_Packages.gz", made);
    gzFile file = gzopen(path, "w");
    assert_non_null(file);
    assert_int_equal(gzwrite(file, text, sizeof text - 1), sizeof text - 1);
    assert_int_equal(gzclose(file), Z_OK);
    assert_string_equal(advice_of("/usr/bin/tool", ID_A, false), "apt install tool-dbg");
    assert_int_equal(unlink(path), 0);
}

static void each_distribution_has_its_way(void **state)
{
    (void)state;
    static const struct {
        const char *release;
        const char *advice;
    } rows[] = {
        {"ID=ubuntu\nID_LIKE=debian\n", "set DEBUGINFOD_URLS=https://debuginfod.ubuntu.com, or apt "
                                        "install tool-dbgsym (archive: ddebs.ubuntu.com)"},
        {"ID_LIKE=\"ubuntu debian\"\nID='linuxmint'\n",
         "set DEBUGINFOD_URLS=https://debuginfod.ubuntu.com, or apt install tool-dbgsym (archive: "
         "ddebs.ubuntu.com)"},
        {"ID=strange\n", "set DEBUGINFOD_URLS=https://debuginfod.elfutils.org"},
        {"", "set DEBUGINFOD_URLS=https://debuginfod.elfutils.org"},
    };
    debian_make();
    list_write("");
    for (size_t i = 0; i < N_ELEMENTS(rows); i++) {
        file_write("/etc/os-release", rows[i].release);
        assert_string_equal(advice_of("/usr/bin/tool", ID_A, false), rows[i].advice);
    }
}

static bool is_written(const char *name, const char *content)
{
    char path[512], read[512] = "";
    snprintf(path, sizeof path, "%s%s", made, name);
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    (void)fread(read, 1, sizeof read - 1, file);
    fclose(file);
    return strcmp(read, content) == 0;
}

/* rpm is one of ours, which knows one file and of that two packages. */
static void rpm_is_asked_where_there_is_its_database(void **state)
{
    (void)state;
    char path[512];
    file_write("/fedora/etc/os-release", "ID=fedora\n");
    file_write("/fedora/var/lib/rpm/rpmdb.sqlite", "");
    file_write("/bin/rpm",
               "#!/bin/sh\ntest \"$LC_ALL $1 $3 $4\" = 'C --root --query --queryformat' "
               "|| exit 2\necho \"$2\" | grep -q fedora || exit 3\nif test \"$7\" = "
               "/usr/lib64/libthing.so.1\nthen echo thing-libs; echo thing-other\n"
               "else echo \"file $7 is not owned by any package\"; exit 1\nfi\n");
    snprintf(path, sizeof path, "%s/bin/rpm", made);
    assert_int_equal(chmod(path, 0700), 0);
    snprintf(path, sizeof path, "%s/bin:%s", made, usual_path);
    assert_int_equal(setenv("PATH", path, 1), 0);
    snprintf(path, sizeof path, "%s/fedora", made);
    const struct packages_system system = {.root = path};
    struct package_query queries[] = {{.path = "/usr/lib64/libthing.so.1", .build_id = ID_A},
                                      {.path = "/opt/other/tool", .build_id = ID_B}};
    packages_advise(&system, queries, 2);
    assert_string_equal(queries[0].advice,
                        "set DEBUGINFOD_URLS=https://debuginfod.fedoraproject.org, or dnf "
                        "debuginfo-install thing-libs");
    assert_string_equal(queries[1].advice, OWN);
    /* A path in a recording may be anything, such as an option of rpm that runs a command. */
    file_write("/bin/rpm", "#!/bin/sh\necho \"$7\" >>\"$2/asked\"\n");
    queries[0].path = "--eval=%(touch /tmp/x)";
    packages_advise(&system, queries, 2);
    assert_true(is_written("/fedora/asked", "/opt/other/tool\n"));
    assert_int_equal(setenv("PATH", usual_path, 1), 0);
}

static void without_such_data_the_folder_tells(void **state)
{
    (void)state;
    char root[128];
    file_write("/arch/etc/os-release", "ID=arch\n");
    snprintf(root, sizeof root, "%s/arch", made);
    const struct packages_system system = {.root = root};
    struct package_query queries[] = {{.path = "/usr/lib/libthing.so.1", .build_id = ID_A},
                                      {.path = "/usr/local/lib/libthing.so.1", .build_id = ID_A},
                                      {.path = "/srv/app/tool", .build_id = ID_A}};
    packages_advise(&system, queries, 3);
    assert_string_equal(queries[0].advice, "set DEBUGINFOD_URLS=https://debuginfod.archlinux.org");
    assert_string_equal(queries[1].advice, OWN);
    assert_string_equal(queries[2].advice, OWN);
}

/* ---- what is kept ---------------------------------------------------------------------------- */

static const char *kept_advice_of(const char *path, bool has_servers)
{
    static struct package_query query;
    const struct packages_system system = {
        .root = made, .has_servers = has_servers, .is_kept = true};
    query = (struct package_query){.path = path, .build_id = ID_A};
    packages_advise(&system, &query, 1);
    return query.advice;
}

static void advice_is_kept_until_something_is_installed(void **state)
{
    (void)state;
    debian_make();
    list_write(PARAGRAPH("tool-dbg", "1", ""));
    assert_string_equal(kept_advice_of("/usr/bin/tool", false), "apt install tool-dbg");
    assert_int_equal(setenv("PATH", "/nowhere", 1), 0); /* nothing can be found out any more */
    assert_string_equal(kept_advice_of("/usr/bin/tool", false), "apt install tool-dbg");
    assert_string_equal(kept_advice_of("/usr/bin/tool", true), OWN); /* another question */
    assert_string_equal(kept_advice_of("/usr/bin/too", false), DEBIAN);
    assert_string_equal(kept_advice_of("/usr/bin/tool", false), "apt install tool-dbg");
    assert_string_equal(advice_of("/usr/bin/tool", ID_A, false), DEBIAN); /* it is not to be used */
    file_write("/var/lib/dpkg/status", STATUS("tool", "tools"));
    assert_string_equal(kept_advice_of("/usr/bin/tool", false), DEBIAN);
    assert_int_equal(setenv("PATH", usual_path, 1), 0); /* what nobody answered was not kept */
    assert_string_equal(kept_advice_of("/usr/bin/tool", false), "apt install tool-dbg");
}

/* ---- commands -------------------------------------------------------------------------------- */

struct lines {
    size_t n;
    size_t n_bytes;
    char last[64];
};

static void line_count(void *context, struct text line)
{
    struct lines *lines = context;
    lines->n++;
    lines->n_bytes += line.length;
    snprintf(lines->last, sizeof lines->last, "%.*s", line.length < 64 ? (int)line.length : 63,
             line.bytes);
}

static int shell(const char *script, struct lines *lines)
{
    const char *const arguments[] = {"sh", "-c", script, NULL};
    *lines = (struct lines){0};
    return command_run(arguments, line_count, lines);
}

static void commands_give_their_lines(void **state)
{
    (void)state;
    struct lines lines;
    const char *const missing[] = {"no-such-command", NULL};
    assert_int_equal(0, shell("echo a; echo; printf b", &lines));
    assert_int_equal(lines.n, 3);
    assert_string_equal(lines.last, "b");
    assert_int_equal(3, shell("echo c; exit 3", &lines));
    assert_string_equal(lines.last, "c");
    assert_int_equal(COMMAND_FAILED, shell("kill $$", &lines));
    assert_int_equal(COMMAND_FAILED, command_run(missing, line_count, &lines));
    assert_int_equal(0, shell("echo one 1>&2; cat; printf %s \"$LC_ALL\"", &lines));
    assert_int_equal(lines.n, 1);
    assert_string_equal(lines.last, "C");
    assert_int_equal(0, shell("seq 100000", &lines));
    assert_int_equal(lines.n, 100000);
    assert_int_equal(lines.n_bytes, 488895);
}

/* One that hangs, and one that does so with its output closed. */
static void commands_end_in_time(void **state)
{
    (void)state;
    struct lines lines;
    assert_int_equal(COMMAND_FAILED, shell("echo a; exec sleep 300", &lines));
    assert_string_equal(lines.last, "a");
    assert_int_equal(COMMAND_FAILED, shell("exec sleep 300 >&-", &lines));
}

static void a_line_without_end_is_cut(void **state)
{
    (void)state;
    struct lines lines;
    assert_int_equal(0, shell("head -c 9000000 /dev/zero; echo; echo next", &lines));
    assert_int_equal(lines.n, 2);
    assert_int_equal(lines.n_bytes, COMMAND_LINE_BYTES + 4);
    assert_string_equal(lines.last, "next");
}

static void commands_are_not_profiled(void **state)
{
    (void)state;
    struct lines lines;
    assert_int_equal(setenv("SAMPLER_OUTPUT", "x", 1), 0);
    assert_int_equal(setenv("LD_PRELOAD", "", 1), 0);
    assert_int_equal(0, shell("env", &lines));
    size_t n = lines.n;
    assert_int_equal(unsetenv("SAMPLER_OUTPUT"), 0);
    assert_int_equal(unsetenv("LD_PRELOAD"), 0);
    assert_int_equal(0, shell("env", &lines));
    assert_int_equal(lines.n, n);
}

static void who_ignores_children_gets_lines_too(void **state)
{
    (void)state;
    struct lines lines;
    assert_true(signal(SIGCHLD, SIG_IGN) != SIG_ERR);
    assert_int_equal(0, shell("echo a", &lines));
    assert_string_equal(lines.last, "a");
    assert_true(signal(SIGCHLD, SIG_DFL) != SIG_ERR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_apt_does_not_know_is_at_the_server_or_in_the_archive),
        cmocka_unit_test(what_is_in_no_package_is_for_its_owner_to_build),
        cmocka_unit_test(the_debug_package_is_found_by_the_build_id_first),
        cmocka_unit_test(the_one_of_the_package_goes_before_the_one_of_its_source),
        cmocka_unit_test(another_version_is_said_to_be_one),
        cmocka_unit_test(lists_may_be_packed),
        cmocka_unit_test(each_distribution_has_its_way),
        cmocka_unit_test(rpm_is_asked_where_there_is_its_database),
        cmocka_unit_test(without_such_data_the_folder_tells),
        cmocka_unit_test(advice_is_kept_until_something_is_installed),
        cmocka_unit_test(commands_give_their_lines),
        cmocka_unit_test(commands_end_in_time),
        cmocka_unit_test(a_line_without_end_is_cut),
        cmocka_unit_test(commands_are_not_profiled),
        cmocka_unit_test(who_ignores_children_gets_lines_too),
    };
    return cmocka_run_group_tests(tests, system_make, system_remove);
}
