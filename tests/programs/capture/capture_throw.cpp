// capture_throw.cpp - capture_throw COUNT: exceptions through many frames, while a plugin-less
// program does nothing else.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace
{
struct Guard {
    explicit Guard(int &counter) : counter(counter)
    {
        counter++;
    }
    ~Guard()
    {
        counter--;
    }
    int &counter;
};

__attribute__((noinline)) int descend(int depth, int &open)
{
    Guard guard(open);
    if (depth == 0)
        throw std::runtime_error("from the bottom");
    return descend(depth - 1, open) + 1;
}
} // namespace

int main(int argc, char **argv)
{
    int open = 0, caught = 0, count = argc > 1 ? std::atoi(argv[1]) : 1000;
    for (int i = 0; i < count; i++) {
        try {
            descend(20 + i % 80, open);
        } catch (const std::exception &error) {
            caught += std::string(error.what()) == "from the bottom";
        }
    }
    std::printf("%d caught, %d open\n", caught, open);
    return caught == count && open == 0 ? 0 : 1;
}
