"""What tests of the html page share: a page of some profile, and what its panels say."""

from e2e import check_equal, sampler


def convert(source, *words):
    check_equal(sampler("convert", "-q", *words, source, "-o", "x.html").status, 0, "convert")
    return "x.html"


def folded(lines):
    """x.folded of {stack: weight}."""
    with open("x.folded", "w", encoding="utf-8") as file:
        file.writelines("%s %d\n" % (stack, weight) for stack, weight in lines.items())
    return "x.folded"


def both(weight, total):
    """As the tools print it, of times under a second or not."""
    time = "%.1f ms" % (weight / 1e6) if total < 1e9 else "%.3f s" % (weight / 1e9)
    return "%.1f%% %s" % (100 * weight / total, time)


def focus(browser):
    browser.evaluate("document.getElementById('flame').focus()")


def details(browser):
    """Of the box walked to: its name, and the numbers by what they are of."""
    browser.settle()
    return browser.text("#details .name"), browser.evaluate(
        "Object.fromEntries([...document.querySelectorAll('#details dt')].map("
        "(what) => [what.textContent, what.nextSibling.textContent]))")
