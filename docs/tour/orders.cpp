// orders.cpp - a small slow program for docs/tour.md: two threads read orders and add up what each customer spent.
//
//     g++ -std=c++17 -O2 -g -pthread orders.cpp -o orders
//     ./orders [MILLIONS_OF_ORDERS]
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <pthread.h>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace shop
{

struct order {
    std::string customer;
    double amount;
};

namespace detail
{

// "  Ada   LOVELACE " and "ada lovelace" are one customer.
inline std::string normalize(std::string_view name)
{
    std::string result;
    for (char c : name) {
        if (std::isspace(static_cast<unsigned char>(c)) && (result.empty() || result.back() == ' '))
            continue;
        result = result + static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    while (!result.empty() && result.back() == ' ')
        result.pop_back();
    return result;
}

template <typename Visit> void for_each_field(std::string_view line, Visit visit)
{
    for (int field = 0;; field++) {
        const size_t end = line.find(';');
        visit(field, line.substr(0, end));
        if (end == std::string_view::npos)
            return;
        line.remove_prefix(end + 1);
    }
}

} // namespace detail

order parse(std::string_view line)
{
    order result{};
    detail::for_each_field(line, [&result](int field, std::string_view text) {
        if (field == 1)
            result.customer = detail::normalize(text);
        else if (field == 2)
            result.amount = std::strtod(std::string(text).c_str(), nullptr);
    });
    return result;
}

template <typename Key> class ledger
{
  public:
    void add(const Key &key, double amount)
    {
        sums[key] += amount;
    }

    void merge(const ledger &other)
    {
        for (const auto &[key, amount] : other.sums)
            sums[key] += amount;
    }

    std::vector<std::pair<Key, double>> largest(size_t n) const
    {
        std::vector<std::pair<Key, double>> rows(sums.begin(), sums.end());
        std::sort(rows.begin(), rows.end(), [](const auto &a, const auto &b) { return a.second > b.second; });
        rows.resize(std::min(n, rows.size()));
        return rows;
    }

  private:
    std::map<Key, double> sums;
};

// One line of the input that a shop would have on disk.
std::string make_line(unsigned number)
{
    static const char *const first[] = {"Ada", "GRACE ", " Alan", "Barbara", "Edsger", "  Donald", "FRANCES", "Ken"};
    static const char *const last[] = {"Lovelace", "HOPPER", "Turing ", "Liskov", "Dijkstra", "Knuth", "Allen", "  Thompson"};
    const unsigned mixed = number * 2654435761u;
    char line[128];
    std::snprintf(line, sizeof(line), "%u;%s  %s of %u Street;%u.%02u", number, first[mixed >> 29], last[mixed >> 26 & 7],
                  mixed >> 16 & 511, mixed >> 8 & 255, mixed % 100);
    return line;
}

void read_orders(unsigned begin, unsigned end, ledger<std::string> &sums)
{
    pthread_setname_np(pthread_self(), begin == 0 ? "reader-1" : "reader-2");
    for (unsigned number = begin; number < end; number++) {
        const order order = parse(make_line(number));
        sums.add(order.customer, order.amount);
    }
}

} // namespace shop

int main(int argc, char **argv)
{
    const unsigned n = static_cast<unsigned>(1e6 * (argc > 1 ? std::atof(argv[1]) : 1));
    shop::ledger<std::string> sums, others;
    std::thread other(shop::read_orders, n / 3, n, std::ref(others));
    std::thread one(shop::read_orders, 0u, n / 3, std::ref(sums));
    one.join();
    other.join();
    sums.merge(others);
    for (const auto &[customer, amount] : sums.largest(3))
        std::printf("%-36s %12.2f\n", customer.c_str(), amount);
}
