#!/bin/sh
# A machine without systemd: the net and a shell on the serial console, up in a third of the time.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin:/opt/moccasin-mat/bin HOME=/root
mount -t proc proc /proc
mount -t sysfs sys /sys
mountpoint -q /dev || mount -t devtmpfs dev /dev
mkdir -p /dev/pts /dev/shm
mount -t devpts devpts /dev/pts
mount -t tmpfs tmp /tmp
mount -t tmpfs run /run
modprobe virtio_net
ip link set lo up
for path in /sys/class/net/e*; do
  name=${path##*/}
  ip link set "$name" up
  ip addr add 10.0.2.15/24 dev "$name"
done
cd /root || exit
exec setsid sh -c 'exec sh -i </dev/ttyS0 >/dev/ttyS0 2>&1'
