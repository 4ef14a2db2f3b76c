"""What people hear: the words called at the table, as a community recorded them, and sentences only where asked for."""
