"""How bytes stand in a path: `<name:queue>` is ~ and unpadded base64url."""

from django.urls import register_converter

from echomq_admin.live.page import BadParameter, from_path, to_path


class Name:
    """A raw name of the bus. Text of another form, or not canonical, is no such path: 404."""

    regex = "~[A-Za-z0-9_-]*"

    def to_python(self, value: str) -> bytes:
        """The bytes; `ValueError` tells Django to look on."""
        try:
            return from_path(value)
        except BadParameter as error:
            raise ValueError(str(error)) from error

    def to_url(self, value: bytes | str) -> str:
        """`~` and base64url of the bytes."""
        return to_path(value.encode() if isinstance(value, str) else value)


register_converter(Name, "name")
