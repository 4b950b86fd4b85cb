"""Texts as vectors: word counts, topics, frozen transformers, words in context, Word2Vec."""
