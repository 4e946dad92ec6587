#include "node/redis_link.hpp"

#include "core/limits.hpp"
#include "node/reply_shape.hpp"
#include "node/tls.hpp"
#include "scripts.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/redis/connection.hpp>

#include <charconv>
#include <chrono>
#include <utility>
#include <vector>

namespace redlock::detail {

namespace redis = boost::redis;

namespace {

using namespace std::chrono_literals;

/// A connection that is not vetted by then is given up.
constexpr auto open_timeout = 2s;

/// A connection is looked at this often: an idle one is probed, and one that said nothing since the
/// last look is given up. So a silent node is noticed within little more than twice this time.
constexpr auto probe_interval = 1s;

/// A connection that seems silent has this long to show that it is not: if our own process stood
/// still, the replies are there and unread.
constexpr auto reading_time = 200ms;

/// No reply of ours is longer than a line, so a server that sends more is not a Redis.
constexpr std::size_t max_read_size = 1U << 20;

/// Batches kept for reuse. A few are in flight at a time.
constexpr std::size_t max_spare_batches = 8;

/// A command of a batch.
struct command
{
    std::shared_ptr<question> asked;
    bool whole_script;  ///< Sent as EVAL, because the server had forgotten the script.
};

/// Commands that share one write, and who gets their replies.
struct batch
{
    redis::request request;
    std::vector<command> commands;
    std::size_t answered = 0;
    reply_shape shape;  ///< The reply that is being parsed.
};

void read_node(reply_shape& shape, const redis::resp3::node_view& node)
{
    using redis::resp3::type;

    if (node.depth != 0)
    {
        shape.what = reply_shape::kind::other;
        return;
    }
    switch (node.data_type)
    {
    case type::simple_error:
    case type::blob_error:
        shape.what = reply_shape::kind::error;
        shape.text.assign(node.value);
        break;
    case type::null: shape.what = reply_shape::kind::null; break;
    case type::simple_string:
        if (node.value == "OK")
            shape.what = reply_shape::kind::ok;
        break;
    case type::number:
    {
        const char* end = node.value.data() + node.value.size();
        const auto [stop, failure] = std::from_chars(node.value.data(), end, shape.number);
        if (failure == std::errc() && stop == end)
            shape.what = reply_shape::kind::number;
        break;
    }
    default: break;
    }
}

/// The first commands on a connection: log in, choose the database, load the scripts.
redis::request make_vetting_request(const node_config& config)
{
    redis::request request;
    const bool login = !config.username.empty() || !config.password.empty();
    if (login)
    {
        const std::string user = config.username.empty() ? "default" : config.username;
        request.hello_setname(user, config.password, "redlock");
    }
    else
    {
        request.hello_setname("redlock");
    }
    if (config.database != 0)
        request.push("SELECT", config.database);
    for (const script& each : {release_script, extend_script})
        request.push("SCRIPT", "LOAD", each.text);
    return request;
}

redis::config make_redis_config(const node_config& config)
{
    redis::config result;
    result.addr.host = config.host;
    result.addr.port = std::to_string(config.port);
    result.unix_socket = config.unix_socket;
    result.use_ssl = config.tls.has_value();
    // The vetting request does what the setup request of Boost.Redis would do, but lets us see what
    // the server answers.
    result.use_setup = true;
    result.setup = redis::request();
    result.resolve_timeout = open_timeout;
    result.connect_timeout = open_timeout;
    result.ssl_handshake_timeout = open_timeout;
    // Ours is cheaper: that of Boost.Redis sets a timer for every read and every write.
    result.health_check_interval = 0s;
    result.reconnect_wait_interval = 0s;  // Ours is a new link.
    result.max_read_size = max_read_size;
    return result;
}

#ifdef __GNUC__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#endif
/// The stream under a connection. Boost.Redis is about to hide it, and has no other way yet to set
/// TCP_NODELAY or the server name: the only two uses, both in this file.
auto& stream_of(redis::connection& connection)
{
    return connection.next_layer();
}
#ifdef __GNUC__
#pragma GCC diagnostic pop
#endif

/// Tells a TLS server which name we called (SNI), so that it can choose its certificate.
void set_server_name(redis::connection& connection, const node_config& config)
{
    if (config.tls && is_host_name(config.host))
        ::SSL_set_tlsext_host_name(stream_of(connection).native_handle(), config.host.c_str());
}

/// An argument that is the same in every command. Encoded by the compiler, because putting one
/// together from its length and its text costs ten times as much as copying it.
struct constant
{
    std::string_view wire;
};

/// Found by Boost.Redis through the type of the argument.
void boost_redis_to_bulk(std::string& to, constant argument)
{
    to.append(argument.wire);
}

constexpr constant nx{"$2\r\nNX\r\n"};
constexpr constant px{"$2\r\nPX\r\n"};
constexpr constant one_key{"$1\r\n1\r\n"};

/// An attempt id, whose length never changes.
struct id_argument
{
    std::string_view id;
};

void boost_redis_to_bulk(std::string& to, id_argument argument)
{
    to.append("$40\r\n").append(argument.id).append("\r\n");
}

void push_command(redis::request& to, const question& asked, bool whole_script)
{
    const id_argument id{asked.id()};
    const auto push_script = [&](const script& which, auto... args) {
        if (whole_script)
            to.push("EVAL", which.text, one_key, asked.key(), id, args...);
        else
            to.push("EVALSHA", which.sha, one_key, asked.key(), id, args...);
    };
    switch (asked.what())
    {
    case verb::acquire: to.push("SET", asked.key(), id, nx, px, asked.ttl().count()); break;
    case verb::extend: push_script(extend_script, asked.ttl().count()); break;
    case verb::release: push_script(release_script); break;
    case verb::holder: to.push("PTTL", asked.key()); break;
    }
}

}  // namespace

/// A question is put to one node after the other, so the last one is all that needs keeping.
class command_encoder
{
public:
    const redis::request& operator()(const question& asked)
    {
        if (asked.serial() != serial_)
        {
            encoded_.clear();
            push_command(encoded_, asked, false);
            serial_ = asked.serial();
        }
        return encoded_;
    }

private:
    redis::request encoded_;
    std::uint64_t serial_ = 0;
};

namespace {

class redis_link_impl final : public redis_link,
                              public turn_task,
                              public std::enable_shared_from_this<redis_link_impl>
{
public:
    redis_link_impl(
        const strand_type& strand,
        std::shared_ptr<turn> end_of_turn,
        std::shared_ptr<command_encoder> encoder,
        std::size_t index,
        const node_config& config
    )
        : index_(index),
          encoder_(std::move(encoder)),
          turn_(std::move(end_of_turn)),
          tls_(make_tls_context(config)),
          connection_(
              asio::any_io_executor(strand),
              std::move(tls_.context),
              redis::logger(redis::logger::level::disabled)
          ),
          timer_(strand),
          config_(make_redis_config(config)),
          vetting_request_(make_vetting_request(config))
    {
        probe_request_.push("PING");
        set_server_name(connection_, config);
    }

    void start(link_events events) override
    {
        events_ = std::move(events);
        if (!tls_.failure.empty())
        {
            end_.refused = tls_.failure;
            asio::post(timer_.get_executor(), [self = shared_from_this()]() {
                self->finish({});
            });
            return;
        }
        connection_.async_run(config_, [self = shared_from_this()](error_code ec) {
            self->finish(ec);
        });
        look_after(open_timeout);
        vet();
    }

    void ask(std::shared_ptr<question> asked) override
    {
        ++unanswered_;
        asked->mark_sent(index_);
        add(std::move(asked), false);
    }

    std::size_t unanswered() const noexcept override { return unanswered_; }

    void close() noexcept override { connection_.cancel(redis::operation::run); }

private:
    void vet()
    {
        const auto adapter = [this](auto event, const redis::resp3::node_view& part, auto&) {
            if (event != redis::any_adapter::parse_event::node)
                return;
            reply_shape shape;
            read_node(shape, part);
            if (shape.what == reply_shape::kind::error && end_.refused.empty())
                end_.refused = shape.text;
        };
        connection_.async_exec(
            vetting_request_,
            redis::any_adapter(redis::any_adapter::impl_t(adapter)),
            [self = shared_from_this()](error_code ec, std::size_t) { self->on_vetted(ec); }
        );
    }

    void on_vetted(error_code ec)
    {
        if (over_ || ec)
            return;  // The run has ended, or is about to, and says why.
        if (!end_.refused.empty())
            return close();

        heard_ = true;
        look_after(probe_interval);
        send_without_delay();
        if (events_.on_ready)
            events_.on_ready();
    }

    /// Boost.Redis leaves Nagle's algorithm on, which costs 40 ms whenever two small writes meet.
    void send_without_delay()
    {
        error_code ignored;
        if (config_.unix_socket.empty())
            stream_of(connection_).next_layer().set_option(asio::ip::tcp::no_delay(true), ignored);
    }

    void look_after(std::chrono::milliseconds delay)
    {
        timer_.expires_after(delay);  // Cancels the look that was planned before.
        timer_.async_wait([self = shared_from_this()](error_code ec) {
            if (!ec && !self->over_)
                self->look();
        });
    }

    /// Gives a silent connection up, and probes an idle one.
    void look()
    {
        if (!heard_ && !std::exchange(suspected_, true))
            return look_after(reading_time);
        if (!heard_)
        {
            end_.code = asio::error::timed_out;
            return close();
        }
        suspected_ = false;
        heard_ = false;
        if (unanswered_ == 0)
            probe();
        look_after(probe_interval);
    }

    void probe()
    {
        const auto adapter = [this](auto event, const redis::resp3::node_view&, auto&) {
            heard_ |= event == redis::any_adapter::parse_event::done;
        };
        connection_.async_exec(
            probe_request_,
            redis::any_adapter(redis::any_adapter::impl_t(adapter)),
            [self = shared_from_this()](error_code, std::size_t) {}
        );
    }

    void add(std::shared_ptr<question> asked, bool whole_script)
    {
        if (!open_batch_)
            open_batch_ = take_batch();
        if (whole_script)
            push_command(open_batch_->request, *asked, true);
        else
            open_batch_->request.append((*encoder_)(*asked));
        open_batch_->commands.push_back({std::move(asked), whole_script});
        turn_->defer(*this);
    }

    /// Writes the commands of this turn.
    void on_turn_end() override
    {
        for (auto& asked : std::exchange(without_script_, {}))
            add(std::move(asked), true);
        if (!open_batch_)
            return;

        auto written = std::exchange(open_batch_, nullptr);
        if (over_)
            return fail(*written);

        // The batch outlives the adapter: Boost.Redis drops the adapter before it completes.
        const auto adapter = [this, to = written.get()](
                                 auto event, const redis::resp3::node_view& part, auto&
                             ) { on_parse(*to, event, part); };
        redis::request& request = written->request;
        connection_.async_exec(
            request,
            redis::any_adapter(redis::any_adapter::impl_t(adapter)),
            [self = shared_from_this(),
             written = std::move(written)](error_code, std::size_t) mutable {
                self->on_batch_done(std::move(written));
            }
        );
    }

    /// Called while Boost.Redis parses: takes note, and leaves everything else to the turn's end.
    void on_parse(
        batch& to,
        redis::any_adapter::parse_event event,
        const redis::resp3::node_view& part
    )
    {
        switch (event)
        {
        case redis::any_adapter::parse_event::init: to.shape.what = {}; break;
        case redis::any_adapter::parse_event::node: read_node(to.shape, part); break;
        case redis::any_adapter::parse_event::done:
            heard_ = true;
            deliver(std::move(to.commands[to.answered++]), to.shape);
            break;
        }
    }

    void deliver(command sent, const reply_shape& shape)
    {
        // Somebody flushed the scripts. The command did nothing, so it is sent again, with the text
        // of its script; once, for the same answer to EVAL would be an answer like any other.
        if (shape.is_noscript() && !sent.whole_script && sent.asked->wanted())
        {
            without_script_.push_back(std::move(sent.asked));
            turn_->defer(*this);
            return;
        }
        --unanswered_;
        sent.asked->on_reply(index_, interpret(sent.asked->what(), shape));
    }

    void on_batch_done(std::unique_ptr<batch> written)
    {
        fail(*written);
        written->request.clear();
        written->commands.clear();
        written->answered = 0;
        if (spare_batches_.size() < max_spare_batches)
            spare_batches_.push_back(std::move(written));
        if (!over_ && events_.on_answered)
            events_.on_answered();
    }

    /// Fails what has no answer, which is nothing unless the connection broke.
    void fail(batch& unanswered)
    {
        for (; unanswered.answered < unanswered.commands.size(); ++unanswered.answered)
        {
            const auto& asked = unanswered.commands[unanswered.answered].asked;
            --unanswered_;
            reply lost;
            lost.why = reason::connection_lost;
            lost.code = end_.code;
            asked->on_reply(index_, lost);
            if (asked->what() == verb::release && events_.on_lost_release)
                events_.on_lost_release(asked);
        }
    }

    std::unique_ptr<batch> take_batch()
    {
        if (spare_batches_.empty())
            return std::make_unique<batch>();
        auto taken = std::move(spare_batches_.back());
        spare_batches_.pop_back();
        return taken;
    }

    /// The run has ended. What is still queued must not wait for a connection that never comes.
    void finish(error_code ec)
    {
        over_ = true;
        if (!end_.code)
            end_.code = ec;
        timer_.cancel();
        connection_.cancel(redis::operation::exec);
        if (auto on_end = std::exchange(events_.on_end, nullptr))
            on_end(end_);
    }

    std::size_t index_;
    std::shared_ptr<command_encoder> encoder_;
    std::shared_ptr<turn> turn_;
    tls_context tls_;
    redis::connection connection_;
    asio::steady_timer timer_;  ///< Of the next look.
    redis::config config_;
    redis::request vetting_request_;
    redis::request probe_request_;
    link_events events_;
    link_end end_;

    std::unique_ptr<batch> open_batch_;                       ///< Of this turn.
    std::vector<std::unique_ptr<batch>> spare_batches_;
    std::vector<std::shared_ptr<question>> without_script_;  ///< To be sent again as EVAL.
    std::size_t unanswered_ = 0;
    bool heard_ = false;      ///< A reply, since the last look.
    bool suspected_ = false;  ///< Not heard at the last look.
    bool over_ = false;
};

}  // namespace

std::shared_ptr<command_encoder> make_command_encoder()
{
    return std::make_shared<command_encoder>();
}

std::shared_ptr<redis_link> make_redis_link(
    const strand_type& strand,
    std::shared_ptr<turn> end_of_turn,
    std::shared_ptr<command_encoder> encoder,
    std::size_t index,
    const node_config& config
)
{
    return std::make_shared<redis_link_impl>(
        strand, std::move(end_of_turn), std::move(encoder), index, config
    );
}

}  // namespace redlock::detail
