"""Users of Radicale sign in with an access token, about which it asks the issuer (RFC 7662). Basic only with the test's own password."""

import json
import os
import urllib.parse
import urllib.request
from base64 import b64encode

from radicale import auth


class Auth(auth.BaseAuth):
    def get_external_login(self, environ):
        scheme, _, token = environ.get("HTTP_AUTHORIZATION", "").partition(" ")
        if scheme != "Bearer":
            return ()
        user = self.find_user(token)
        # Without a user, Radicale responds with 401.
        return (user, os.environ["RADICALE_PASSWORD"]) if user else ()

    def login(self, login, password):
        return login if password == os.environ["RADICALE_PASSWORD"] else ""

    def find_user(self, token):
        url = urllib.parse.urlsplit(os.environ["INTROSPECTION_URL"])
        credentials = b64encode(f"{url.username}:{url.password}".encode()).decode()
        request = urllib.request.Request(
            url._replace(netloc=f"{url.hostname}:{url.port}").geturl(),
            data=urllib.parse.urlencode({"token": token}).encode(),
            headers={"Authorization": f"Basic {credentials}"},
        )
        with urllib.request.urlopen(request, timeout=5) as response:
            answer = json.load(response)
        return answer["sub"] if answer.get("active") else ""
