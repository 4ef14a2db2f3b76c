#!/bin/sh
# Lets the card's last partition reach to the card's end; systemd then lets its file system grow into it.
set -eu
device=${1:-$(blkid -L mat-state)}
partition=$(basename "$(readlink -f "$device")")
disk=$(basename "$(readlink -f "/sys/class/block/$partition/..")")
number=$(cat "/sys/class/block/$partition/partition")
end=$(($(cat "/sys/class/block/$partition/start") + $(cat "/sys/class/block/$partition/size")))
room=$(($(cat "/sys/class/block/$disk/size") - end))
if [ "$room" -lt 16384 ]; then  # 8 MiB: it reaches there already
    exit 0
fi
echo ', +' | sfdisk --quiet --force --no-reread --no-tell-kernel -N "$number" "/dev/$disk"
partx --update --nr "$number" "/dev/$disk"
