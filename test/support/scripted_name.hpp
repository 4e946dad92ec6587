#ifndef REDLOCK_TEST_SUPPORT_SCRIPTED_NAME_HPP
#define REDLOCK_TEST_SUPPORT_SCRIPTED_NAME_HPP

#include <cstddef>
#include <memory>
#include <string>

namespace redlock::test {

/** A name whose look-ups in this program are the test's, in place of name servers.

    The file behind this replaces `getaddrinfo` of the whole program. Other names are looked up as
    ever. Thread safe.
*/
class scripted_name
{
public:
    /// Makes a name whose look-ups hang.
    scripted_name();
    scripted_name(const scripted_name&) = delete;
    scripted_name& operator=(const scripted_name&) = delete;

    /// Ends the look-ups that hang.
    ~scripted_name();

    [[nodiscard]] const std::string& text() const noexcept { return text_; }

    /// Look-ups hang from now on, as if no name server answered: for 8 s, and then they fail.
    void hang();

    /// Look-ups find 127.0.0.1, those too that hang.
    void lead_here();

    /// Look-ups fail with a code of `getaddrinfo`, those too that hang.
    void fail(int code);

    /// Look-ups that have begun.
    [[nodiscard]] std::size_t lookups() const;

    struct script;

private:
    std::string text_;
    std::shared_ptr<script> script_;
};

}  // namespace redlock::test

#endif
