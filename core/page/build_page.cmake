# cmake -DNPM= -DNODE= -DSOURCES= -DWORK= -DPAGE= -P build_page.cmake: fetches
# what core/page/package-lock.json names and builds the page in WORK. Where npm's
# registry is out of reach an empty page is left, and the rest builds.
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
    message(WARNING "No page: npm ci failed; ${WORK}/npm.txt says why. "
      "The rest is built.")
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
