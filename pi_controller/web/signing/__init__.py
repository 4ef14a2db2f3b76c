"""Who may command the table: people, their PINs, what a wrong one costs, and sessions."""
