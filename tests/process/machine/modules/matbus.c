// SPDX-License-Identifier: GPL-2.0
/*
 * An I2C bus with an MPR121 on it and an SPI bus with an MCP3008 at chip select 0, for a machine that has no such buses:
 * what reads them goes through the kernel's own i2c-dev and spidev. It shows nothing about the chips themselves.
 *
 * /sys/kernel/matbus/touch    counts of the twelve electrodes, to read and to write
 * /sys/kernel/matbus/absent   1: the MPR121 does not answer; 2: the bus hangs for a second and times out
 * /sys/kernel/matbus/setup    the registers that a host sets up, hexadecimal
 * /sys/kernel/matbus/pads     counts of the eight channels, to read and to write
 * /sys/kernel/matbus/spi      transfers and bytes so far, the length and rate of the last
 */
#include <linux/delay.h>
#include <linux/i2c.h>
#include <linux/kobject.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/spi/spi.h>

#define MPR121 0x5a
#define FILTERED 0x04 /* two bytes an electrode */
#define FILTERED_END (FILTERED + 2 * ARRAY_SIZE(touch))
#define MEASURED_END 0x1e /* registers that are 0 while the chip is stopped */
#define ELECTRODES_ON 0x5e
#define SOFT_RESET 0x80
#define RESET_WORD 0x63

static int i2c_number = 1;
module_param(i2c_number, int, 0444);
static int spi_number;
module_param(spi_number, int, 0444);

static u16 touch[12] = { 724, 724, 724, 724, 724, 724, 724, 724, 724, 724, 724, 724 };
static u16 pads[8] = { 512, 512, 512, 512, 512, 512, 512, 512 };
static u8 registers[256];
static u8 next_register;
static int absent;
static u64 spi_transfers, spi_bytes;
static u32 spi_length, spi_hz;

static u8 read_register(u8 number)
{
	if (!(registers[ELECTRODES_ON] & 0x3f) && number >= FILTERED && number < MEASURED_END)
		return 0;
	if (number >= FILTERED && number < FILTERED_END) {
		u16 value = touch[(number - FILTERED) / 2];

		return (number & 1) ? value >> 8 : value & 0xff;
	}
	return registers[number];
}

static void write_register(u8 number, u8 value)
{
	if (number == SOFT_RESET && value == RESET_WORD)
		memset(registers, 0, sizeof(registers));
	else
		registers[number] = value;
}

static int i2c_transfer_messages(struct i2c_adapter *adapter, struct i2c_msg *messages, int count)
{
	int i, k;

	for (i = 0; i < count; i++) {
		struct i2c_msg *message = &messages[i];

		if (absent == 2) {
			msleep(1000);
			return -ETIMEDOUT;
		}
		if (message->addr != MPR121 || absent)
			return -ENXIO;
		if (message->flags & I2C_M_RD) {
			for (k = 0; k < message->len; k++)
				message->buf[k] = read_register(next_register++);
		} else if (message->len) {
			next_register = message->buf[0];
			for (k = 1; k < message->len; k++)
				write_register(next_register++, message->buf[k]);
		}
	}
	return count;
}

static u32 i2c_abilities(struct i2c_adapter *adapter)
{
	return I2C_FUNC_I2C | I2C_FUNC_SMBUS_EMUL;
}

static const struct i2c_algorithm i2c_algorithm = {
	.master_xfer = i2c_transfer_messages,
	.functionality = i2c_abilities,
};
static struct i2c_adapter i2c_bus = { .owner = THIS_MODULE, .algo = &i2c_algorithm, .name = "matbus" };

static int spi_transfer_one_reading(struct spi_controller *bus, struct spi_device *device, struct spi_transfer *transfer)
{
	const u8 *sent = transfer->tx_buf;
	u8 *answer = transfer->rx_buf;

	spi_transfers++;
	spi_bytes += transfer->len;
	spi_length = transfer->len;
	spi_hz = transfer->speed_hz;
	if (!answer)
		return 0;
	memset(answer, 0, transfer->len);
	if (sent && transfer->len == 3 && sent[0] == 1) {
		u16 value = pads[(sent[1] >> 4) & 7];

		answer[0] = 0xff;
		answer[1] = 0xf8 | (value >> 8); /* its null bit is low, those before it are not driven */
		answer[2] = value & 0xff;
	}
	return 0;
}

static void spi_select(struct spi_device *device, bool on) { }

static int spi_setup_device(struct spi_device *device)
{
	return 0;
}

#define NUMBERS(name)                                                                                        \
	static ssize_t name##_show(struct kobject *object, struct kobj_attribute *attribute, char *text)     \
	{                                                                                                    \
		int i, length = 0;                                                                           \
		for (i = 0; i < ARRAY_SIZE(name); i++)                                                       \
			length += sysfs_emit_at(text, length, "%u ", name[i]);                               \
		return length + sysfs_emit_at(text, length, "\n");                                           \
	}                                                                                                    \
	static ssize_t name##_store(struct kobject *object, struct kobj_attribute *attribute,                \
				    const char *text, size_t length)                                         \
	{                                                                                                    \
		unsigned int value;                                                                          \
		int i, used;                                                                                 \
		for (i = 0; i < ARRAY_SIZE(name) && sscanf(text, "%u%n", &value, &used) == 1; i++) {         \
			name[i] = value;                                                                     \
			text += used;                                                                        \
		}                                                                                            \
		return length;                                                                               \
	}                                                                                                    \
	static struct kobj_attribute name##_attribute = __ATTR(name, 0600, name##_show, name##_store)
NUMBERS(touch);
NUMBERS(pads);

static ssize_t absent_show(struct kobject *object, struct kobj_attribute *attribute, char *text)
{
	return sysfs_emit(text, "%d\n", absent);
}

static ssize_t absent_store(struct kobject *object, struct kobj_attribute *attribute, const char *text, size_t length)
{
	return kstrtoint(text, 0, &absent) ?: length;
}
static struct kobj_attribute absent_attribute = __ATTR(absent, 0600, absent_show, absent_store);

static ssize_t setup_show(struct kobject *object, struct kobj_attribute *attribute, char *text)
{
	static const u8 shown[] = { 0x5c, 0x5d, 0x5e, 0x7b, 0x7d, 0x7e, 0x7f };
	int i, length = 0;

	for (i = 0; i < ARRAY_SIZE(shown); i++)
		length += sysfs_emit_at(text, length, "%02x=%02x ", shown[i], registers[shown[i]]);
	return length + sysfs_emit_at(text, length, "\n");
}
static struct kobj_attribute setup_attribute = __ATTR(setup, 0400, setup_show, NULL);

static ssize_t spi_show(struct kobject *object, struct kobj_attribute *attribute, char *text)
{
	return sysfs_emit(text, "%llu transfers %llu bytes last %u at %u Hz\n", spi_transfers, spi_bytes, spi_length,
			  spi_hz);
}
static struct kobj_attribute spi_attribute = __ATTR(spi, 0400, spi_show, NULL);

static struct attribute *attributes[] = { &touch_attribute.attr,  &pads_attribute.attr, &absent_attribute.attr,
					  &setup_attribute.attr,  &spi_attribute.attr,	NULL };
static const struct attribute_group attribute_group = { .attrs = attributes };

static struct platform_device *parent;
static struct spi_controller *spi_bus;
static struct kobject *folder;

static int __init matbus_begin(void)
{
	struct spi_board_info chip = { .modalias = "dh2228fv", .max_speed_hz = 50000000 }; /* a name that spidev takes */
	int error;

	parent = platform_device_register_simple("matbus", -1, NULL, 0);
	if (IS_ERR(parent))
		return PTR_ERR(parent);
	i2c_bus.nr = i2c_number;
	i2c_bus.dev.parent = &parent->dev;
	error = i2c_add_numbered_adapter(&i2c_bus);
	if (error)
		goto no_i2c;
	error = -ENOMEM;
	spi_bus = spi_alloc_master(&parent->dev, 0);
	if (!spi_bus)
		goto no_spi;
	spi_bus->bus_num = spi_number;
	spi_bus->num_chipselect = 2;
	spi_bus->mode_bits = SPI_MODE_3 | SPI_CS_HIGH | SPI_NO_CS | SPI_LSB_FIRST | SPI_3WIRE;
	spi_bus->set_cs = spi_select;
	spi_bus->setup = spi_setup_device;
	spi_bus->transfer_one = spi_transfer_one_reading;
	error = spi_register_controller(spi_bus);
	if (error) {
		spi_controller_put(spi_bus);
		goto no_spi;
	}
	for (chip.chip_select = 0; chip.chip_select < spi_bus->num_chipselect; chip.chip_select++)
		spi_new_device(spi_bus, &chip);
	folder = kobject_create_and_add("matbus", kernel_kobj);
	return sysfs_create_group(folder, &attribute_group);
no_spi:
	i2c_del_adapter(&i2c_bus);
no_i2c:
	platform_device_unregister(parent);
	return error;
}

static void __exit matbus_end(void)
{
	sysfs_remove_group(folder, &attribute_group);
	kobject_put(folder);
	spi_unregister_controller(spi_bus);
	i2c_del_adapter(&i2c_bus);
	platform_device_unregister(parent);
}
module_init(matbus_begin);
module_exit(matbus_end);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("I2C and SPI buses with an MPR121 and an MCP3008 that are pretended");
