/* wall_state.c - see wall_state.h. */
#include "threads/wall_state.h"

#include "state/run.h"
#include "sys/os.h"

/* any context */
struct wall *wall_create(void)
{
    return os_map(sizeof(struct wall));
}

/* any context */
void wall_reset(struct wall *wall, uint64_t cpu_ns, uint64_t now_ns)
{
    for (uint32_t i = 0; i < WALL_PLACES; i++)
        wall->places[i].node = 0;
    wall->next_place = 0;
    wall->found_cpu_ns = 0;
    wall->found_in_call = false;
    wall->stand_node = 0;
    wall->cpu_ns = cpu_ns;
    wall->seen_ns = now_ns;
    wall->moved_ns = now_ns;
    wall->wait_ns = 0;
    wall->queued_ns = 0;
    wall->n_runs = 0;
    wall->ran = false;
    grid_init(&wall->wait, session.settings.step, 0, os_random());
    wall->off_seen_ns = now_ns - cpu_ns;
    wall->off_saved_ns = now_ns - cpu_ns;
    grid_init(&wall->off, session.settings.step, now_ns - cpu_ns, os_random());
    __atomic_store_n(&wall->next_look_ns, 0, __ATOMIC_RELAXED);
}

/* SIGNAL */
uint64_t wall_steps(struct wall *wall, uint64_t cpu_ns, uint64_t now_ns)
{
    uint64_t off_ns = now_ns - cpu_ns - wall->wait_ns;
    wall->off_saved_ns = off_ns;
    return grid_advance(&wall->off, off_ns);
}

/* SIGNAL */
uint64_t wall_wait_steps(struct wall *wall)
{
    return grid_advance(&wall->wait, wall->wait_ns);
}
