"""The App's web server: it checks deliveries, puts them into the inbox, and answers. It reviews nothing.

`create_app` makes the Flask application of its parts, `serve_app` runs it. Only this package and `app.pages` import
Flask.
"""
