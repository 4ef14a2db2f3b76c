"""What an installed machine or a card has beside the program: units, kiosk, update, Wi-Fi, first start."""
