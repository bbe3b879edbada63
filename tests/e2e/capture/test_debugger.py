"""Under a debugger: whoever goes through a program step by step sees that program, not us."""

import ast
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from e2e import LIBRARY, case, check, check_equal, clean_environment, main, need, run

WORK = """
#include <poll.h>
#include <pthread.h>
#include <stddef.h>
static volatile unsigned long sum;
static void *work(void *unused) {
    for (int k = 0; k < 400; k++) {
        for (int i = 0; i < 300; i++) sum += i;
        sum++;
        poll(NULL, 0, 1);
        sum += 2;
    }
    return unused;
}
int main(void) {
    pthread_t other;
    pthread_create(&other, NULL, work, NULL);
    work(NULL);
    pthread_join(other, NULL);
    return 0;
}
"""
# Where a tick comes in the middle of a step depends on chance: the more steps, the more often.
GDB = """
set confirm off
set pagination off
set startup-with-shell off
set debug-file-directory /nonexistent
set env LD_PRELOAD %s
set env SAMPLER_FREQUENCY 4999
set env SAMPLER_CLOCK %s
set env SAMPLER_EVENT %s
set env SAMPLER_QUIET 1
break work
run
python
gdb.execute("delete")
places = {}
for i in range(100):
    gdb.execute("%s", to_string=True)
    frame = gdb.selected_frame()
    symtab = frame.find_sal().symtab
    where = frame.name() if symtab is None else symtab.filename
    places[where] = places.get(where, 0) + 1
print("places", sorted(places))
end
kill
"""


def check_steps(command, is_right):
    with open("work.c", "w", encoding="utf-8") as file:
        file.write(WORK)
    check_equal(run([need("gcc"), "-O0", "-g", "-pthread", "-o", "work", "work.c"]).status, 0, "gcc")
    for clock, event in (("perf", "cpu"), ("timer", "cpu"), ("perf", "wall")):
        with open("commands", "w", encoding="utf-8") as file:
            file.write(GDB % (LIBRARY, clock, event, command))
        result = run([need("gdb"), "-q", "-batch", "-nx", "-x", "commands", "./work"], env=clean_environment())
        places = [line for line in result.stdout.decode().splitlines() if line.startswith("places")]
        check(len(places) == 1, "gdb: %s %s", result.stdout, result.stderr)
        print("  " + places[0])
        check(is_right(ast.literal_eval(places[0].split(" ", 1)[1])), "%s, %s, where `%s` leads: %s", clock, event, command, places[0])


@case
def next_line(_scratch):
    check_steps("next", lambda places: places == ["work.c"])


@case
def step_into(_scratch):
    """Goes over libc's functions, which have no lines, and over ours that stand before them. (Into a handler gdb steps now and
    then, whose ever it is and with lines or without.)"""
    check_steps("step", lambda places: "work.c" in places and not any("/" in place for place in places))


if __name__ == "__main__":
    main()
