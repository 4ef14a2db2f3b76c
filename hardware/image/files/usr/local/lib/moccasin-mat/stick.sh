#!/bin/sh
# Takes a reset or an update from the stick on device $1, which is mounted for this process alone.
set -eu
folder=$RUNTIME_DIRECTORY
mount -o ro,nosuid,nodev,noexec "/dev/$1" "$folder"
# a stick with an order is for a reset; an update beside an order that is refused is taken
if test -f "$folder/moccasin-mat-reset.toml"; then
    /opt/moccasin-mat/bin/moccasin-mat reset --order "$folder" && exit 0
    set -- "$folder"/moccasin_mat-*.whl
    test -e "$1" || exit 2
fi
exec /opt/moccasin-mat/bin/moccasin-mat update "$folder"
