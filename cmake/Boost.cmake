# Boost >= 1.83, headers only: from REDLOCK_BOOST_INCLUDE_DIR, or as a package. Either way it is the
# target redlock_boost; the headers are system headers, so that their warnings stay theirs.

add_library(redlock_boost INTERFACE)

set(boost_cure
    "Install Boost 1.83 or newer (Debian 13, Ubuntu 24.04: apt install libboost-dev), or set \
REDLOCK_BOOST_INCLUDE_DIR to the folder of its headers; see docs/add-to-your-project.md.")

if(REDLOCK_BOOST_INCLUDE_DIR)
    set(version_header "${REDLOCK_BOOST_INCLUDE_DIR}/boost/version.hpp")
    if(NOT EXISTS "${version_header}")
        message(FATAL_ERROR "No boost/version.hpp in '${REDLOCK_BOOST_INCLUDE_DIR}'. ${boost_cure}")
    endif()
    file(STRINGS "${version_header}" version_line REGEX "#define BOOST_VERSION [0-9]+")
    string(REGEX MATCH "[0-9]+" boost_version "${version_line}")
    if(boost_version LESS 108300)
        math(EXPR boost_major "${boost_version} / 100000")
        math(EXPR boost_minor "${boost_version} / 100 % 1000")
        message(FATAL_ERROR
            "Boost in '${REDLOCK_BOOST_INCLUDE_DIR}' is ${boost_major}.${boost_minor}. "
            "${boost_cure}")
    endif()
    target_include_directories(redlock_boost SYSTEM INTERFACE "${REDLOCK_BOOST_INCLUDE_DIR}")
else()
    # CMake 3.30 warns of its own search, which finds headers without a package file too.
    find_package(Boost 1.83 QUIET CONFIG)
    if(NOT Boost_FOUND)
        find_package(Boost 1.83 QUIET)
    endif()
    if(NOT Boost_FOUND)
        set(boost_seen "No Boost was found.")
        if(Boost_VERSION_STRING)
            set(boost_seen "The Boost that was found is ${Boost_VERSION_STRING}.")
        endif()
        message(FATAL_ERROR "${boost_seen} ${boost_cure}")
    endif()
    target_link_libraries(redlock_boost INTERFACE Boost::headers)
endif()

# Some examples, and what tries every spelling, limit the time of an operation by `cancel_after`.
set(REDLOCK_HAVE_CANCEL_AFTER OFF)
if(boost_version GREATER_EQUAL 108600 OR Boost_VERSION VERSION_GREATER_EQUAL 1.86)
    set(REDLOCK_HAVE_CANCEL_AFTER ON)
endif()

# Some examples use Boost.Redis beside the library. What they need of it came with 1.91.
set(REDLOCK_HAVE_BOOST_REDIS OFF)
if(boost_version GREATER_EQUAL 109100 OR Boost_VERSION VERSION_GREATER_EQUAL 1.91)
    set(REDLOCK_HAVE_BOOST_REDIS ON)
endif()
