"""What frameworks are configured with, and what calls of libraries mean.

To add a framework: a module beside this one with its `FRAMEWORK`, and its row in `index.SIGNS`.
"""
