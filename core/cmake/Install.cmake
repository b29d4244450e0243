# There are two export sets, so that users of the shared library need no other
# development files.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/spanprof)

install(TARGETS spanprof EXPORT spanprofTargets)
install(TARGETS spanprof_static EXPORT spanprofStaticTargets)
install(DIRECTORY include/spanprof TYPE INCLUDE FILES_MATCHING PATTERN "*.h")
install(EXPORT spanprofTargets NAMESPACE spanprof:: DESTINATION ${package_dir})
install(EXPORT spanprofStaticTargets NAMESPACE spanprof:: DESTINATION ${package_dir})

configure_package_config_file(cmake/spanprofConfig.cmake.in spanprofConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(spanprofConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${CMAKE_CURRENT_BINARY_DIR}/spanprofConfig.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/spanprofConfigVersion.cmake
  DESTINATION ${package_dir})

file(RELATIVE_PATH pc_to_prefix
  /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
list(TRANSFORM CMAKE_DL_LIBS PREPEND "-l" OUTPUT_VARIABLE pc_dl_libs)
configure_file(spanprof.pc.in spanprof.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/spanprof.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md
  ${PROJECT_SOURCE_DIR}/CHANGELOG.md TYPE DOC)
install(DIRECTORY docs/ TYPE DOC FILES_MATCHING PATTERN "*.md" PATTERN "page.png")
if(TARGET spanprof_command)
  install(TARGETS spanprof_command)
  install(FILES docs/spanprof.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()
if(TARGET spanprof_server)
  # The server is optional, because a build of only the library and the command
  # omits it.
  install(TARGETS spanprof_server OPTIONAL)
endif()
