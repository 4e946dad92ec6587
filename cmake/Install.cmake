# Installs the library so that find_package(redlock) gives redlock::redlock. Boost is not part of
# it: the installed redlockConfig.cmake looks for it again.

option(REDLOCK_INSTALL "Install the library" ${PROJECT_IS_TOP_LEVEL})
if(NOT REDLOCK_INSTALL)
    return()
endif()

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/redlock")

install(TARGETS redlock redlock_testing EXPORT redlockTargets)
# The same folder as in the INSTALL_INTERFACE of the target.
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/" DESTINATION include)
install(EXPORT redlockTargets NAMESPACE redlock:: DESTINATION "${package_dir}")

configure_package_config_file(
    "${PROJECT_SOURCE_DIR}/cmake/redlockConfig.cmake.in"
    "${PROJECT_BINARY_DIR}/redlockConfig.cmake"
    INSTALL_DESTINATION "${package_dir}"
)
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/redlockConfigVersion.cmake"
    COMPATIBILITY SameMinorVersion
)
install(
    FILES
        "${PROJECT_BINARY_DIR}/redlockConfig.cmake"
        "${PROJECT_BINARY_DIR}/redlockConfigVersion.cmake"
    DESTINATION "${package_dir}"
)
