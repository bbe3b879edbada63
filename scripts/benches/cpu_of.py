"""cpu_of.py FILE COMMAND...: runs a command and writes the CPU seconds of it and its children to FILE.

For a profiler that starts the command itself: between the two it shows the command's CPU without the profiler's.
"""

import os
import sys

pid = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(pid, 0)
with open(sys.argv[1], "w", encoding="ascii") as file:
    file.write("%.6f" % (usage.ru_utime + usage.ru_stime))
sys.exit(os.waitstatus_to_exitcode(status))
