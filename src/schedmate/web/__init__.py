"""The pages, the API and the metrics of a running daemon. They show and decide nothing.

`app.py` puts the routes together, `api.py` and `pages.py` hold them, `access.py` decides who asks,
`site.py` is what all of them read from.
"""
