"""What tests of the commands that show a profile to people share."""

import fcntl
import json
import os
import struct
import termios

from e2e import SAMPLER, check_equal, clean_environment, sampler, sampler_run, test_program


def profile_of_labels():
    """x.sprofile: labels first, second and none in the main thread, a thread with another label."""
    check_equal(sampler_run(["-q", "-o", "x.sprofile"], [test_program("api_work"), "labels", "200"]).status, 0, "status")


def json_of(command, *words):
    """What `sampler COMMAND --json WORDS` says of x.sprofile."""
    result = sampler(command, "--json", *words, "x.sprofile")
    check_equal((result.status, result.stderr), (0, ""), "status, stderr of %s %r" % (command, words))
    return json.loads(result.stdout)


def diff_of(*words):
    """What `sampler diff --json WORDS` says."""
    result = sampler("diff", "--json", *words)
    check_equal((result.status, result.stderr), (0, ""), "status, stderr of diff %r" % (words,))
    return json.loads(result.stdout)


def self_by_name(rows):
    sums = {}
    for row in rows:
        sums[row["name"]] = sums.get(row["name"], 0) + row["self"]
    return sums


def on_terminal(columns, rows, *words, streams=(1,), **variables):
    """What a terminal of that size gets from `sampler WORDS` on these of its file descriptors."""
    variables = {"TERM": "xterm", "LC_ALL": "C.UTF-8", "NO_COLOR": "1", "SAMPLER_PAGER": "cat", **variables}
    env = clean_environment(**variables)
    reading, writing = os.openpty()
    fcntl.ioctl(writing, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    pid = os.fork()
    if pid == 0:
        for stream in streams:
            os.dup2(writing, stream)
        os.execve(SAMPLER, [SAMPLER, *words], {key: value for key, value in env.items() if value != "None"})
    os.close(writing)
    text = b""
    while True:
        try:
            piece = os.read(reading, 65536)
        except OSError:  # the other end is closed
            break
        text += piece
    check_equal(os.waitpid(pid, 0)[1], 0, "status of %r" % (words,))
    os.close(reading)
    return text.decode().replace("\r\n", "\n")
