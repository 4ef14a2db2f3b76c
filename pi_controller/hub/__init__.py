"""Many tables and one hub: each table sends its journal over MQTT, and the hub keeps a copy."""
