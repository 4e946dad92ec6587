#include <redlock/config.hpp>

#include <boost/test/unit_test.hpp>

#include <cstdio>
#include <memory>
#include <string>

#include <unistd.h>

BOOST_AUTO_TEST_SUITE(test_log)

using namespace redlock;

namespace {

/// What is written to stderr while it exists.
class caught_stderr
{
public:
    caught_stderr() { ::dup2(::fileno(to_.get()), STDERR_FILENO); }
    ~caught_stderr()
    {
        ::dup2(kept_, STDERR_FILENO);
        ::close(kept_);
    }

    caught_stderr(const caught_stderr&) = delete;
    caught_stderr& operator=(const caught_stderr&) = delete;

    [[nodiscard]] std::string text() const
    {
        std::rewind(to_.get());
        std::string all(1000, '\0');
        all.resize(std::fread(all.data(), 1, all.size(), to_.get()));
        return all;
    }

private:
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> to_{std::tmpfile(), std::fclose};
    int kept_ = ::dup(STDERR_FILENO);
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_client_logs_warnings_and_errors_to_stderr_by_default)
{
    const client_config config;
    std::string written;
    {
        const caught_stderr caught;
        config.log(log_level::info, "node a is ready");
        config.log(log_level::warning, "node b is down");
        config.log(log_level::error, "node c is rejected");
        written = caught.text();
    }
    BOOST_TEST(written == "redlock: warning: node b is down\nredlock: error: node c is rejected\n");
}

BOOST_AUTO_TEST_SUITE_END()
