# Boost >= 1.91, headers only: from REDLOCK_BOOST_INCLUDE_DIR, or as a package. Either way it is the
# target redlock_boost; the headers are system headers, so that their warnings stay theirs.

add_library(redlock_boost INTERFACE)

if(REDLOCK_BOOST_INCLUDE_DIR)
    set(version_header "${REDLOCK_BOOST_INCLUDE_DIR}/boost/version.hpp")
    if(NOT EXISTS "${version_header}")
        message(FATAL_ERROR "No boost/version.hpp in '${REDLOCK_BOOST_INCLUDE_DIR}'")
    endif()
    file(STRINGS "${version_header}" version_line REGEX "#define BOOST_VERSION [0-9]+")
    string(REGEX MATCH "[0-9]+" boost_version "${version_line}")
    if(boost_version LESS 109100)
        message(FATAL_ERROR
            "Boost in '${REDLOCK_BOOST_INCLUDE_DIR}' is ${boost_version}, need 109100 or newer")
    endif()
    target_include_directories(redlock_boost SYSTEM INTERFACE "${REDLOCK_BOOST_INCLUDE_DIR}")
else()
    find_package(Boost 1.91 REQUIRED)
    target_link_libraries(redlock_boost INTERFACE Boost::headers)
endif()
