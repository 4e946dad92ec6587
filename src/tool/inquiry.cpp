#include "tool/inquiry.hpp"

#include "wire/connection.hpp"
#include "wire/resp_reader.hpp"

#include <boost/asio/error.hpp>

#include <string_view>
#include <utility>

namespace redlock::tool {

namespace {

/// Time for connecting, and again for the answers.
constexpr std::chrono::milliseconds answer_timeout{2000};

class inquiry final : public detail::connection::owner, public std::enable_shared_from_this<inquiry>
{
public:
    inquiry(
        const detail::ground& on,
        const node_config& node,
        std::shared_ptr<detail::tls_context> tls,
        std::shared_ptr<detail::sentinel_group> sentinels,
        detail::request commands,
        std::function<void(answers)> done
    )
        : ground_(on),
          node_(node),
          tls_(std::move(tls)),
          sentinels_(std::move(sentinels)),
          commands_(std::move(commands)),
          done_(std::move(done))
    {
    }

    void start()
    {
        if (tls_ && !tls_->failure.empty())
        {
            told_.problem = tls_->failure;
            return done_(std::move(told_));
        }
        if (sentinels_)
            wire_ = detail::make_master_connection(ground_, tls_, node_, sentinels_);
        else
            wire_ = detail::make_connection(
                ground_, tls_, node_, std::make_shared<detail::name_lookup>(node_)
            );
        timer_ = ground_.time->make_alarm();
        wait(detail::open_timeout + answer_timeout);
        wire_->open({shared_from_this(), static_cast<detail::connection::owner*>(this)});
    }

private:
    void wait(std::chrono::milliseconds time)
    {
        timer_->set(ground_.time->now().steady + time, [this]() {
            timed_out_ = true;
            wire_->close();
        });
    }

    void on_open() override
    {
        asked_ = ground_.time->now().steady;
        wait(answer_timeout);
        wire_->write(commands_.payload());
    }

    std::size_t on_input(std::string_view input) override
    {
        const std::size_t size = input.size();
        while (const auto part = reader_.next(input))
        {
            if (part->pushed)
                continue;
            current_.read(*part);
            if (!part->last)
                continue;
            if (told_.all.empty())
            {
                told_.round_trip = std::chrono::duration_cast<std::chrono::microseconds>(
                    ground_.time->now().steady - asked_
                );
            }
            told_.all.push_back(std::exchange(current_, {}));
            told_.at.push_back(ground_.time->wall());
        }
        if (reader_.error())
            told_.code = reader_.error();
        if (reader_.error() || told_.all.size() >= commands_.size())
            wire_->close();
        return size - input.size();
    }

    void on_closed(error_code why) override
    {
        timer_->cancel();
        if (told_.all.size() < commands_.size() && !told_.code)
        {
            told_.code = timed_out_ ? error_code(boost::asio::error::timed_out) : why;
            told_.problem = timed_out_ ? "it doesn't answer" : why.message();
            if (const std::string objection = wire_->objection(); !objection.empty())
                told_.problem = objection;
            else if (const std::string guess = detail::guess_about_tls(node_, told_.code);
                     !guess.empty())
                told_.problem += guess;
        }
        if (sentinels_)
            told_.replicas = sentinels_->replicas;
        done_(std::move(told_));
    }

    detail::ground ground_;
    node_config node_;
    std::shared_ptr<detail::tls_context> tls_;
    std::shared_ptr<detail::sentinel_group> sentinels_;  ///< Null: there are none.
    detail::request commands_;
    std::function<void(answers)> done_;
    std::unique_ptr<detail::connection> wire_;
    std::unique_ptr<detail::alarm> timer_;
    detail::resp::reader reader_;
    detail::texts current_;
    answers told_;
    time_point asked_{};
    bool timed_out_ = false;
};

}  // namespace

void inquire(
    const detail::ground& on,
    const node_config& node,
    std::shared_ptr<detail::tls_context> tls,
    std::shared_ptr<detail::sentinel_group> sentinels,
    detail::request commands,
    std::function<void(answers)> done
)
{
    std::make_shared<inquiry>(
        on, node, std::move(tls), std::move(sentinels), std::move(commands), std::move(done)
    )
        ->start();
}

}  // namespace redlock::tool
