# SPDX-License-Identifier: Apache-2.0
#
# cmake -DCASES=FILE;... -DSEEDS=FOLDER -P chrome_seeds.cmake
# Copies traces to FOLDER as chrome_import_fuzz reads them: behind a byte for the size of blocks.
file(MAKE_DIRECTORY ${SEEDS})
foreach(case IN LISTS CASES)
  get_filename_component(name ${case} NAME)
  file(READ ${case} text)
  file(WRITE ${SEEDS}/${name} "/${text}")
endforeach()
