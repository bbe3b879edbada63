/* test_account.c - what recordings add up to, and how it is told. */
#include <stdio.h>
#include <string.h>

#include "account/commands.h"
#include "account/print.h"
#include "recording_builder.h"
#include "unit.h"

static void builder_child(struct recording_builder *b, uint64_t time, uint64_t why,
                          const char *path)
{
    builder_byte(b, CAPTURE_CHILD);
    builder_varint(b, time);
    builder_varint(b, why);
    builder_text(b, path, strlen(path));
}

/* A process with a complete stack, one cut for each of two reasons, losses and children. */
static void process_build(struct recording_builder *b)
{
    builder_init(b);
    struct capture_header *header = builder_header(b);
    header->start_cpu_ns = 1000000;
    header->end_cpu_ns = 101000000;
    header->end_time_ns = header->start_time_ns + 200000000;
    header->end = CAPTURE_EXITED;
    header->exit_status = 3;
    header->n_ticks = 70;
    header->handler_ns = 500000;
    header->n_threads_found = 1;
    header->n_children_missed = 3;
    header->paused_cpu_ns = 20000000;
    header->lost[CAPTURE_LOST_DISK] = 4;
    header->lost[CAPTURE_LOST_NODES] = 2;
    header->lost[CAPTURE_LOST_BLOCKED] = 1;
    builder_chunk(b, 0, 0);
    builder_info(b, "command", "./app\0-x\033[2J\n", 14);
    builder_info(b, "stopped", "a fence", 7);
    builder_thread_start(b, 7, 0, 0, "main");
    builder_clock(b, CAPTURE_CLOCK_TIMER, 13);
    builder_node(b, 0, 0, 0, 0x1000);
    builder_node_cut(b, CAPTURE_CUT_NO_RULE);
    builder_node(b, 2, 0, 0, 0x2000);
    builder_node_cut(b, 77);
    builder_sample_weighted(b, CAPTURE_SAMPLE_WEIGHTED, 1, 60, 1);
    builder_sample_weighted(b, CAPTURE_SAMPLE_WEIGHTED, 1, 10, 3);
    builder_sample_weighted(b, CAPTURE_SAMPLE_CREDIT, 1, 3, 4);
    builder_child(b, 10, CAPTURE_CHILD_STATIC, "/bin/a\tb");
    builder_child(b, 11, CAPTURE_CHILD_STATIC, "/bin/a\tb");
    builder_child(b, 12, 99, "/bin/new");
}

static struct recording *recording_of(struct recording_builder *b)
{
    struct recording *recording = NULL;
    struct err err = ERR_INIT;
    assert_true(recording_read_memory(b->bytes, b->size_bytes, &recording, &err));
    return recording;
}

static void account_of(struct account *account, unsigned n_processes)
{
    assert_true(account_init(account));
    for (unsigned i = 0; i < n_processes; i++) {
        struct recording_builder b;
        process_build(&b);
        builder_header(&b)->pid = 100 + i;
        struct recording *recording = recording_of(&b);
        assert_true(account_add_recording(account, recording));
        recording_destroy(recording);
        builder_deinit(&b);
    }
}

/* The printed account, on the heap. */
static char *print(const struct account *account,
                   void (*how)(const struct account *, struct sink *))
{
    struct sink *sink = NULL;
    struct err err = ERR_INIT;
    size_t n = 0;
    assert_true(sink_create_buffer(&sink, &err));
    how(account, sink);
    const char *bytes = sink_buffer(sink, &n);
    char *copy = malloc(n + 1);
    assert_non_null(copy);
    memcpy(copy, bytes, n);
    copy[n] = '\0';
    assert_true(sink_close(sink, &err));
    return copy;
}

static void numbers_are_those_of_the_recording(void **state)
{
    (void)state;
    struct account account;
    account_of(&account, 1);
    account_add_start_up(&account, 0, 1000000);
    account_add_thread_exit(&account, 0, 500000);
    const struct account_process *process = &account.processes.items[0];
    const struct account_sums *sums = &process->sums;
    assert_int_equal(sums->n_samples, 2);
    assert_int_equal(sums->weight_ns, 73000000 + 1500000);
    assert_int_equal(sums->cpu_ns, 101000000);
    assert_int_equal(sums->start_up_ns, 1000000);
    assert_int_equal(sums->paused_ns, 20000000);
    assert_int_equal(account_cut_ns(sums), 13000000);
    assert_int_equal(sums->cut_ns[CAPTURE_CUT_NO_RULE], 10000000);
    assert_int_equal(sums->cut_ns[0], 3000000);
    assert_int_equal(account_lost(sums), 7);
    assert_int_equal(account_lost_ns(sums), 5000000); /* a full stack table loses no weight */
    assert_int_equal(account_main_clock(sums), CAPTURE_CLOCK_TIMER);
    assert_int_equal(sums->n_by_clock[CAPTURE_CLOCK_TIMER], 1);
    /* 2 samples in 101 - 1 - 0.5 - 20 ms */
    assert_true(account_rate_hz(sums) > 25.1 && account_rate_hz(sums) < 25.2);
    assert_memory_equal(sums, &account.all, sizeof *sums);
    assert_string_equal(process->command, "./app -x\033[2J\n");
    assert_int_equal(account.children.n, 2);
    const struct account_child *child = &account.children.items[0];
    assert_int_equal(child->n, 2);
    assert_int_equal(child->ppid, 100);
    account_deinit(&account);
}

/* Adding accounts is as good as adding their recordings. */
static void accounts_add_up(void **state)
{
    (void)state;
    struct account both, one, other;
    account_of(&both, 2);
    account_of(&one, 1);
    account_of(&other, 2);
    const struct account_module module = {.path = "/lib/x",
                                          .problem = "gone",
                                          .source = MODULE_DYNSYM,
                                          .self_ns = 10,
                                          .lineless_ns = 7,
                                          .build_id = "abcd",
                                          .advice = "seek"};
    assert_true(account_modules_push(&one.modules, module));
    assert_true(account_modules_push(&other.modules, module));
    other.modules.items[0].source = MODULE_SYMTAB;
    assert_true(account_add(&one, &other));
    account_deinit(&other);
    assert_int_equal(one.all.weight_ns, both.all.weight_ns + both.all.weight_ns / 2);
    assert_int_equal(one.all.n_processes, 3);
    assert_int_equal(one.processes.n, 3);
    assert_int_equal(one.frequency_hz, 1000);
    assert_int_equal(one.children.n, 4);
    assert_int_equal(one.children.items[0].n, 4);
    assert_int_equal(one.modules.n, 1);
    const struct account_module *added = &one.modules.items[0];
    assert_int_equal(added->self_ns, 20);
    assert_int_equal(added->lineless_ns, 14);
    assert_int_equal(added->source, MODULE_SYMTAB);
    assert_string_equal(added->path, "/lib/x");
    assert_string_equal(added->advice, "seek");
    account_deinit(&one);
    account_deinit(&both);
}

/* One with 100 ms, and one that was killed, of which 73 + 5 of 20 were paused. */
static void account_of_run_is_whole(struct account *account)
{
    uint64_t pid = account->processes.items[0].pid;
    assert_true(account_set_run(account, pid, 900000000));
    assert_true(account->all.cpu_known);
    assert_int_equal(account->all.cpu_ns, 100000000 + 98000000 + 10000000 + 2 * 1000000);
    assert_int_equal(account->unrecorded_ns, 900000000 - account->all.cpu_ns);
    assert_int_equal(account->run_cpu_ns, 900000000);
    assert_true(account_set_run(account, pid, 800000000)); /* once */
    assert_int_equal(account->run_cpu_ns, 900000000);
}

static void a_recording_without_end_leaves_the_cpu_unknown(void **state)
{
    (void)state;
    struct account account;
    account_of(&account, 1);
    struct recording_builder b;
    process_build(&b);
    builder_header(&b)->end = CAPTURE_RUNNING;
    builder_header(&b)->end_cpu_ns = 0;
    builder_header(&b)->pid = 500;
    builder_header(&b)->ppid = 100;
    builder_header(&b)->start_time_ns -= 1000000000; /* its parent outlived it */
    struct recording *recording = recording_of(&b);
    assert_true(account_add_recording(&account, recording));
    assert_false(account.all.cpu_known);
    assert_int_equal(account.all.n_unended, 1);
    char *json = print(&account, account_print_json);
    assert_non_null(strstr(json, "\"total\": {\n  \"cpu_ns\": null"));
    assert_non_null(strstr(json, "\"explained_share\": null"));
    assert_non_null(strstr(json, "\"exit_status\": 3"));
    assert_non_null(strstr(json, "\"exit_status\": null"));
    free(json);
    account_of_run_is_whole(&account);
    recording_destroy(recording);
    builder_deinit(&b);
    account_deinit(&account);
}

static void both_prints_name_what_there_is(void **state)
{
    (void)state;
    struct account account;
    account_of(&account, 2);
    const struct account_module app = {.path = "/bin/app",
                                       .problem = MODULE_PROBLEM_NO_DEBUG,
                                       .source = MODULE_NO_NAMES,
                                       .self_ns = 40000000,
                                       .lineless_ns = 40000000,
                                       .build_id = "0123ab",
                                       .advice = "apt install app-dbg\033[2J"};
    assert_true(account_modules_push(&account.modules, app));
    char *text = print(&account, account_print_text);
    static const char *const words[] = {
        "CPU time used                  0.200 s",
        "  accounted for                0.146 s   73.00 %",
        "  paused                       0.040 s",
        "  lost                         0.010 s    5.00 %",
        "disk_full                  0.008 s",
        "blocked                    0.002 s",
        "  left                         0.004 s",
        "Truncated stacks               0.026 s   17.81 %",
        "stacks_full: 4 times",
        "timer: 2 threads",
        "fallback: perf_event_open: Permission denied",
        "Ended early              a fence",
        "2 of them found later",
        "2 recorded; 6 that cannot be recorded",
        "/bin/a?b: statically linked (2 times)",
        "/bin/new: for an unknown reason",
        "exit  ./app -x?[2J?",
        "/bin/app: no names (no debug information for it)",
        "          apt install app-dbg?[2J",
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strstr(text, words[i]) == NULL)
            print_error("no '%s' in:\n%s\n", words[i], text);
        assert_non_null(strstr(text, words[i]));
    }
    assert_null(strchr(text, '\033'));
    free(text);
    char *json = print(&account, account_print_json);
    static const char *const keys[] = {
        "\"schema\": \"sampler-account-1\"",
        "\"why\": \"static\"",
        "\"why\": \"unknown\"",
        "\"path\": \"/bin/a\\tb\"",
        "\"no_rule\": 20000000",
        "\"clock_fallback\": \"perf_event_open: Permission denied\"",
        "\"why_stopped\": \"a fence\"",
        "\"names\": \"none\"",
        "\"build_id\": \"0123ab\"",
        "\"advice\": \"apt install app-dbg",
    };
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        assert_non_null(strstr(json, keys[i]));
    free(json);
    account_deinit(&account);
}

/* A recording alone has its row among the processes; several of a command have one together. */
static void processes_of_a_command_are_one_row(void **state)
{
    (void)state;
    struct account account;
    struct account_commands commands = {0};
    account_of(&account, 4);
    struct account_process *processes = account.processes.items;
    processes[1].name = "b";
    processes[1].sums.cpu_ns = 700000000;
    processes[2].sums.n_samples = 0;
    processes[3].sums.n_samples = 0;
    processes[3].sums.cpu_known = false;
    processes[3].sums.weight_ns = 5000000;
    account_add_start_up(&account, 2, 3000000);
    account_add_process_exit(&account, 2, 2000000);
    assert_true(account_commands_find(&account, &commands));
    assert_int_equal(commands.n, 2);
    assert_string_equal(commands.items[0].name, "b");
    assert_int_equal(commands.items[0].n_processes, 1);
    assert_int_equal(commands.items[0].used_ns, 700000000);
    assert_int_equal(commands.items[0].n_without_sample, 0);
    const struct account_command *app = &commands.items[1];
    assert_string_equal(app->name, "app");
    assert_int_equal(app->n_processes, 3);
    assert_int_equal(app->n_samples, 2);
    assert_int_equal(app->n_without_sample, 2);
    assert_int_equal(app->without_sample_ns, 100000000 + 5000000 + 5000000);
    assert_int_equal(app->used_ns, app->without_sample_ns + 100000000);
    assert_int_equal(app->start_up_ns, 3000000);
    assert_int_equal(app->process_exit_ns, 2000000);
    account_commands_deinit(&commands);
    char *text = print(&account, account_print_text);
    assert_non_null(
        strstr(text, "  without a sample             0.110 s   12.09 %  2 ended before"));
    assert_non_null(
        strstr(text, "\n        3    0.210 s    0.003 s    0.002 s         2         2  app\n"));
    free(text);
    char *json = print(&account, account_print_json);
    assert_non_null(
        strstr(json, "\"name\": \"app\",\n   \"processes\": 3,\n   \"without_sample\": 2"));
    free(json);
    account_deinit(&account);
    account_of(&account, 1);
    text = print(&account, account_print_text);
    assert_null(strstr(text, "processes       used"));
    assert_null(strstr(text, "without a sample"));
    free(text);
    account_deinit(&account);
}

/* Each value this version of the recording can hold has its words, and each other one too. */
static void every_value_has_words(void **state)
{
    (void)state;
    for (unsigned i = 0; i <= CAPTURE_LOST_ALL_BLOCKED; i++)
        assert_true(account_loss_word(i)->key[0] != '\0' && account_loss_word(i)->words[0] != '\0');
    for (unsigned i = CAPTURE_CUT_NO_RULE; i <= CAPTURE_CUT_NODES_FULL; i++)
        assert_string_not_equal(account_cut_word(i)->key, "unknown");
    for (unsigned i = 0; i <= CAPTURE_CLOCK_WALL; i++)
        assert_string_not_equal(account_clock_word(i)->key, "unknown");
    for (unsigned i = CAPTURE_CHILD_STATIC; i <= CAPTURE_CHILD_LIBC; i++)
        assert_string_not_equal(account_child_word(i)->key, "unknown");
    assert_string_equal(account_child_word(1000)->key, "unknown");
    assert_string_equal(account_loss_word(CAPTURE_N_LOSSES + 1)->key, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_those_of_the_recording),
        cmocka_unit_test(accounts_add_up),
        cmocka_unit_test(a_recording_without_end_leaves_the_cpu_unknown),
        cmocka_unit_test(both_prints_name_what_there_is),
        cmocka_unit_test(processes_of_a_command_are_one_row),
        cmocka_unit_test(every_value_has_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
