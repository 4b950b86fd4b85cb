"""One run of a framework: settings, options, the run folder, and the trained models it leaves."""
