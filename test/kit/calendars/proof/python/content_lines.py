"""Reads iCalendar text as components with properties (RFC 5545, 3.1 and 3.6)."""

import re
from dataclasses import dataclass, field

VALUE = r'(?:"[^"]*"|[^",;:]*)'
LINE = re.compile(rf"([\w-]+)((?:;[\w-]+={VALUE}(?:,{VALUE})*)*):(.*)", re.S)
PARAMETER = re.compile(rf";([\w-]+)=({VALUE}(?:,{VALUE})*)")


@dataclass
class Property:
    name: str
    parameters: dict
    value: str


@dataclass
class Component:
    name: str
    properties: list = field(default_factory=list)
    components: list = field(default_factory=list)

    def all(self, name):
        return [line for line in self.properties if line.name == name]

    def first(self, name):
        return next(iter(self.all(name)), None)

    def value(self, name):
        line = self.first(name)
        return line.value if line else ""

    def children(self, name):
        return [one for one in self.components if one.name == name]


def parse_object(text):
    root = Component("")
    path = [root]
    for line in re.sub(r"\r?\n[ \t]", "", text).splitlines():
        matched = LINE.fullmatch(line)
        if not matched:
            continue
        name, parameters, value = matched.groups()
        if name.upper() == "BEGIN":
            path[-1].components.append(Component(value.upper()))
            path.append(path[-1].components[-1])
        elif name.upper() == "END":
            path.pop()
        else:
            found = {key.upper(): content.strip('"') for key, content in PARAMETER.findall(parameters)}
            path[-1].properties.append(Property(name.upper(), found, value))
    return root.components[0]
