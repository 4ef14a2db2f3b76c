#!/bin/sh
# Makes the hardware that this machine pretends to have: a header of pins, I2C and SPI, and a mat board on USB.
set -e

# pins: a chip with the label of a Pi 4's header, all pulled up as buttons are
modprobe configfs
mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config
modprobe gpio-sim
header=/sys/kernel/config/gpio-sim/header
mkdir -p $header/bank0
echo pinctrl-bcm2711 > $header/bank0/label
echo 28 > $header/bank0/num_lines
echo 1 > $header/live
chip=/sys/devices/platform/$(cat $header/dev_name)/$(cat $header/bank0/chip_name)
for pull in "$chip"/sim_gpio*/pull; do echo pull-up > "$pull"; done
ln -sfn "$chip" /run/header
# gpiozero and Blinka ask which Pi this is before they open a pin: a Pi 4
{ cat /proc/cpuinfo; printf 'Hardware\t: BCM2835\nRevision\t: c03111\nModel\t\t: Raspberry Pi 4 Model B Rev 1.1\n'; } > /run/cpuinfo
mountpoint -q /proc/cpuinfo || mount --bind /run/cpuinfo /proc/cpuinfo

# buses
modprobe i2c-dev
modprobe spidev
modprobe matbus
for number in 0 1; do
  device=/sys/bus/spi/devices/spi0.$number
  [ -e $device/driver ] || { echo spidev > $device/driver_override; echo spi0.$number > /sys/bus/spi/drivers/spidev/bind; }
done

# a board: what USB says of an RP2040 with MicroPython
modprobe dummy_hcd
modprobe libcomposite
modprobe usb_f_acm
modprobe cdc_acm
board=/sys/kernel/config/usb_gadget/board
mkdir -p $board/strings/0x409 $board/configs/c.1/strings/0x409 $board/functions/acm.0
echo 0x2e8a > $board/idVendor
echo 0x0005 > $board/idProduct
echo MicroPython > $board/strings/0x409/manufacturer
echo "Board in FS mode" > $board/strings/0x409/product
echo e66141040396b12c > $board/strings/0x409/serialnumber
echo cdc > $board/configs/c.1/strings/0x409/configuration
[ -e $board/configs/c.1/acm.0 ] || ln -s $board/functions/acm.0 $board/configs/c.1/
