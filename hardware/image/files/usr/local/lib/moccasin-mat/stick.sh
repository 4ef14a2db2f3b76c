#!/bin/sh
# Takes a reset or an update from the stick on device $1, which is mounted for this process alone.
set -eu
folder=$RUNTIME_DIRECTORY
mount -o ro,nosuid,nodev,noexec "/dev/$1" "$folder"
# a stick with an order is for a reset, and nothing else on it is looked at
if test -e "$folder/moccasin-mat-reset.toml"; then
    exec /opt/moccasin-mat/bin/moccasin-mat reset --order "$folder"
fi
exec /opt/moccasin-mat/bin/moccasin-mat update "$folder"
