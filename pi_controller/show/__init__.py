"""What people see: light scenes and words, as pure functions of the public view."""
