"""Hampa Apena, the Dakota Moccasin Game."""
