"""Many tables and one hub: each table reports its journal over HTTPS, and the hub keeps a copy."""
