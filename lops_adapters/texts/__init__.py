"""Texts and labels in, a selection out."""
