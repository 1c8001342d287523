"""Reads vCards with vobject. Input: a JSON list of texts. Output: a JSON list of what they contain."""

import json
import sys

import vobject


def types(line):
    return sorted(word.lower() for word in line.params.get("TYPE", []) if word.lower() not in ("internet", "pref"))


def read(text):
    card = vobject.readOne(text)
    lists = card.contents
    name = card.n.value
    return {
        "displayName": card.fn.value,
        "surname": name.family,
        "givenName": name.given,
        "middleName": name.additional,
        "nickname": lists["nickname"][0].value if "nickname" in lists else "",
        "birthday": lists["bday"][0].value if "bday" in lists else None,
        "company": card.org.value if "org" in lists else [],
        "jobTitle": lists["title"][0].value if "title" in lists else "",
        "notes": lists["note"][0].value if "note" in lists else "",
        "emails": [[line.value, types(line)] for line in lists.get("email", [])],
        "phones": [[line.value, types(line)] for line in lists.get("tel", [])],
        "streets": [line.value.street for line in lists.get("adr", [])],
        "categories": [word for line in lists.get("categories", []) for word in line.value],
    }


print(json.dumps([read(text) for text in json.load(sys.stdin)]))
