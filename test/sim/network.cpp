#include "sim/network.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace redlock::sim {

namespace asio = boost::asio;

/// One connection, with both its ends.
class wire : public std::enable_shared_from_this<wire>
{
public:
    using direction = network::direction;

    wire(
        network& of,
        process& from,
        unsigned client,
        std::size_t node,
        const detail::strand_type& strand,
        std::shared_ptr<detail::turn> end_of_turn
    )
        : network_(of),
          process_(from),
          client_(client),
          node_(node),
          server_(&of.server_for(client, node)),
          strand_(strand),
          turn_(std::move(end_of_turn)),
          stream_(from.new_stream())
    {
        session_->client = client;
    }

    [[nodiscard]] unsigned client() const noexcept { return client_; }
    [[nodiscard]] std::size_t node() const noexcept { return node_; }
    [[nodiscard]] const server& other_end() const noexcept { return *server_; }

    /// Lets go of the owner, for the world ends.
    void drop() { const auto dropped = std::move(owner_); }

    // The client's end.

    void open(const std::shared_ptr<detail::connection::owner>& of)
    {
        owner_ = of;
        ++network_.link_of(client_, node_).connections;
        session_->on_push = [weak = weak_from_this()]() {
            if (const auto self = weak.lock())
                self->send_pushes();
        };
        if (network_.link_of(client_, node_).cut_off)
            return hear_of_reset();
        send(direction::to_server, [](wire& self) { self.accept(); });
    }

    void write(std::string_view bytes)
    {
        if (closing_ || torn_ || network_.link_of(client_, node_).cut_off)
            return;
        const network_habits& habits = network_.habits_;
        if (network_.dice_.chance(habits.resets))
        {
            reset();
            torn_ = true;
            // Some of it may have left already.
            bytes = bytes.substr(0, network_.dice_.below(bytes.size() + 1));
        }
        const unsigned life = life_;
        send(direction::to_server, [sent = std::string(bytes), life](wire& self) {
            self.receive(sent, life);
        });
    }

    void close()
    {
        if (std::exchange(closing_, true))
            return;
        if (!torn_ && !network_.link_of(client_, node_).cut_off)
            send(direction::to_server, [](wire& self) { self.hang_up(); });
        asio::post(strand_, [self = shared_from_this()]() {
            self->end(asio::error::operation_aborted);
        });
    }

    // The network.

    /// The client learns of it; what it has sent may be under way still, for some time.
    void reset()
    {
        dice& chance = network_.dice_;
        const nanoseconds delay = chance.between(nanoseconds(0), network_.habits_.usual);
        const nanoseconds lag =
            chance.heavy_tailed(network_.habits_.usual, network_.habits_.longest);
        cut_[0] = std::min(cut_[0], network_.time_.elapsed() + (chance.below(2) ? lag : delay));
        cut_[1] = std::min(cut_[1], network_.time_.elapsed());
        deliver_after(delay, [](wire& self) { self.hear_of_reset(); });
        deliver_after(cut_[0] - network_.time_.elapsed(), [](wire& self) { self.hang_up(); });
    }

    void hear_of_reset()
    {
        post([](wire& self) { self.end(asio::error::connection_reset); });
    }

private:
    /// Lets `what` happen at the other end, behind what was sent before.
    template <class Function>
    void send(direction which, Function what)
    {
        dice& chance = network_.dice_;
        const network_habits& habits = network_.habits_;
        const auto way = static_cast<std::size_t>(which);
        const nanoseconds now = network_.time_.elapsed();
        nanoseconds& next = next_[way];
        next = std::max(now + draw_delay(chance), next + nanoseconds(1));
        const nanoseconds blocked = network_.link_of(client_, node_).blocked[way];
        if (blocked > now)
            next = std::max(next, blocked + chance.between(nanoseconds(0), habits.usual));
        if (!lost_[way] && chance.chance(habits.loses))
        {
            lost_[way] = true;
            network_.trace_.note(process_.name(), "loses a direction of node", node_, way);
        }
        if (lost_[way])
            return;
        network_.time_.at(next, [self = shared_from_this(), way, what = std::move(what)]() mutable {
            if (self->network_.time_.elapsed() < self->cut_[way])
                what(*self);
        });
    }

    [[nodiscard]] nanoseconds draw_delay(dice& chance)
    {
        const network_habits& habits = network_.habits_;
        const nanoseconds own = network_.link_of(client_, node_).usual_way;
        if (own > nanoseconds(0))
            return chance.heavy_tailed(own, 2 * own);
        return chance.heavy_tailed(habits.usual, habits.longest);
    }

    template <class Function>
    void deliver_after(nanoseconds delay, Function what)
    {
        network_.time_.after(delay, [self = shared_from_this(), what]() { what(*self); });
    }

    /// Calls a function as a turn of the client.
    template <class Function>
    void post(Function what)
    {
        process_.deliver(stream_, [self = shared_from_this(), what = std::move(what)]() mutable {
            asio::post(self->strand_, [self, what = std::move(what)]() {
                self->turn_->work([&]() { what(*self); });
            });
        });
    }

    // The server's end.

    [[nodiscard]] server& at() noexcept { return *server_; }

    void accept()
    {
        server_ = &network_.server_for(client_, node_);
        life_ = at().life();
        if (!at().up() || network_.link_of(client_, node_).refused)
        {
            deliver_after(network_.habits_.usual, [](wire& self) {
                self.post([](wire& client) { client.end(asio::error::connection_refused); });
            });
            return;
        }
        send(direction::to_client, [](wire& self) {
            self.post([](wire& client) {
                if (!client.closing_ && client.owner_)
                    client.owner_->on_open();
            });
        });
    }

    [[nodiscard]] network::workplace& workplace() noexcept { return network_.workplaces_[server_]; }

    void receive(std::string bytes, unsigned life)
    {
        network_.put_to_work(at(), [self = shared_from_this(), sent = std::move(bytes), life]() {
            self->work_on(sent, life);
        });
    }

    /// The server learns that the connection has ended, when it has read what came before.
    void hang_up()
    {
        network_.put_to_work(at(), [self = shared_from_this()]() {
            self->at().hang_up(*self->session_);
        });
    }

    void work_on(const std::string& bytes, unsigned life)
    {
        if (!at().up() || at().life() != life)
            return;
        maybe_replay(bytes);
        std::string replies = at().receive(*session_, bytes);
        const nanoseconds cost = network_.habits_.service * static_cast<int>(at().take_work());
        workplace().busy_until = network_.time_.elapsed() + cost;
        if (cost == nanoseconds(0))
            return send_output(std::move(replies));
        deliver_after(cost, [sent = std::move(replies)](wire& self) { self.send_output(sent); });
    }

    /// Behind the replies to what the server works on.
    void send_pushes()
    {
        if (network_.habits_.service == nanoseconds(0))
            return send_pushes_once_free();
        // How long it works is known when this is over.
        deliver_after(nanoseconds(0), [](wire& self) { self.send_pushes_once_free(); });
    }

    void send_pushes_once_free()
    {
        const nanoseconds free = workplace().free_at();
        if (free > network_.time_.elapsed())
            return deliver_after(free - network_.time_.elapsed(), [](wire& self) {
                self.send_pushes_once_thawed();
            });
        send_pushes_once_thawed();
    }

    void send_pushes_once_thawed()
    {
        if (workplace().frozen_until > network_.time_.elapsed())
            return send_pushes_once_free();
        if (at().up() && at().life() == life_)
            send_output(std::exchange(session_->output, {}));
    }

    void send_output(std::string replies)
    {
        if (replies.empty())
            return;
        dice& chance = network_.dice_;
        const std::size_t first =
            chance.chance(network_.habits_.splits) ? chance.below(replies.size()) : replies.size();
        if (first == replies.size())
            return reply(std::move(replies));
        reply(replies.substr(0, first));
        reply(replies.substr(first));
    }

    void reply(std::string bytes)
    {
        send(direction::to_client, [sent = std::move(bytes)](wire& self) mutable {
            self.post([sent = std::move(sent)](wire& client) { client.read(sent); });
        });
    }

    /// What a proxy does that repeats a request whose answer it did not see.
    void maybe_replay(const std::string& bytes)
    {
        const network_habits& habits = network_.habits_;
        if (!session_->input.empty() || !network_.dice_.chance(habits.replays))
            return;
        const nanoseconds delay = network_.dice_.heavy_tailed(habits.usual, habits.longest);
        deliver_after(delay, [bytes](wire& self) {
            if (!self.at().up())
                return;
            self.network_.trace_.note(self.at().name(), "gets a request once more");
            session other;
            other.client = self.client_;
            other.logged_in = self.session_->logged_in;
            other.database = self.session_->database;
            static_cast<void>(self.at().receive(other, bytes));
        });
    }

    // The client's end again.

    void read(const std::string& bytes)
    {
        if (closing_ || !owner_)
            return;
        const auto kept = owner_;
        if (received_.empty())
        {
            received_ = bytes.substr(kept->on_input(bytes));
            return;
        }
        received_ += bytes;
        received_.erase(0, kept->on_input(received_));
    }

    void end(error_code why)
    {
        closing_ = true;
        if (const auto ended = std::exchange(owner_, nullptr))
            ended->on_closed(why);
    }

    network& network_;
    process& process_;
    unsigned client_;
    std::size_t node_;
    server* server_;  ///< That has accepted it, or is asked to.
    detail::strand_type strand_;
    std::shared_ptr<detail::turn> turn_;
    std::uint64_t stream_;
    std::shared_ptr<detail::connection::owner> owner_;  ///< While it is open, or about to be.
    std::string received_;                              ///< And not used by the owner yet.
    bool closing_ = false;
    bool torn_ = false;  ///< In the middle of what was written: what follows cannot arrive.

    std::shared_ptr<session> session_ = std::make_shared<session>();
    unsigned life_ = 0;  ///< Of the server that accepted it.
    nanoseconds next_[2]{};
    bool lost_[2]{};
    nanoseconds cut_[2]{nanoseconds::max(), nanoseconds::max()};
};

namespace {

class simulated_connection final : public detail::connection
{
public:
    explicit simulated_connection(std::shared_ptr<wire> by) : wire_(std::move(by)) {}

    void open(const std::shared_ptr<owner>& of) override { wire_->open(of); }
    void write(std::string_view bytes) override { wire_->write(bytes); }
    void close() noexcept override { wire_->close(); }

private:
    std::shared_ptr<wire> wire_;
};

}  // namespace

network::network(
    schedule& time,
    trace& told,
    std::vector<server*> nodes,
    std::size_t clients,
    std::uint64_t seed
)
    : time_(time),
      trace_(told),
      nodes_(std::move(nodes)),
      dice_(seed),
      links_(clients * nodes_.size())
{
}

network::~network()
{
    each_wire([](wire& each) { each.drop(); });
}

template <class Function>
void network::each_wire(Function what)
{
    std::erase_if(wires_, [](const auto& each) { return each.expired(); });
    for (std::size_t i = 0; i < wires_.size(); ++i)
    {
        if (const auto each = wires_[i].lock())
            what(*each);
    }
}

std::unique_ptr<detail::connection> network::connect(
    process& from,
    unsigned client,
    std::size_t node,
    const detail::strand_type& strand,
    std::shared_ptr<detail::turn> end_of_turn
)
{
    auto made = std::make_shared<wire>(*this, from, client, node, strand, std::move(end_of_turn));
    wires_.push_back(made);
    return std::make_unique<simulated_connection>(std::move(made));
}

void network::block(unsigned client, std::size_t node, direction which, nanoseconds duration)
{
    nanoseconds& until = link_of(client, node).blocked[static_cast<std::size_t>(which)];
    until = std::max(until, time_.elapsed() + duration);
    trace_.note(
        nodes_[node]->name(),
        "is blocked for client, direction, ns",
        client,
        static_cast<unsigned>(which),
        duration.count()
    );
}

void network::freeze(const server& which, nanoseconds duration)
{
    nanoseconds& until = workplaces_[&which].frozen_until;
    until = std::max(until, time_.elapsed() + duration);
    trace_.note(which.name(), "is frozen for ns", duration.count());
}

void network::run_on(processors& shared, processors::costs of_server)
{
    shared_ = &shared;
    for (const server* const each : nodes_)
        workplaces_[each].task = &shared.add_task(of_server);
}

void network::place(unsigned client, nanoseconds usual_way)
{
    for (std::size_t node = 0; node < nodes_.size(); ++node)
        link_of(client, node).usual_way = usual_way;
}

void network::put_to_work(const server& which, std::function<void()> what)
{
    workplace& at = workplaces_[&which];
    if (!at.task)
        return take_up(at, std::move(what));
    shared_->put(*at.task, [this, &at, what = std::move(what)]() { take_up(at, what); });
}

void network::take_up(workplace& at, std::function<void()> what)
{
    at.waiting.push_back(std::move(what));
    work_off(at);
}

void network::work_off(workplace& at)
{
    while (!at.goes_on_later && !at.waiting.empty())
    {
        const nanoseconds free = at.free_at();
        if (free > time_.elapsed())
        {
            at.goes_on_later = true;
            return time_.at(free, [this, &at]() {
                at.goes_on_later = false;
                work_off(at);
            });
        }
        const auto next = std::move(at.waiting.front());
        at.waiting.pop_front();
        next();
    }
}

void network::reset(unsigned client, std::size_t node)
{
    trace_.note(nodes_[node]->name(), "loses the connection of client", client);
    each_wire([&](wire& each) {
        if (each.client() == client && each.node() == node)
            each.reset();
    });
}

void network::reset_all(const server& which)
{
    each_wire([&](wire& each) {
        if (&each.other_end() == &which)
            each.reset();
    });
}

void network::cut_off(unsigned client)
{
    for (std::size_t node = 0; node < nodes_.size(); ++node)
        link_of(client, node).cut_off = true;
    each_wire([&](wire& each) {
        if (each.client() == client)
            each.hear_of_reset();
    });
}

void network::heal()
{
    habits_ = {.service = habits_.service};
    for (link& each : links_)
    {
        std::ranges::fill(each.blocked, nanoseconds(0));
        each.refused = false;
    }
    trace_.note("network", "is well again");
}

}  // namespace redlock::sim
