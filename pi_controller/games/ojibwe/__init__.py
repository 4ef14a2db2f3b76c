"""The Moccasin Game of the Mille Lacs Band of Ojibwe."""
