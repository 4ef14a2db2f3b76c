"""Authentication: users, PINs, throttling of wrong ones, roles, and sessions."""
