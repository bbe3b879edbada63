// throws N - throws N times through 40 frames with destructors; prints what was caught.
#include <cstdio>
#include <cstdlib>

namespace
{
volatile unsigned long n_destroyed;

struct Guard {
    unsigned level;
    explicit Guard(unsigned at) : level(at)
    {
    }
    ~Guard()
    {
        n_destroyed = n_destroyed + level;
    }
};

__attribute__((noinline)) unsigned descend(unsigned level, unsigned value)
{
    Guard guard(level);
    if (level == 0)
        throw value;
    unsigned result = descend(level - 1, value + level);
    return result + guard.level; // keeps the call from becoming a jump
}
} // namespace

int main(int argc, char **argv)
{
    unsigned n = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 1000;
    unsigned long sum = 0;
    for (unsigned i = 0; i < n; i++) {
        try {
            sum += descend(40, i);
        } catch (unsigned value) {
            sum += value;
        }
    }
    std::printf("%lu %lu\n", sum, static_cast<unsigned long>(n_destroyed));
    return 0;
}
