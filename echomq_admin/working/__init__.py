"""Workers and pumps as processes of a Django project: which handlers, until which signal."""
