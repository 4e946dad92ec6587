# Installs the library so that find_package(redlock) gives redlock::redlock, and pkg-config knows
# redlock. Boost is not part of it: the installed redlockConfig.cmake looks for it again.

option(REDLOCK_INSTALL "Install the library" ${PROJECT_IS_TOP_LEVEL})
if(NOT REDLOCK_INSTALL)
    # Built for those who link with it, and for nobody else.
    set_target_properties(redlock_testing PROPERTIES EXCLUDE_FROM_ALL ON)
    return()
endif()

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/redlock")
set(pkgconfig_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

install(TARGETS redlock redlock_testing EXPORT redlockTargets
    LIBRARY COMPONENT runtime NAMELINK_COMPONENT development
    RUNTIME COMPONENT runtime
    ARCHIVE COMPONENT development
)
if(TARGET redlock_tool)
    set(tool_dir "${PROJECT_BINARY_DIR}/src/tool")
    install(TARGETS redlock_tool RUNTIME COMPONENT tools)
    install(FILES "${tool_dir}/redlock.1" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1"
        COMPONENT tools)
    install(FILES "${tool_dir}/redlock.bash" RENAME redlock COMPONENT tools
        DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
    install(FILES "${tool_dir}/_redlock" COMPONENT tools
        DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions")
endif()
# The same folder as in the INSTALL_INTERFACE of the target.
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/" DESTINATION include COMPONENT development)
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}"
    COMPONENT runtime)
install(EXPORT redlockTargets NAMESPACE redlock:: DESTINATION "${package_dir}"
    COMPONENT development)

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
    COMPONENT development
)

if(WIN32)
    return()  # Where nobody asks pkg-config.
endif()
# The prefix is found from where the file is, so that it may be moved.
file(RELATIVE_PATH to_prefix "/${pkgconfig_dir}" "/")
# A program links what a static library uses, and a shared library has done so.
set(requires "")
if(REDLOCK_TLS)
    set(requires "libssl >= 3.0, libcrypto >= 3.0")
endif()
set(private "")
set(threads " -pthread")
if(BUILD_SHARED_LIBS)
    set(private ".private")
    set(threads "")
endif()
configure_file("${PROJECT_SOURCE_DIR}/cmake/redlock.pc.in" "${PROJECT_BINARY_DIR}/redlock.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/redlock.pc" DESTINATION "${pkgconfig_dir}"
    COMPONENT development)
