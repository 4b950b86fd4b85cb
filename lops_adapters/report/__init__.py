"""Reports of finished runs. A leaf: nothing but a command imports it."""
