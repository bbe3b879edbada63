# The scripts in what we write for browsers, put together at build time, without a network.
#
#   sampler_script(FOLDER FILE)
#       Makes one script, FILE, of FOLDER/main.js and the modules it imports.

find_program(ESBUILD esbuild REQUIRED)

function(sampler_script folder file)
  # Modules of another folder may be among them.
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${folder}/*.js" "${PROJECT_SOURCE_DIR}/output/formats/html/viewer/*.js")
  add_custom_command(OUTPUT "${file}"
    COMMAND "${ESBUILD}" "${folder}/main.js" --bundle --minify --format=iife --target=es2021 --charset=ascii
      --log-level=warning "--outfile=${file}"
    DEPENDS ${sources} COMMENT "Putting together ${file}" VERBATIM)
endfunction()
