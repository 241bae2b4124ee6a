"""Failed requests in parameters."""

from marshmallow import fields, validate

from petstore.schemas.paging import DashboardQuery

MAX_ID_LENGTH = 128


class RequestQuery(DashboardQuery):
    """The parameters of the list of failed requests."""

    id = fields.String(load_default=None, validate=validate.Length(1, MAX_ID_LENGTH))
