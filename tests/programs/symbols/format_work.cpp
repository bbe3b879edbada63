/* format_work.cpp SECONDS - names that formats have to carry: templates, inlined functions,
 * lambdas, non-ASCII, a symbol with ';' and blanks; in five threads with odd names, one of which
 * sleeps a lot. Each thread uses its share of SECONDS of CPU time. */
#include "format_work.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <pthread.h>
#include <string>
#include <thread>
#include <time.h>
#include <vector>

static volatile double sink;

template <typename Key, typename Value> struct Table {
    std::map<Key, std::vector<Value>> rows;
    inline void add(const Key &key, Value value)
    {
        rows[key].push_back(value);
    }
    inline Value sum() const
    {
        Value all = 0;
        for (const auto &row : rows)
            for (Value value : row.second)
                all += std::sqrt(value);
        return all;
    }
};

template <int N> static inline double spin(double x)
{
    for (int i = 0; i < N; i++)
        x = std::sin(x) + i;
    return x;
}

namespace été
{
__attribute__((noinline)) double größe(double x)
{
    return spin<3000>(x) + spin<1000>(x);
}
} // namespace été

struct Functor {
    double operator()(double a) const
    {
        return été::größe(a);
    }
};

__attribute__((noinline)) static double recurse(int n, double x)
{
    return n == 0 ? spin<200>(x) : recurse(n - 1, x) + 1;
}

static double cpu_seconds()
{
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

enum class Kind { Tables, Sorting, Sleepy };

static void work_once(Kind kind)
{
    if (kind == Kind::Tables) {
        Table<std::string, double> table;
        for (int i = 0; i < 2000; i++)
            table.add(std::to_string(i * 7919 % 97), i);
        sink = table.sum() + Functor()(1);
    } else if (kind == Kind::Sorting) {
        std::vector<int> numbers(20000);
        for (size_t i = 0; i < numbers.size(); i++)
            numbers[i] = (int)(i * 7919 % 10007);
        std::sort(numbers.begin(), numbers.end(), [](int a, int b) { return a > b; });
        sink = numbers[0] + recurse(50, 1);
    } else {
        for (int i = 0; i < 20; i++)
            sink = odd_call(2) + été::größe(3);
        const timespec nap = {0, 10000000};
        nanosleep(&nap, nullptr);
    }
}

static void work(const char *name, double seconds, Kind kind)
{
    pthread_setname_np(pthread_self(), name);
    while (cpu_seconds() < seconds)
        work_once(kind);
}

int main(int argc, char **argv)
{
    const double seconds = argc > 1 ? atof(argv[1]) : 1;
    std::vector<std::thread> threads;
    threads.emplace_back(work, "a b;c", seconds, Kind::Tables);
    threads.emplace_back(work, "\"quoted\" é", seconds, Kind::Sorting);
    threads.emplace_back(work, "日本\\%d", seconds / 2, Kind::Sleepy);
    threads.emplace_back(work, "", seconds / 2, Kind::Sorting);
    work("main;thread", seconds / 2, Kind::Tables);
    for (std::thread &thread : threads)
        thread.join();
}
