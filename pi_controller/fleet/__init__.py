"""Many tables and one hub: each table's journal, sent on over MQTT and kept once more."""
