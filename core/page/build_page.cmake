# cmake -DNPM= -DNODE= -DSOURCES= -DWORK= -DPAGE= -P build_page.cmake: installs the
# packages of core/page/package-lock.json and builds the page in WORK. If the npm
# registry is not reachable, writes an empty PAGE, so that the other targets still build.
file(MAKE_DIRECTORY ${WORK})
foreach(name package.json package-lock.json .npmrc build.mjs)
  configure_file(${SOURCES}/${name} ${WORK}/${name} COPYONLY)
endforeach()
file(REMOVE_RECURSE ${WORK}/src)
file(COPY ${SOURCES}/src DESTINATION ${WORK})
file(SHA256 ${WORK}/package-lock.json lock)
if(NOT EXISTS ${WORK}/node_modules/${lock})
  execute_process(
    COMMAND ${NPM} ci --omit=dev --ignore-scripts --no-audit --no-fund
      --fetch-retries=1 --fetch-timeout=60000
    WORKING_DIRECTORY ${WORK} RESULT_VARIABLE failed
    OUTPUT_FILE ${WORK}/npm.txt ERROR_FILE ${WORK}/npm.txt)
  if(failed)
    message(WARNING "Building without the web page: npm ci failed; see ${WORK}/npm.txt")
    file(WRITE ${PAGE} "")
    return()
  endif()
  file(TOUCH ${WORK}/node_modules/${lock})
endif()
execute_process(COMMAND ${NODE} build.mjs ${PAGE}
  WORKING_DIRECTORY ${WORK} RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "The page could not be built")
endif()
