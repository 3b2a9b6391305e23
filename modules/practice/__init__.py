"""The practice model of `--offline`: no AI, a documented handful of requests, the real tools."""
