"""Adapters for training loops and tables of other libraries. A leaf: nothing else of the package
imports it.
"""
