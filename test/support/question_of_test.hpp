#ifndef REDLOCK_TEST_SUPPORT_QUESTION_OF_TEST_HPP
#define REDLOCK_TEST_SUPPORT_QUESTION_OF_TEST_HPP

#include "node/node.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace redlock::test {

/// A question that keeps its answer.
class question_of_test final : public detail::question
{
public:
    using question::question;

    void on_reply(std::size_t, const detail::reply& answer) noexcept override
    {
        ++answers;
        vote = answer.vote;
        why = answer.why;
        code = answer.code;
        text = answer.text;
    }

    [[nodiscard]] bool wanted() const noexcept override { return wanted_; }

    void give_up() noexcept { wanted_ = false; }

    std::size_t answers = 0;
    std::optional<redlock::vote> vote;
    reason why = reason::none;
    error_code code;
    std::string text;

private:
    bool wanted_ = true;
};

using question_of_test_ptr = boost::intrusive_ptr<question_of_test>;

/// Asks about a key. The id is 40 times its first character.
inline question_of_test_ptr make_question(
    detail::verb what,
    const std::string& key,
    milliseconds ttl = milliseconds(1500),
    std::uint64_t stamp = 0
)
{
    static std::uint64_t serial = 0;
    auto wanted = std::make_shared<const detail::demand>(key, acquire_options());
    detail::attempt about{std::move(wanted), {}, {}};
    about.id.fill(key.front());
    if (stamp != 0)
        about.token = fencing_token::from_value(stamp);
    return detail::question::keep(std::make_shared<question_of_test>(detail::wording{
        ++serial, what, std::make_shared<const detail::attempt>(std::move(about)), ttl, stamp
    }));
}

}  // namespace redlock::test

#endif
