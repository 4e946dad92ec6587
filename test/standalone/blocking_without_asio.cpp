#include <redlock/blocking.hpp>

#if defined(BOOST_ASIO_VERSION) || defined(BOOST_ASIO_DETAIL_CONFIG_HPP)
#error "redlock/blocking.hpp includes Boost.Asio"
#endif
