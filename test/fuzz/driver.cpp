// Runs a fuzz target without libFuzzer: over a corpus, and over inputs made of it at random. It
// does not measure coverage, so it finds less, but any compiler builds it. A seed gives the same
// inputs in the same order. See scripts/fuzz.sh for libFuzzer.
//
//   redlock_fuzz_NAME [--seconds N] [--seed N] CORPUS...

#include "fuzz/fuzz_target.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

namespace {

/// The longest input that is made.
constexpr std::size_t max_size = 4096;

/// The input that runs. A handler of signals reaches nothing but globals.
std::string current;

/// Writes the input that ended the process to a file.
extern "C" void keep_input(int signal)
{
    static constexpr std::string_view said = "the input is in fuzz-input, in the current folder\n";
    const int file = ::open("fuzz-input", O_CREAT | O_TRUNC | O_WRONLY, 0644);
    const auto size = static_cast<ssize_t>(current.size());
    if (file >= 0 && ::write(file, current.data(), current.size()) == size)
        (void)!::write(STDERR_FILENO, said.data(), said.size());
    ::signal(signal, SIG_DFL);
    ::raise(signal);
}

void run(std::string input)
{
    current = std::move(input);
    // A block of exactly this size, so that the address sanitizer sees a read behind its end.
    const std::vector<std::uint8_t> bytes(current.begin(), current.end());
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

/// Makes inputs of others.
class mutator
{
public:
    mutator(std::vector<std::string> corpus, std::uint64_t seed)
        : corpus_(std::move(corpus)), random_(seed)
    {
        if (corpus_.empty())
            corpus_.emplace_back();
    }

    [[nodiscard]] std::string make()
    {
        std::string made = any_of_corpus();
        for (std::size_t changes = 1 + below(6); changes > 0; --changes)
            change(made);
        if (made.size() > max_size)
            made.resize(max_size);
        return made;
    }

private:
    void change(std::string& input)
    {
        constexpr std::array<std::string_view, 12> words{
            "\r\n", "$", "*", "-1", "0", "9223372036854775808", ":", "@", "redis://", "%", "[", "|1"
        };
        const std::size_t at = below(input.size() + 1);
        switch (below(7))
        {
        case 0: input.insert(at, 1, static_cast<char>(below(256))); break;
        case 1: input.insert(at, words.at(below(words.size()))); break;
        case 2: input.erase(at, 1 + below(8)); break;
        case 3: input.insert(at, input.substr(below(input.size() + 1), below(64))); break;
        case 4: input = input.substr(0, at) + tail(any_of_corpus()); break;
        default:
            if (at < input.size())
                input[at] = static_cast<char>(input[at] ^ (1 << below(8)));
        }
    }

    [[nodiscard]] std::string tail(const std::string& of)
    {
        return of.substr(below(of.size() + 1));
    }

    [[nodiscard]] const std::string& any_of_corpus() { return corpus_[below(corpus_.size())]; }

    [[nodiscard]] std::size_t below(std::size_t end)
    {
        return std::uniform_int_distribution<std::size_t>(0, end - 1)(random_);
    }

    std::vector<std::string> corpus_;
    std::mt19937_64 random_;
};

struct arguments
{
    std::chrono::seconds duration{2};
    std::uint64_t seed = 1;
    std::vector<std::string> corpus;
};

void read_folder(const std::filesystem::path& folder, std::vector<std::string>& to)
{
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        paths.push_back(entry.path());
    std::ranges::sort(paths);  // The same order everywhere.
    for (const auto& path : paths)
    {
        std::ifstream file(path, std::ios::binary);
        to.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
}

arguments read_arguments(std::span<char*> given)
{
    arguments read;
    for (std::size_t at = 1; at < given.size(); ++at)
    {
        const std::string_view each = given[at];
        const bool option = each == "--seconds" || each == "--seed";
        if (!option)
            read_folder(each, read.corpus);
        else if (++at == given.size())
            throw std::invalid_argument(std::string(each) + " needs a number");
        else if (each == "--seconds")
            read.duration = std::chrono::seconds(std::stoul(given[at]));
        else
            read.seed = std::stoull(given[at]);
    }
    return read;
}

}  // namespace

int main(int count, char** given)
try
{
    const arguments told = read_arguments({given, static_cast<std::size_t>(count)});
    ::signal(SIGABRT, keep_input);
    ::signal(SIGSEGV, keep_input);
    for (const std::string& each : told.corpus)
        run(each);

    mutator made(told.corpus, told.seed);
    const auto end = std::chrono::steady_clock::now() + told.duration;
    std::size_t runs = 0;
    for (; std::chrono::steady_clock::now() < end; ++runs)
        run(made.make());
    std::printf("%zu inputs of the corpus, %zu others\n", told.corpus.size(), runs);
    // A corpus that was not found would be a test of nothing.
    return told.corpus.empty() ? EXIT_FAILURE : EXIT_SUCCESS;
}
catch (const std::exception& failure)
{
    std::fprintf(stderr, "%s\n", failure.what());
    return EXIT_FAILURE;
}
