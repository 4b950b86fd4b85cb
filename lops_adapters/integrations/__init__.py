"""Ways into the package for people who have something already: texts in a list, a training loop, a table. Leaves: nothing imports them."""
