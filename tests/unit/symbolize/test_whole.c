/* test_whole.c - how much CPU time there was: trees of processes of which the kernel's figure for the
 * command has a part, and the recordings another. */
#include "account/account.h"
#include "unit.h"

#define MS UINT64_C(1000000)
#define MAIN 10
#define ENDS MS /* what may pass where a process begins and ends */

/* A process that its parent waited for, with all it used. */
static struct account_process ended(uint64_t pid, uint64_t ppid, uint64_t cpu_ms)
{
    return (struct account_process){.pid = pid,
                                    .ppid = ppid,
                                    .start_time_ns = pid * 1000 * MS,
                                    .end_time_ns = (pid + 50) * 1000 * MS,
                                    .end_ppid = ppid,
                                    .children_known = true,
                                    .end = CAPTURE_EXITED,
                                    .clock_fallback = "",
                                    .unwaited = "",
                                    .why_stopped = "",
                                    .sums = {.measure = MEASURE_CPU,
                                             .weight_ns = cpu_ms * MS,
                                             .cpu_ns = cpu_ms * MS,
                                             .cpu_known = true,
                                             .length_ns = 50 * 1000 * MS,
                                             .n_threads = 1}};
}

/* One without an end; `cpu_ms` is what its samples stand for. */
static struct account_process killed(uint64_t pid, uint64_t ppid, uint64_t cpu_ms)
{
    struct account_process process = ended(pid, ppid, cpu_ms);
    process.end = CAPTURE_RUNNING;
    process.end_time_ns = process.end_ppid = 0;
    process.children_known = false;
    process.sums.cpu_ns = 0;
    process.sums.length_ns = 2000 * MS;
    process.sums.cpu_known = false;
    return process;
}

static struct account_process running(uint64_t pid, uint64_t ppid, uint64_t cpu_ms)
{
    struct account_process process = ended(pid, ppid, cpu_ms);
    process.end = CAPTURE_RUNNING;
    process.end_time_ns = process.end_ppid = 0;
    process.is_running = true;
    process.sums.length_ns = 2000 * MS;
    return process;
}

/* ... and that waited for children with that much. */
static struct account_process parent(struct account_process process, uint64_t children_ms)
{
    process.children_known = true;
    process.children_ns = children_ms * MS;
    return process;
}

struct tree {
    struct account account;
};

static void tree_begin(struct tree *tree)
{
    assert_true(account_init(&tree->account));
    tree->account.all.measure = MEASURE_CPU;
}

static void tree_add(struct tree *tree, struct account_process process)
{
    struct account_sums *all = &tree->account.all;
    assert_true(account_processes_push(&tree->account.processes, process));
    all->weight_ns += process.sums.weight_ns;
    all->cpu_ns += process.sums.cpu_ns;
    all->cpu_known &= process.sums.cpu_known;
    all->n_threads += process.sums.n_threads;
}

/* What the kernel says of the command, and what comes of it: what there was in all, and the part of it
 * that is in no recording. */
static void tree_end(struct tree *tree, uint64_t run_ms, uint64_t whole_ms, uint64_t unrecorded_ns)
{
    struct account *account = &tree->account;
    assert_true(account_set_run(account, MAIN, run_ms * MS));
    assert_true(account->all.cpu_known);
    assert_int_equal(account->unrecorded_ns, unrecorded_ns);
    assert_int_equal(account_whole_ns(account), whole_ms * MS);
    account_deinit(account);
}

static void what_was_waited_for_is_subtracted(void **state)
{
    (void)state;
    struct tree tree;
    tree_begin(&tree);
    tree_add(&tree, parent(ended(MAIN, 9, 100), 1500));
    tree_add(&tree, parent(ended(11, MAIN, 200), 300));
    tree_add(&tree, ended(12, 11, 300));
    tree_end(&tree, 1600, 1600, 1000 * MS - ENDS);
    tree_begin(&tree);
    tree_add(&tree, ended(MAIN, 9, 1000));
    tree_end(&tree, 1002, 1002, 2 * MS - ENDS);
    tree_begin(&tree);
    tree_add(&tree, ended(11, 77, 100)); /* of a command that took no library: its child */
    tree_end(&tree, 1100, 1100, 1000 * MS - ENDS);
    tree_begin(&tree); /* clocks may disagree */
    tree_add(&tree, ended(MAIN, 9, 1000));
    tree_end(&tree, 990, 1000, 0);
}

static void nobody_waited_for_an_orphan(void **state)
{
    (void)state;
    struct account_process orphan = ended(11, MAIN, 500), grandchild = ended(12, 11, 250);
    struct tree tree;
    orphan = parent(orphan, 250);
    orphan.end_ppid = 1;
    tree_begin(&tree);
    tree_add(&tree, ended(MAIN, 9, 100));
    tree_add(&tree, orphan);
    tree_add(&tree, grandchild);
    tree_end(&tree, 400, 100 + 500 + 250 + 300, 300 * MS - ENDS);
    tree_begin(&tree); /* the orphan waited for one that is in no recording */
    tree_add(&tree, ended(MAIN, 9, 100));
    tree_add(&tree, parent(orphan, 290));
    tree_add(&tree, grandchild);
    tree_end(&tree, 100, 100 + 500 + 290, 40 * MS - ENDS);
    tree_begin(&tree); /* the new parent is in the run, and waited for it */
    tree_add(&tree, parent(ended(MAIN, 9, 100), 500));
    orphan.end_ppid = MAIN;
    orphan.ppid = 77;
    tree_add(&tree, orphan);
    tree_end(&tree, 900, 900, 300 * MS - 2 * ENDS);
    tree_begin(&tree); /* its parent had gone when its recording began */
    tree_add(&tree, ended(MAIN, 9, 100));
    tree_add(&tree, ended(11, 1, 500));
    tree_end(&tree, 400, 900, 300 * MS - ENDS);
    tree_begin(
        &tree); /* or it was given to another that is none of ours, as by PR_SET_CHILD_SUBREAPER */
    tree_add(&tree, parent(ended(MAIN, 9, 100), 200));
    struct account_process given = ended(11, MAIN, 500);
    given.end_ppid = 5;
    tree_add(&tree, given);
    tree_end(&tree, 400, 900, 300 * MS - ENDS);
    tree_begin(&tree); /* the command itself may be a child of process 1 */
    tree_add(&tree, ended(MAIN, 1, 100));
    tree_end(&tree, 400, 400, 300 * MS - ENDS);
}

static void one_that_became_another_is_one_process(void **state)
{
    (void)state;
    struct account_process before = ended(11, MAIN, 50), after = ended(11, 1, 60);
    struct tree tree;
    before.end = CAPTURE_EXEC;
    before.end_time_ns = after.start_time_ns = 12 * 1000 * MS;
    tree_begin(&tree);
    tree_add(&tree, parent(after, 70)); /* in any order; an orphan by the time of its exec */
    tree_add(&tree, before);
    tree_add(&tree, ended(MAIN, 9, 100));
    tree_end(&tree, 400, 100 + 110 + 70 + 300, 370 * MS - ENDS);
}

static void what_still_runs_was_not_waited_for(void **state)
{
    (void)state;
    struct tree tree;
    tree_begin(&tree);
    tree_add(&tree, ended(MAIN, 9, 100));
    tree_add(&tree, running(11, MAIN, 5000));
    tree_end(&tree, 100, 5100, 0);
    tree_begin(&tree); /* nor has it waited for all of its own */
    tree_add(&tree, parent(ended(MAIN, 9, 100), 1));
    tree_add(&tree, parent(running(11, MAIN, 5000), 1200));
    tree_add(&tree, ended(12, 11, 1000));
    tree_end(&tree, 100, 6300, 200 * MS - ENDS);
}

/* One that left its children as they were is told by their absence from its figure, or by its word. */
static void not_all_parents_wait(void **state)
{
    (void)state;
    struct account_process main = ended(MAIN, 9, 100);
    struct tree tree;
    tree_begin(&tree); /* SIGCHLD is ignored: the kernel adds nothing */
    tree_add(&tree, main);
    tree_add(&tree, ended(11, MAIN, 500));
    tree_end(&tree, 400, 900, 300 * MS - ENDS);
    tree_begin(&tree);
    main.unwaited = "111 11 ";
    tree_add(&tree, parent(main, 300));
    tree_add(&tree, ended(11, MAIN, 500));
    tree_add(&tree, ended(12, MAIN, 300));
    tree_end(&tree, 700, 1200, 300 * MS - ENDS);
    tree_begin(&tree); /* that was another */
    main.unwaited = "111 ";
    tree_add(&tree, parent(main, 300));
    tree_add(&tree, ended(11, MAIN, 300));
    tree_end(&tree, 400, 400, 0);
    tree_begin(&tree); /* before there was a word for it */
    main.unwaited = "";
    main.children_known = false;
    tree_add(&tree, main);
    tree_add(&tree, ended(11, MAIN, 300));
    tree_end(&tree, 400, 400, 0);
}

static void what_a_killed_one_used_last_is_its_own(void **state)
{
    (void)state;
    struct account_process orphan = killed(11, MAIN, 500), main = parent(ended(MAIN, 9, 100), 510);
    struct tree tree;
    tree_begin(&tree);
    tree_add(&tree, main);
    tree_add(&tree, killed(11, MAIN, 500));
    tree_end(&tree, 610, 610, 0);
    tree_begin(&tree); /* more than a tick and an end: of others */
    main.children_ns = 540 * MS;
    tree_add(&tree, main);
    tree_add(&tree, killed(11, MAIN, 500));
    tree_end(&tree, 640, 640, 30 * MS - ENDS);
    tree_begin(&tree); /* the kernel's figure has it not: its parent was gone before it was */
    main.end_time_ns = orphan.start_time_ns + 1999 * MS;
    main.children_ns = 0;
    tree_add(&tree, main);
    tree_add(&tree, orphan);
    tree_end(&tree, 100, 600, 0);
}

/* Whose it is is not told apart. */
static void what_a_killed_one_used_while_stopped_was_not_wanted(void **state)
{
    (void)state;
    struct tree tree;
    for (unsigned i = 0; i < 3; i++) { /* whichever is the first */
        struct account_process killed_ones[3] = {killed(11, MAIN, 500), killed(12, MAIN, 500),
                                                 killed(13, MAIN, 500)};
        killed_ones[i].ends_stopped = true;
        tree_begin(&tree);
        tree_add(&tree, parent(ended(MAIN, 9, 100), 4900));
        for (unsigned k = 0; k < 3; k++)
            tree_add(&tree, killed_ones[k]);
        tree_end(&tree, 5000, 1600, 0);
    }
}

/* What the kernel took to remove the process that was added as number `index`. */
static uint64_t exit_ns(const struct tree *tree, size_t index)
{
    return tree->account.processes.items[index].exit_ns;
}

/* The command with children, one of which has a child. */
static void family_add(struct tree *tree, uint64_t microseconds_more)
{
    tree_begin(tree);
    tree_add(tree, parent(ended(MAIN, 9, 100), 600));
    tree_add(tree, parent(ended(11, MAIN, 200), 100));
    tree_add(tree, ended(12, 11, 100));
    tree_add(tree, ended(13, MAIN, 300));
    tree->account.processes.items[0].children_ns += microseconds_more * 1000;
}

static void exits_find(struct tree *tree, uint64_t run_ns)
{
    assert_true(account_find_exits(&tree->account, MAIN, run_ns));
}

static void removing_a_process_takes_time(void **state)
{
    (void)state;
    struct tree tree;
    family_add(&tree, 600);
    exits_find(&tree, 700 * MS + 800000);
    assert_int_equal(exit_ns(&tree, 0), 200000); /* sampler-run waited for it */
    assert_int_equal(exit_ns(&tree, 1), 300000); /* its parent for two        */
    assert_int_equal(exit_ns(&tree, 2), 0);
    assert_int_equal(exit_ns(&tree, 3), 300000);
    for (size_t i = 0; i < 4; i++) /* weights stand for it then, and nothing is left */
        account_add_process_exit(&tree.account, i, exit_ns(&tree, i));
    exits_find(&tree, 700 * MS + 800000);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(exit_ns(&tree, i), 0);
    assert_true(account_set_run(&tree.account, MAIN, 700 * MS + 800000));
    assert_int_equal(tree.account.all.cpu_ns, 700 * MS + 800000);
    account_deinit(&tree.account);
}

static void removing_takes_no_longer_than_there_is_memory(void **state)
{
    (void)state;
    struct tree tree;
    family_add(&tree, 9000);
    exits_find(&tree, 709 * MS);
    assert_int_equal(exit_ns(&tree, 1), ENDS);
    assert_int_equal(exit_ns(&tree, 3), ENDS);
    account_add_process_exit(&tree.account, 1, ENDS); /* and it is not taken for left once more */
    account_add_process_exit(&tree.account, 3, ENDS);
    tree_end(&tree, 709, 709, 9 * MS - 2 * ENDS);
    family_add(&tree, 9000);
    tree.account.processes.items[3].peak_bytes = 6000 * 4096;
    exits_find(&tree, 709 * MS);
    assert_int_equal(exit_ns(&tree, 1) + exit_ns(&tree, 3), 8 * MS);
    assert_int_equal(exit_ns(&tree, 3), 7 * exit_ns(&tree, 1));
    tree_end(&tree, 709, 709, MS);
}

/* Then it may have been something else. */
static void removing_is_not_told_from_what_is_not_recorded(void **state)
{
    (void)state;
    enum { PARENT_MISSED, CHILD_MISSED, KILLED, BECAME_ANOTHER, STOPPED, NOT_DOUBTFUL };
    for (unsigned doubt = PARENT_MISSED; doubt <= NOT_DOUBTFUL; doubt++) {
        struct tree tree;
        family_add(&tree, 600);
        struct account_process *processes = tree.account.processes.items;
        processes[0].sums.n_children_missed = doubt == PARENT_MISSED;
        processes[1].sums.n_children_missed = doubt == CHILD_MISSED; /* in what it waited for */
        if (doubt == KILLED)
            processes[3].end = CAPTURE_RUNNING;
        if (doubt == BECAME_ANOTHER)
            processes[3].end = CAPTURE_EXEC;
        processes[3].ends_stopped = doubt == STOPPED;
        exits_find(&tree, 700 * MS + 600000);
        bool is_known = doubt == NOT_DOUBTFUL || doubt == CHILD_MISSED;
        assert_int_equal(exit_ns(&tree, 1), is_known ? 300000 : 0);
        assert_int_equal(exit_ns(&tree, 3), is_known ? 300000 : 0);
        account_deinit(&tree.account);
    }
}

/* Recordings that somebody has picked: who waited for the command is not known, and there may be
 * others. */
static void without_a_run_the_parents_know(void **state)
{
    (void)state;
    struct tree tree;
    family_add(&tree, 600);
    exits_find(&tree, 0);
    assert_int_equal(exit_ns(&tree, 0), 0);
    assert_int_equal(exit_ns(&tree, 1), 300000);
    assert_int_equal(exit_ns(&tree, 3), 300000);
    account_deinit(&tree.account);
    family_add(&tree, 2001);
    exits_find(&tree, 0);
    assert_int_equal(exit_ns(&tree, 1), 0);
    account_deinit(&tree.account);
}

/* A process that is not recorded had children that are: no figure is what it should be. */
static void figures_that_do_not_add_up_are_looked_at_together(void **state)
{
    (void)state;
    struct tree tree;
    family_add(&tree, 0);
    tree_add(&tree, ended(21, 20, 50));
    tree.account.processes.items[1].children_ns += 80 * MS; /* of 20, which had waited for 21 */
    tree.account.processes.items[0].children_ns += 80 * MS;
    exits_find(&tree, 780 * MS);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(exit_ns(&tree, i), 0);
    tree_end(&tree, 780, 780, 30 * MS - 5 * ENDS);
}

/* The second process with that number is not the first one's. */
static void a_number_comes_again(void **state)
{
    (void)state;
    struct tree tree;
    struct account_process later = ended(12, 13, 50);
    later.start_time_ns += 60 * 1000 * MS;
    tree_begin(&tree);
    tree_add(&tree, parent(ended(MAIN, 9, 100), 510));
    tree_add(&tree, parent(ended(11, MAIN, 150), 110));
    tree_add(&tree, ended(12, 11, 100));
    tree_add(&tree, parent(ended(13, MAIN, 200), 50));
    tree_add(&tree, later);
    tree_end(&tree, 610, 610, 10 * MS - ENDS);
}

static void other_measures_and_unknown_runs_are_left_alone(void **state)
{
    (void)state;
    struct account account;
    assert_true(account_init(&account));
    assert_true(account_processes_push(&account.processes, killed(MAIN, 9, 100)));
    account.all.cpu_known = false;
    assert_true(account_set_run(&account, MAIN, 0));
    assert_false(account.all.cpu_known);
    account.all.measure = MEASURE_WALL;
    assert_true(account_set_run(&account, MAIN, 5));
    assert_false(account.all.cpu_known);
    assert_int_equal(account.unrecorded_ns, 0);
    assert_int_equal(account.run_cpu_ns, 5);
    account_deinit(&account);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_waited_for_is_subtracted),
        cmocka_unit_test(nobody_waited_for_an_orphan),
        cmocka_unit_test(one_that_became_another_is_one_process),
        cmocka_unit_test(what_still_runs_was_not_waited_for),
        cmocka_unit_test(not_all_parents_wait),
        cmocka_unit_test(what_a_killed_one_used_last_is_its_own),
        cmocka_unit_test(what_a_killed_one_used_while_stopped_was_not_wanted),
        cmocka_unit_test(removing_a_process_takes_time),
        cmocka_unit_test(removing_takes_no_longer_than_there_is_memory),
        cmocka_unit_test(removing_is_not_told_from_what_is_not_recorded),
        cmocka_unit_test(without_a_run_the_parents_know),
        cmocka_unit_test(figures_that_do_not_add_up_are_looked_at_together),
        cmocka_unit_test(a_number_comes_again),
        cmocka_unit_test(other_measures_and_unknown_runs_are_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
