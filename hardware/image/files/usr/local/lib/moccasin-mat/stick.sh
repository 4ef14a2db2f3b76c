#!/bin/sh
# Takes an update from the stick on device $1, which is mounted for this process alone.
set -eu
folder=$RUNTIME_DIRECTORY
mount -o ro,nosuid,nodev,noexec "/dev/$1" "$folder"
exec /opt/moccasin-mat/bin/moccasin-mat service update "$folder"
