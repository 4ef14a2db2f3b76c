"""The link: bytes from the board -> messages stamped with the host's clock; loss is counted, never hidden."""
