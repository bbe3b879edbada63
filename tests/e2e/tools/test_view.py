"""sampler view, and --open: a page is made where it can be, its path is printed, and the user's browser gets it, and only if asked."""

import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from e2e import SAMPLER, Skip, case, check, check_equal, check_one_line, clean_environment, main, run, sampler, sampler_run, test_program
from sprofile import Sprofile
from views import json_of, on_terminal, profile_of_labels

OPENED = "opened"


def browser(folder, name="my-browser", then="exit 0"):
    """A program that notes what it was asked to open."""
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as out:
        out.write("#!/bin/sh\necho \"$@\" >>%s/%s\n%s\n" % (folder, OPENED, then))
    os.chmod(path, 0o755)
    return path


def env(**variables):
    desktop = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    return {name: value for name, value in clean_environment(**variables).items() if name in variables or name not in desktop}


def opened():
    with open(OPENED, encoding="utf-8") as file:
        return file.read().splitlines()


def rows_of(path):
    return json.loads(sampler("top", "--json", "-n", "0", path).stdout)["rows"]


def small_profile(path="x.sprofile", source="part.c"):
    """With a file whose text can be found."""
    with open(source, "w", encoding="utf-8") as out:
        out.write("int first;\nint second;\n")
    profile = Sprofile()
    profile.add([(profile.function("main", os.path.abspath(source), 1), 2)], 1000000)
    profile.write(path)
    return path


@case
def path_is_printed(scratch):
    """Nothing else on stdout; the page has what the profile has, and the text of its source."""
    small_profile()
    os.mkdir("elsewhere")
    result = sampler("view", "-q", "../x.sprofile", cwd="elsewhere", env=env(BROWSER=browser(scratch)))
    check_equal((result.status, result.stdout, result.stderr), (0, b"x.html\n", ""), "status, stdout, stderr")
    check_equal(rows_of("elsewhere/x.html"), rows_of("x.sprofile"), "rows")
    os.remove("part.c")
    check(b"int second;" in sampler("list", "main", "elsewhere/x.html").stdout, "the text of the source")
    check(not os.path.exists(OPENED), "opened unasked: %r", os.listdir("."))
    result = sampler("view", "-o", "a.html", "-o", "b.svg", "x.sprofile")
    check_equal((result.status, result.stdout), (0, b"a.html\nb.svg\n"), "several outputs")
    check("source: 0 files embedded; 1 not here (sampler view --source-path" in result.stderr, "said: %s", result.stderr)
    check_one_line(sampler("view", "-o", "a.folded", "x.sprofile"), 2, "a.folded", "FILE.html", "sampler convert")
    check_one_line(sampler("view", "nowhere.sprofile"), 1, "nowhere.sprofile")


@case
def parts_and_pages(_scratch):
    """A part of a profile; a page that is there already is not written again, but for a part of it."""
    profile_of_labels()
    check_equal(sampler("view", "-q", "--label", "first", "x.sprofile").status, 0, "status")
    os.rename("x.html", "part.html")
    check_equal(rows_of("part.html"), json_of("top", "-n", "0", "--label", "first")["rows"], "rows of the part")
    before = os.stat("part.html")
    result = sampler("view", "part.html")
    check_equal((result.status, result.stdout, result.stderr), (0, b"part.html\n", ""), "a page")
    check_equal(os.stat("part.html").st_mtime_ns, before.st_mtime_ns, "time of the page")
    check_one_line(sampler("view", "--thread", "1", "--process", "api_work", "part.html"), 1)
    check_one_line(sampler("view", "--label", "first", "part.html"), 2, "part.html", "is the input", "-o FILE")
    check_equal(sampler("view", "-q", "--label", "first", "-o", "again.html", "part.html").status, 0, "with a name")
    result = sampler("view", "-q")
    check_equal((result.status, result.stdout), (0, b"x.html\n"), "the newest run")


@case
def pages_from_elsewhere(scratch):
    """What is not what we would write is not what a browser gets; its profile is, in a page of ours. Files that are none of ours stay."""
    mine = env(BROWSER=browser(scratch), TMPDIR=scratch)
    small_profile()
    check_equal(sampler("view", "-q", "x.sprofile").status, 0, "status")
    with open("x.html", "rb") as file:
        page = file.read()
    profile_at = page.index(b'application/octet-stream">') + 26
    edits = {"before": b"<script>evil</script>" + page, "in": page[:profile_at] + b"</script><script>evil</script>" + page[profile_at:],
             "after": page + b"<script>evil</script>", "policy": page.replace(b"default-src", b"default-SRC")}
    for name, edited in edits.items():
        with open(name + ".html", "wb") as file:
            file.write(edited)
        if name == "in":  # whose profile ends there
            check(sampler("view", "-q", "--open", "in.html", env=mine).status != 0 and not os.path.exists(OPENED), "opened")
            continue
        result = sampler("view", "--open", name + ".html", env=mine)
        path = result.stdout.decode().rstrip("\n")
        check_equal((result.status, os.path.basename(path), path.startswith(scratch + "/sampler-")), (0, name + ".html", True), "status, path")
        check("made anew" in result.stderr, "said: %s", result.stderr)
        check_equal(opened(), ["file://" + path], "opened")
        with open(path, "rb") as file:
            check_equal(file.read(), page, "page")
        with open(name + ".html", "rb") as file:
            check_equal(file.read(), edited, "the page that was given")
        os.remove(OPENED)
    with open("x.html", "w", encoding="utf-8") as file:
        file.write("<html>mine</html>")
    check_one_line(sampler("view", "-q", "x.sprofile"), 2, "x.html", "no page by Sampler", "-o FILE")
    with open("x.html", encoding="utf-8") as file:
        check_equal(file.read(), "<html>mine</html>", "a file of the user's")
    check_equal(sampler("view", "-q", "-o", "x.html", "x.sprofile").status, 0, "when it is named")
    os.remove("x.html")
    os.symlink("nowhere", "x.html")
    check_one_line(sampler("view", "-q", "x.sprofile"), 2, "x.html", "-o FILE")


@case
def names_and_streams(_scratch):
    """Of stdin, of a file whose name begins as an option does, and where stdout takes nothing."""
    small_profile()
    with open("x.sprofile", "rb") as file:
        result = run([SAMPLER, "view", "-q", "-"], stdin=file)
    check_equal((result.status, result.stdout), (0, b"stdin.html\n"), "of stdin")
    os.rename("x.sprofile", "-x.sprofile")
    result = sampler("view", "-q", "--", "-x.sprofile")
    check_equal((result.status, result.stdout), (0, b"./-x.html\n"), "of a name like an option")
    with open("/dev/full", "wb") as full:
        result = subprocess.run([SAMPLER, "view", "-q", "./-x.sprofile"], stdout=full, stderr=subprocess.PIPE, check=False)
    check(result.returncode == 1 and b"stdout" in result.stderr, "where nothing can be written: %r", result)


@case
def where_nothing_can_be_written(_scratch):
    """The page then goes to a folder of its own where temporary files go, which nobody else reads; of a failure nothing is left there."""
    if os.getuid() != 0 or shutil.which("setpriv") is None:
        raise Skip("needs root and setpriv")
    shutil.copytree(os.path.dirname(SAMPLER), "bin")
    small_profile()
    os.mkdir("temporary")
    os.chown("temporary", 65534, 65534)
    os.chmod(".", 0o755)
    as_nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", os.path.abspath("bin/sampler"), "view", "-q"]
    there = env(TMPDIR=os.path.abspath("temporary"))
    result = run(as_nobody + ["x.sprofile"], env=there)
    path = result.stdout.decode().rstrip("\n")
    check_equal((result.status, os.path.basename(path), os.path.dirname(os.path.dirname(path))), (0, "x.html", os.path.abspath("temporary")),
                "status, path")
    check_equal(os.stat(os.path.dirname(path)).st_mode & 0o777, 0o700, "mode of its folder")
    check_equal(rows_of(path), rows_of("x.sprofile"), "rows")
    shutil.rmtree(os.path.dirname(path))
    check_equal(run(as_nobody + ["bin/sampler"], env=there).status, 1, "status of what is no profile")
    check_equal(os.listdir("temporary"), [], "left there")
    check_one_line(run(as_nobody + ["x.sprofile"], env=env(TMPDIR="/nowhere")), 1, "/nowhere", "no page can be written here")


@case
def the_browser_is_asked(scratch):
    """Only with --open, by a URL; the next one if the first cannot; why, if none can."""
    folder = os.path.join(scratch, "b\u00e4r 100%#?")
    os.mkdir(folder)
    small_profile(os.path.join(folder, "x.sprofile"))
    mine = browser(scratch)
    result = sampler("view", "-q", "--open", "x.sprofile", cwd=folder, env=env(BROWSER=mine))
    check_equal((result.status, result.stdout, result.stderr), (0, b"x.html\n", ""), "status, stdout, stderr")
    url = "file://" + scratch + "/b%C3%A4r%20100%25%23%3F/x.html"
    check_equal(opened(), [url], "what it was asked")
    os.remove(OPENED)
    failing = browser(scratch, "failing", "exit 3")
    result = sampler("view", "-q", "--open", "x.sprofile", cwd=folder, env=env(BROWSER=":".join(["/nowhere/at-all", failing, mine])))
    check_equal((result.status, opened()), (0, [url, url]), "the next one")
    os.remove(OPENED)
    for command, wanted in ((mine + " --new %s %s", "--new " + url + " %s"), (" " + mine + "  --app=%s", "--app=" + url), (mine + " -a -b", "-a -b " + url),
                            (mine + " ;touch", ";touch " + url)):
        check_equal(sampler("view", "-q", "--open", "x.sprofile", cwd=folder, env=env(BROWSER=command)).status, 0, command)
        check_equal(opened(), [wanted], "words of the command")
        os.remove(OPENED)
    check_one_line(sampler("view", "-q", "--open", "x.sprofile", cwd=folder, env=env(BROWSER=failing)), 1, "x.html", "failing", "BROWSER")
    check_one_line(sampler("view", "-q", "--open", "x.sprofile", cwd=folder, env=env(PATH=scratch)), 1, "x.html", "no display", "copy the file")
    desktop = browser(scratch, "xdg-open")
    os.remove(OPENED)
    check_equal(sampler("view", "-q", "--open", "x.sprofile", cwd=folder, env=env(PATH=os.path.dirname(desktop) + ":/usr/bin:/bin", DISPLAY=":9")).status, 0, "desktop")
    check_equal(opened(), [url], "what the desktop was asked")
    os.remove(desktop)
    check_one_line(sampler("view", "-q", "--open", "x.sprofile", cwd=folder, env=env(PATH=scratch, DISPLAY=":9")), 1, "x.html", "no browser", "BROWSER")
    check_one_line(sampler("view", "-q", "--open", "-o", "/dev/null", "x.sprofile", cwd=folder), 2, "/dev/null")


@case
def a_browser_that_stays(scratch):
    """It goes on when we have ended, in a session of its own, and has nothing of our terminal."""
    small_profile()
    staying = browser(scratch, "staying", "ps -o sid= -p $$ >sid; ls -l /proc/$$/fd/0 /proc/$$/fd/1 /proc/$$/fd/2 | cat >fds; echo $$ >pid; exec sleep 60")
    result = sampler("view", "-q", "--open", "x.sprofile", env=env(BROWSER=staying))
    check_equal((result.status, result.stdout, result.stderr), (0, b"x.html\n", ""), "status, stdout, stderr")
    with open("pid", encoding="utf-8") as file:
        pid = int(file.read())
    os.kill(pid, 9)
    with open("sid", encoding="utf-8") as file:
        check_equal(int(file.read()), pid, "session")
    with open("fds", encoding="utf-8") as file:
        check_equal(file.read().count("/dev/null"), 3, "stdin, stdout, stderr")


def on_terminal_through_a_pipe(lines, seconds):
    """What a terminal shows while `sampler top` waits so long for a file; it comes through a pipe."""
    os.mkfifo("slow.folded")
    writer = subprocess.Popen(["sh", "-c", "exec >slow.folded; sleep %s; printf '%s'" % (seconds, lines)])
    text = on_terminal(80, 40, "top", "slow.folded", streams=(1, 2))
    writer.wait()
    os.remove("slow.folded")
    return text


@case
def a_sign_of_life(_scratch):
    """On a terminal, of what takes longer than a second; it goes when the work is done, and a message takes its place."""
    text = on_terminal_through_a_pipe("main 5\\n", 2.5)
    check("\rsampler: reading slow.folded, 1 s " in text and "reading slow.folded, 2 s " in text, "no sign of life: %r", text)
    last = text[text.rindex("reading"):]
    check("\r\033[K" in last and last.index("\r\033[K") < last.index("main"), "it stays: %r", last)
    text = on_terminal_through_a_pipe("main x\\nmain 5\\n", 1.5)
    check("\r\033[Ksampler: slow.folded: line 1" in text, "a message in its place: %r", text)
    text = on_terminal_through_a_pipe("main 5\\n", 0.1)
    check("reading" not in text, "of short work: %r", text)
    small_profile()
    check("\033" not in sampler("view", "x.sprofile").stderr, "in a pipe")


@case
def a_run_is_opened(scratch):
    """With the page that is named, or one that is added and has the source; the command's exit status is kept."""
    mine = env(BROWSER=browser(scratch))
    command = [test_program("api_work"), "labels", "100"]
    result = sampler_run(["-q", "--open"], command, env=mine)
    check_equal((result.status, result.stderr), (0, ""), "status, stderr")
    page, = [name for name in os.listdir(".") if name.endswith(".html")]
    check_equal(sorted(name.split(".")[-1] for name in os.listdir(".") if name.startswith("api_work")), ["folded", "html", "sprofile"], "files")
    check_equal(opened(), ["file://" + scratch + "/" + page], "what was opened")
    check_equal(rows_of(page), rows_of(page.replace(".html", ".sprofile")), "rows")
    check(b"source:" in sampler("dump", page).stdout, "no source in the page")
    check(b"source:" not in sampler("dump", page.replace(".html", ".sprofile")).stdout, "source in the profile")
    for output in ("named.html", "named.svg"):
        os.remove(OPENED)
        result = sampler_run(["-q", "--open", "-o", "x.sprofile", "-o", output], command, env=mine)
        check_equal((result.status, opened()), (0, ["file://" + scratch + "/" + output]), "the one that is named")
    check_equal(len([name for name in os.listdir(".") if name.endswith(".html")]), 2, "pages")
    result = sampler_run(["-q", "--open", "-o", "y.sprofile"], ["sh", "-c", "exit 7"], env=env())
    check_one_line(result, 7, ".html", "no display")
    os.remove(OPENED)
    several = ["sh", "-c", "echo $$ >pid; %s; %s; true" % ((" ".join(command),) * 2)]
    sampler_run(["-q", "--open", "--processes", "split", "-o", "p.%p.html"], several, env=mine)
    with open("pid", encoding="utf-8") as file:
        check_equal(opened(), ["file://%s/p.%s.html" % (scratch, file.read().strip())], "of several pages")
    check(len([name for name in os.listdir(".") if name.startswith("p.")]) == 3, "pages: %r", os.listdir("."))
    check_one_line(sampler_run(["--open", "-f", "folded"], ["true"]), 125, "--open", "folded")


@case
def a_comparison_is_opened(scratch):
    for name in ("a.sprofile", "b.sprofile"):
        small_profile(name)
    mine = env(BROWSER=browser(scratch))
    result = sampler("diff", "a.sprofile", "b.sprofile", "-o", "c.diff.folded", "-o", "c.html", "--open", env=mine)
    check_equal((result.status, result.stderr), (0, ""), "status, stderr")
    check_equal(opened(), ["file://" + scratch + "/c.html"], "what was opened")
    check_one_line(sampler("diff", "a.sprofile", "b.sprofile", "--open", env=mine), 2, "--open", "-o FILE.html")


if __name__ == "__main__":
    main()
