"""Adapters for training loops and tables of other libraries; no other room imports them."""
