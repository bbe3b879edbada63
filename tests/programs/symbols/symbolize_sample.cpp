// symbolize_sample.cpp - code whose names and inlining are awkward: templates, lambdas, an
// anonymous namespace, virtual functions, exceptions, much of the standard library inlined.
// Compiled in several ways by tests/e2e/test_symbolizer.py; only its addresses are looked at.
#include <algorithm>
#include <functional>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

namespace
{
struct Visitor {
    virtual ~Visitor() = default;
    virtual int visit(int value) = 0;
};

struct Adder : Visitor {
    int sum = 0;
    int visit(int value) override
    {
        return sum += value;
    }
};

template <class T> struct Tree {
    T value;
    std::unique_ptr<Tree> left, right;

    template <class F> void each(F function) const
    {
        if (left)
            left->each(function);
        function(value);
        if (right)
            right->each(function);
    }

    void insert(T added)
    {
        auto &place = added < value ? left : right;
        if (place) {
            place->insert(std::move(added));
        } else {
            place = std::make_unique<Tree>();
            place->value = std::move(added);
        }
    }
};

int weight(const std::string &text)
{
    return std::accumulate(text.begin(), text.end(), 0);
}
} // namespace

namespace sample
{
std::string join(const std::vector<std::string> &texts)
{
    std::ostringstream out;
    for (const auto &text : texts)
        out << text << ',';
    return out.str();
}

long count_words(const std::string &text)
{
    std::istringstream in(text);
    return std::distance(std::istream_iterator<std::string>(in),
                         std::istream_iterator<std::string>());
}
} // namespace sample

int main(int argc, char **argv)
{
    std::vector<std::string> texts(argv, argv + argc);
    for (int i = 0; i < 1000; i++)
        texts.push_back("item" + std::to_string(i * 7919 % 1000));
    std::sort(texts.begin(), texts.end(),
              [](const auto &a, const auto &b) { return weight(a) < weight(b); });
    std::map<std::string, int> counts;
    std::unordered_map<int, std::string> by_weight;
    Tree<std::string> tree;
    for (const auto &text : texts) {
        counts[text]++;
        by_weight[weight(text)] = text;
        tree.insert(text);
    }
    Adder adder;
    Visitor *visitor = &adder;
    tree.each([&](const std::string &text) { visitor->visit(static_cast<int>(text.size())); });
    std::function<int(int)> more = [&](int x) { return x + adder.sum; };
    try {
        if (sample::count_words(sample::join(texts)) < 1)
            throw std::runtime_error("no words");
    } catch (const std::exception &error) {
        std::cout << error.what() << '\n';
    }
    std::cout << more(1) << ' ' << counts.size() << ' ' << by_weight.size() << '\n';
}
