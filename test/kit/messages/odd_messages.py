"""Writes odd messages as mail programs do, each with what it says, and what Python's email package reads of it: a JSON list.

Arguments: seed, count. Every kind has as many messages as the others."""

import base64
import binascii
import hashlib
import json
import quopri
import random
import sys
from datetime import datetime, timedelta, timezone
from email import message_from_bytes, policy

chance = random.Random(sys.argv[1])
CRLF = "\r\n"

# Codec of Python, labels that mail programs write for it, a sentence.
CHARSETS = [
    ("cp949", ["ks_c_5601-1987", "KS_C_5601", "cp949", "uhc", "windows-949", "euc-kr"], "한글메일 뷁 본문입니다"),
    ("cp932", ["shift_jis", "cp932", "windows-31j", "x-sjis", "ms_kanji", "sjis"], "会議の資料です①髙橋"),
    ("cp936", ["gbk", "cp936", "gb2312", "x-gbk", "windows-936"], "测试邮件正文內容"),
    ("gb18030", ["gb18030", "GB18030"], "测试邮件㐀正文"),
    ("cp950", ["big5", "cp950", "x-big5"], "會議通知內容"),
    ("big5hkscs", ["big5-hkscs"], "會議㗎喺度"),
    ("iso2022_jp", ["iso-2022-jp", "ISO-2022-JP", "csISO2022JP"], "日本語の請求書です"),
    ("iso2022_kr", ["iso-2022-kr"], "한글메일 본문"),
    ("euc_jp", ["euc-jp", "eucJP", "x-euc-jp"], "お世話になります"),
    ("hz", ["hz-gb-2312", "hz"], "测试邮件"),
    ("utf_7", ["utf-7", "unicode-1-1-utf-7"], "Grüße aus Köln"),
    ("cp1250", ["windows-1250", "cp1250", "windows1250"], "Żółć i łódź"),
    ("cp1251", ["windows-1251", "cp1251", "windows1251", "win-1251"], "Привет всем"),
    ("cp1252", ["windows-1252", "cp1252", "iso-8859-1", "latin1"], "Grüße – 10 € “ja”"),
    ("cp1253", ["windows-1253", "cp1253"], "Καλημέρα σας"),
    ("cp1254", ["windows-1254", "iso-8859-9"], "İyi günler, şükür"),
    ("cp1255", ["windows-1255", "iso-8859-8-i"], "שלום לכולם"),
    ("cp1256", ["windows-1256", "cp1256"], "مرحبا بالجميع"),
    ("cp1257", ["windows-1257"], "Ačiū už laišką"),
    ("cp1258", ["windows-1258"], "Chào bạn".encode("cp1258", "ignore").decode("cp1258")),
    ("iso8859_2", ["iso-8859-2", "latin2", "iso8859-2"], "Żółć i łódź"),
    ("iso8859_15", ["iso-8859-15", "latin9", "iso8859-15"], "Prix : 10 € à l'œuvre"),
    ("koi8_r", ["koi8-r", "koi8r", "KOI8"], "Добрый день"),
    ("koi8_u", ["koi8-u"], "Доброго дня, їжак"),
    ("cp850", ["cp850", "ibm850"], "Grüße aus Köln"),
    ("cp437", ["cp437", "ibm437"], "Grüße aus Köln"),
    ("cp866", ["cp866", "ibm866"], "Привет всем"),
    ("cp874", ["windows-874", "tis-620"], "สวัสดีครับ"),
    ("mac_roman", ["macintosh", "x-mac-roman"], "Grüße aus Köln"),
    ("utf_8", ["utf-8", "utf8", "UTF8", "unicode-1-1-utf-8"], "Grüße, 한글 und €"),
    # Bytes that are valid UTF-8 are UTF-8, whatever the label says.
    ("utf_8", ["us-ascii", "iso-8859-1", "x-unknown", "unknown-8bit", "_iso-2022-jp$ESC", ""], "Grüße, 한글 und €"),
    ("utf_16", ["utf-16", "unicode"], "Grüße aus Köln"),
    ("utf_16_be", ["utf-16be"], "Grüße aus Köln"),
    ("utf_16_le", ["utf-16le"], "Grüße aus Köln"),
    ("utf_32", ["utf-32"], "Grüße aus Köln"),
]
WORDS = "Ada amber basalt cedar delta ember fjord granite harbor island juniper kelp lagoon meadow nectar onyx".split()


def words(count=3):
    return " ".join(chance.choice(WORDS) + str(chance.randint(10, 99)) for _ in range(count))


def sentence():
    return words(chance.randint(2, 6)).capitalize() + "."


def fresh(prefix):
    return f"{prefix}{chance.randint(10**6, 10**7)}"


def ident():
    return f"{fresh('id')}@{chance.choice(['mail', 'mx.mail'])}.example"


def boundary():
    return chance.choice(["=_", "----=_Part_", "b", "--", "Apple-Mail=_"]) + fresh("")


def lines(*parts):
    return CRLF.join(parts)


def b64(content, width=76):
    text = base64.b64encode(content).decode()
    return lines(*[text[at : at + width] for at in range(0, len(text), width)])


def qp(content):
    return quopri.encodestring(content).decode().replace("\n", CRLF)


def as_bytes(text):
    """One character a byte for what is not ASCII: `text` was made with `raw`."""
    return text.encode("latin-1")


def raw(content):
    return content.decode("latin-1")


def mail(fields, body="", subject=True):
    own = dict(fields) if isinstance(fields, dict) else None
    listed = list(fields.items()) if own is not None else list(fields)
    names = {name.lower() for name, _ in listed}
    base = [("From", "Ada <ada@mail.example>"), ("To", "bob@mail.example")]
    if subject:
        base += [("Subject", "odd")]
    base += [("Date", "Fri, 20 Nov 2026 10:00:00 +0000"), ("Message-ID", f"<{ident()}>"), ("MIME-Version", "1.0")]
    head = [f"{name}: {value}" for name, value in base if name.lower() not in names]
    head += [f"{name}: {value}" for name, value in listed]
    return lines(*head, "", body)


def part(content_type, body, *fields):
    return lines(f"Content-Type: {content_type}", *fields, "", body)


def multipart(kind, parts, parameters="", end=True):
    mark = boundary()
    body = "".join(f"--{mark}{CRLF}{one}{CRLF}" for one in parts) + (f"--{mark}--{CRLF}" if end else "")
    return f'multipart/{kind}; boundary="{mark}"{parameters}', body


def tree(kind, parts, **options):
    content_type, body = multipart(kind, parts, **options)
    return mail({"Content-Type": content_type}, body)


def inner(kind, parts, parameters=""):
    content_type, body = multipart(kind, parts, parameters)
    return part(content_type, body)


def text(words):
    return part("text/plain; charset=utf-8", words)


def html(words):
    return part("text/html; charset=utf-8", f"<html><body><p>{words}</p></body></html>")


def file(name, content, content_type="application/octet-stream", disposition="attachment"):
    fields = ["Content-Transfer-Encoding: base64"]
    if disposition is not None:
        fields.append(f'Content-Disposition: {disposition}; filename="{name}"')
    return part(f'{content_type}; name="{name}"', b64(content), *fields)


def digest(content):
    return hashlib.sha1(content).hexdigest()


def blob():
    return chance.randbytes(chance.randint(1, 300))


# Each kind returns the message, its bytes one character each, and what must be read of it.


def charsets():
    codec, labels, words = chance.choice(CHARSETS)
    label = chance.choice(labels)
    written = chance.choice([label, label, f'"{label}"', f" {label} ", label.upper()])
    body = (words + CRLF + words).encode(codec)
    ascii_safe = codec in ("iso2022_jp", "iso2022_kr", "hz", "utf_7")
    wide = codec.startswith(("utf_16", "utf_32"))
    cte = "base64" if wide else chance.choice(["base64", "quoted-printable"] + (["7bit"] if ascii_safe else ["8bit"]))
    encoded = b64(body) if cte == "base64" else qp(body) if cte == "quoted-printable" else raw(body)
    is_html = chance.random() < 0.3 and not wide and codec not in ("utf_7", "hz")
    if is_html:
        page = f'<html><head><meta charset="{label}"></head><body>{words}</body></html>'.encode(codec)
        encoded = b64(page) if cte == "base64" else qp(page) if cte == "quoted-printable" else raw(page)
        content_type = "text/html" if label != "" else "text/html; charset=utf-8"
        fields = {"Content-Type": content_type, "Content-Transfer-Encoding": cte}
        return f"meta {label}", mail(fields, encoded), {"has": [words], "form": "html"}
    content_type = "text/plain" + (f"; charset={written}" if label else "")
    fields = {"Content-Type": content_type, "Content-Transfer-Encoding": cte}
    return label or "none", mail(fields, encoded), {"text": f"{words}\n{words}"}


def encoded_word(content, codec, label=None, encoding=None):
    data = content.encode(codec)
    if (encoding or chance.choice("BQ")).upper() == "B":
        return f"=?{label or codec}?{chance.choice('Bb')}?{base64.b64encode(data).decode()}?="
    safe = "".join(chr(b) if chr(b).isalnum() and b < 128 else "_" if b == 32 else f"={b:02X}" for b in data)
    return f"=?{label or codec}?{chance.choice('Qq')}?{safe}?="


def encoded_words():
    form = chance.randint(0, 8)
    if form == 0:
        first, second = "日本語の請求書", "会議の資料です"
        value = encoded_word(first, "iso2022_jp", "ISO-2022-JP", "B") + CRLF + " " + encoded_word(second, "iso2022_jp", "ISO-2022-JP", "B")
        return "two of iso-2022-jp", mail({"Subject": value}), {"subject": first + second}
    if form == 1:
        data = "Grüße aus Köln, 한글 und €".encode()
        cut = chance.randint(1, len(data) - 1)
        halves = [base64.b64encode(half).decode() for half in (data[:cut], data[cut:])]
        value = f"=?utf-8?B?{halves[0]}?={CRLF} =?utf-8?B?{halves[1]}?="
        return "a character in two words", mail({"Subject": value}), {"subject": data.decode()}
    if form == 2:
        return "language", mail({"Subject": "=?utf-8*de?Q?Gr=C3=BC=C3=9Fe?= x"}), {"subject": "Grüße x"}
    if form == 3:
        value = f"=?utf-8?Q?Alles in Ordnung {chance.choice(['jetzt', 'dort'])}=C3=BC?="
        return "spaces inside", mail({"Subject": value}), {"subject": value[10:-2].replace("=C3=BC", "ü")}
    if form == 4:
        return "question mark inside", mail({"Subject": "=?utf-8?Q?Alles_in_Ordnung?_Gr=C3=BC=C3=9Fe?="}), {"subject": "Alles in Ordnung? Grüße"}
    if form == 5:
        return "unknown-8bit", mail({"Subject": "=?unknown-8bit?Q?Gr=C3=BC=C3=9Fe?= x"}), {"subject": "Grüße x"}
    if form == 6:
        value = "Re: " + encoded_word("Grüße", "utf-8") + encoded_word("Köln", "utf-8")
        return "nothing between", mail({"Subject": value}), {"subject": "Re: GrüßeKöln"}
    if form == 7:
        codec, labels, words = chance.choice([one for one in CHARSETS if not one[0].startswith(("utf_16", "utf_32", "utf_7", "hz"))])
        label = chance.choice([one for one in labels if one and "$" not in one] or ["utf-8"])
        if codec == "utf_8":
            label = "utf-8"
        return f"label {label}", mail({"Subject": encoded_word(words, codec, label)}), {"subject": words}
    return "between words", mail({"Subject": f"a {encoded_word('Grüße', 'utf-8')} b {encoded_word('ö', 'latin-1', 'iso-8859-1')} c"}), {"subject": "a Grüße b ö c"}


def raw_headers():
    codec, label, words = chance.choice(
        [
            ("gbk", "gb2312", "测试邮件"),
            ("cp1251", "windows-1251", "Привет всем"),
            ("koi8_r", "koi8-r", "Добрый день"),
            ("cp932", "shift_jis", "会議の資料です"),
            ("cp1252", "iso-8859-1", "Grüße"),
            ("cp949", "ks_c_5601-1987", "한글메일"),
            ("utf_8", "utf-8", "Grüße 한글"),
            ("utf_8", "us-ascii", "Grüße 한글"),
        ]
    )
    bytes_of = raw(words.encode(codec))
    content = raw((words + " in the body").encode(codec))
    if chance.random() < 0.5:
        fields = {"Subject": bytes_of, "Content-Type": f"text/plain; charset={label}", "Content-Transfer-Encoding": "8bit"}
        return f"subject in {label}", mail(fields, content), {"subject": words}
    fields = {"From": f"{bytes_of} <ada@mail.example>", "Content-Type": f"text/plain; charset={label}", "Content-Transfer-Encoding": "8bit"}
    return f"name in {label}", mail(fields, content), {"from": {"name": words, "email": "ada@mail.example"}}


def addresses():
    email = f"{chance.choice(['ada', 'a.b', 'x+y'])}@{chance.choice(['mail', 'mx'])}.example"
    mark = chance.choice([", ", ": ", " (x) ", ' "J" ', "; ", " a@b.example ", " <e@f.example> ", ". ", " / "])
    name = ("Jörg" + mark + "Müller").strip()
    only = lambda value: {"name": value, "email": email}
    forms = [
        ("encoded with a mark", f"{encoded_word(name, 'utf-8')} <{email}>", {"from": only(name)}),
        ("encoded in quotes", f'"{encoded_word("Jörg", "utf-8")}" <{email}>', {"from": only("Jörg")}),
        ("glued", f"{encoded_word('Jörg', 'utf-8')}<{email}>", {"from": only("Jörg")}),
        ("bare comma", f"Mueller, Hans <{email}>", {"email": email}),
        ("bare at", f"ceo@bank.example <{email}>", {"email": email}),
        ("bare dot", f"John Q. Public <{email}>", {"from": only("John Q. Public")}),
        ("nested comment", f"Pete(a (nice) chap) <{email}>", {"email": email}),
        ("comment as name", f"{email} (Ada Lovelace)", {"from": only("Ada Lovelace")}),
        ("escaped quotes", f'"Ada \\"A\\" L" <{email}>', {"from": only('Ada "A" L')}),
        ("no space", f'"Ada L"<{email}>', {"from": only("Ada L")}),
        ("spaces inside", f"Ada < {email} >", {"email": email}),
        ("address in quotes", f'"ceo@bank.example" <{email}>', {"from": only("ceo@bank.example")}),
        ("name twice", f'"{email}" <{email}>', {"email": email}),
        ("single quotes", f"'Ada L' <{email}>", {"email": email}),
        ("no angle end", f"Ada <{email}", {"email": email}),
        ("folded", f'"Ada{CRLF} Lovelace"{CRLF} <{email}>', {"from": only("Ada Lovelace")}),
    ]
    lists = [
        ("group", f"Team: a@mail.example, Bob <b@mail.example>; , c@mail.example", ["a@mail.example", "b@mail.example", "c@mail.example"]),
        ("semicolons", "a@mail.example; Bob <b@mail.example>", ["a@mail.example", "b@mail.example"]),
        ("nobody", "undisclosed-recipients:;", []),
        ("comma in quotes", '"Doe, Jane" <j@mail.example>, b@mail.example', ["j@mail.example", "b@mail.example"]),
        ("empty items", "a@mail.example,, ,b@mail.example,", ["a@mail.example", "b@mail.example"]),
        ("encoded comma", f"{encoded_word('Müller, Hans', 'utf-8')} <h@mail.example>, b@mail.example", ["h@mail.example", "b@mail.example"]),
        ("route", "<@relay.example:a@mail.example>", ["a@mail.example"]),
    ]
    if chance.random() < 0.3:
        what, value, emails = chance.choice(lists)
        return what, mail({"To": value}), {"to": emails}
    what, value, expected = chance.choice(forms)
    return what, mail({"From": value}), expected


def message_ids():
    own, first, second = ident(), ident(), ident()
    forms = [
        ("nothing between", f"<{first}><{second}>", [first, second]),
        ("commas", f"<{first}>, <{second}>", [first, second]),
        ("folded", f"<{first}>{CRLF}\t<{second}>", [first, second]),
        ("comment", f"<{first}> (from Ada) <{second}>", [first, second]),
        ("no brackets", f"{first} {second}", [first, second]),
        ("quoted words", f'"Ada Lovelace" <{first}> <{second}>', [first, second]),
    ]
    what, value, ids = chance.choice(forms)
    shape = chance.choice([f"<{own}>", f"<{own}>", own, f"<{own}> (added by mx)", f"{CRLF} <{own}>", f" <{own}> "])
    reply = chance.choice([f"<{second}>", f"<{second}> (Ada's message)", second, f"Your message of Friday <{second}>"])
    fields = {"Message-ID": shape, "References": value, "In-Reply-To": reply}
    return f"{what}, {shape.replace(own, 'id').strip()}", mail(fields), {"messageId": own, "references": ids, "inReplyTo": second}


ZONES = {"EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7, "GMT": 0, "UT": 0, "UTC": 0, "Z": 0}
MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
FULL_MONTHS = "January February March April May June July August September October November December".split()
DAYS = "Mon Tue Wed Thu Fri Sat Sun".split()
FULL_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()


def iso(moment):
    return moment.strftime("%Y-%m-%dT%H:%M:%S.000Z")


def dates():
    local = datetime(chance.randint(1999, 2030), chance.randint(1, 12), chance.randint(1, 28), chance.randint(0, 23), chance.randint(0, 59), chance.randint(0, 59))
    day, month, full = DAYS[local.weekday()], MONTHS[local.month - 1], FULL_MONTHS[local.month - 1]
    clock, minutes = local.strftime("%H:%M:%S"), local.strftime("%H:%M")
    name = chance.choice(list(ZONES))
    zoned = iso(local - timedelta(hours=ZONES[name]))
    offset = chance.choice([-11, -5, 0, 1, 5, 9, 13])
    sign = f"{'-' if offset < 0 else '+'}{abs(offset):02d}"
    shifted = iso(local - timedelta(hours=offset))
    short = f"{local.day} {month} {local.year}"
    forms = [
        ("named zone", f"{day}, {short} {clock} {name}", [zoned]),
        ("no zone", f"{day}, {short} {clock}", [iso(local)]),
        ("no weekday", f"{short} {clock} {sign}00", [shifted]),
        ("wrong weekday", f"{DAYS[(local.weekday() + 2) % 7]}, {short} {clock} {sign}00", [shifted]),
        ("no seconds", f"{day}, {short} {minutes} {sign}00", [iso(local.replace(second=0) - timedelta(hours=offset))]),
        ("two digits of the year", f"{day}, {local.day} {month} {local.year % 100:02d} {clock} {sign}00", [shifted]),
        ("comment", f"{day}, {short} {clock} {sign}00 (Some Zone)", [shifted]),
        ("zone after the offset", f"{day}, {short} {clock} {sign}00 CET", [shifted]),
        ("colon in the offset", f"{day}, {short} {clock} {sign}:00", [shifted]),
        ("GMT and an offset", f"{day}, {short} {clock} GMT{sign}00", [shifted, iso(local)]),
        ("folds and spaces", f"{day},  {local.day:2d} {month}{CRLF} {local.year}   {clock}{CRLF}\t{sign}00", [shifted]),
        ("full names", f"{FULL_DAYS[local.weekday()]}, {local.day} {full} {local.year} {clock} {sign}00", [shifted]),
        ("RFC 850", f"{FULL_DAYS[local.weekday()]}, {local.day:02d}-{month}-{local.year % 100:02d} {clock} GMT", [iso(local)]),
        ("lower case", f"{day}, {short} {clock} {name}".lower(), [zoned]),
        ("asctime", f"{day} {month} {local.day:2d} {clock} {local.year}", [iso(local)]),
        ("asctime with a zone", f"{day} {month} {local.day:2d} {clock} {name} {local.year}", [zoned]),
        ("ISO 8601", f"{local.isoformat()}{sign}:00", [shifted]),
        ("dots", f"{day}, {short} {clock.replace(':', '.')} {sign}00", [shifted]),
        ("comma less", f"{day} {short} {clock} {sign}00", [shifted]),
        ("no year", f"{day}, {local.day} {month} {clock} {sign}00", [None]),
        ("no date", chance.choice(["yesterday", "Date", "????", "0000"]), [None]),
        ("an impossible day", f"{day}, 32 {month} {local.year} {clock} {sign}00", [None]),
    ]
    if local.year >= 2000:
        forms.append(("three digits of the year", f"{day}, {local.day} {month} {local.year - 1900} {clock} {sign}00", [shifted]))
    what, value, expected = chance.choice(forms)
    return what, mail({"Date": value}), {"date": expected}


def bodies():
    a, b, c = sentence(), sentence(), sentence()
    image = file("i.png", blob(), "image/png", "inline")
    forms = [
        ("html and a footer", tree("mixed", [html(a), text(b)]), [a, b], []),
        ("texts around an image", tree("mixed", [text(a), image, text(b)]), [a, b], []),
        ("alternative and a footer", tree("mixed", [inner("alternative", [text(a), html(a)]), text(b)]), [a, b], []),
        ("related", tree("related", [html(a), image]), [a], []),
        ("related in an alternative", tree("alternative", [text(a), inner("related", [html(a), image])]), [a], []),
        ("alternative in a related", tree("related", [inner("alternative", [text(a), html(a)]), image]), [a], []),
        ("a name", mail({"Content-Type": 'text/plain; charset=utf-8; name="body.txt"'}, a), [a], []),
        ("an HTML body with a name", mail({"Content-Type": 'text/html; charset=utf-8; name="b.html"'}, f"<p>{a}</p>"), [a], []),
        ("a text file", tree("mixed", [text(a), file("n.txt", c.encode(), "text/plain")]), [a], [c]),
        ("an HTML file", tree("mixed", [html(a), file("n.html", f"<p>{c}</p>".encode(), "text/html")]), [a], [c]),
        ("AMP", tree("alternative", [text(a), part("text/x-amp-html", c), html(a)]), [a], [c]),
        ("an invitation", tree("alternative", [text(a), html(a), part("text/calendar; method=REQUEST", c)]), [a], [c]),
        ("a signature", tree("signed", [text(a), file("s.asc", c.encode(), "application/pgp-signature", None)]), [a], [c]),
        ("html after html", tree("mixed", [html(a), image, html(b)]), [a, b], []),
        ("text, then html", tree("mixed", [text(a), html(b)]), [a, b], []),
        ("a report", tree("report", [text(a), part("message/delivery-status", f"Reporting-MTA: dns; {fresh('mx')}")]), [a], []),
        ("mixed in an alternative", tree("alternative", [text(f"{a} {b}"), inner("mixed", [html(a), image, html(b)])]), [a, b], []),
        ("a start", tree("related", [part("image/png", "", "Content-ID: <i@x>"), part("text/html; charset=utf-8", f"<p>{a}</p>", "Content-ID: <h@x>")], parameters='; start="<h@x>"'), [a], []),
        ("three levels", tree("mixed", [inner("related", [inner("alternative", [text(a), html(a)]), image]), text(b)]), [a, b], []),
    ]
    what, message, has, absent = chance.choice(forms)
    return what, message, {"has": has, "absent": absent}


def flowed():
    paragraphs, wrapped = [], []
    japanese = chance.random() < 0.3
    for _ in range(chance.randint(1, 4)):
        depth = chance.choice([0, 0, 0, 1, 2])
        mark = "> " * depth if depth == 0 else ">" * depth + " "
        if japanese:
            whole = "".join(chance.choice("請求書送会議資料日本語") for _ in range(chance.randint(10, 60)))
            pieces = [whole[at : at + 12] for at in range(0, len(whole), 12)]
            wrapped += [mark + one + (" " if one is not pieces[-1] else "") for one in pieces]
        else:
            tokens = words(chance.randint(3, 30)).split(" ")
            pieces = [" ".join(tokens[at : at + 6]) for at in range(0, len(tokens), 6)]
            whole = " ".join(pieces)
            wrapped += [mark + one + (" " if one is not pieces[-1] else "") for one in pieces]
        paragraphs.append((depth, whole))
        if chance.random() < 0.5:
            wrapped.append("")
            paragraphs.append((0, ""))
    if chance.random() < 0.4:
        wrapped += ["-- ", "Ada"]
        paragraphs += [(0, "-- "), (0, "Ada")]
    delsp = "; delsp=yes" if japanese else ""
    fields = {"Content-Type": f"text/plain; charset=utf-8; format=flowed{delsp}", "Content-Transfer-Encoding": "8bit"}
    body = raw(lines(*wrapped).encode())
    # Without the marks of quotes, which programs write with and without a space.
    expected = "\n".join(whole for _, whole in paragraphs)
    return "delsp" if japanese else "flowed", mail(fields, body), {"unquoted": expected}


def attachments():
    a, one, two = sentence(), blob(), blob()
    pdf = lambda disposition="attachment": file("r.pdf", one, "application/pdf", disposition)
    picture = part("image/png; name=p.png", b64(two), "Content-Transfer-Encoding: base64", "Content-ID: <p@x>", "Content-Disposition: inline; filename=p.png")
    calendar = lines("BEGIN:VCALENDAR", f"UID:{fresh('')}", "END:VCALENDAR", "").encode()
    rows = [["r.pdf", digest(one)]]
    both = rows + [["p.png", digest(two)]]
    inside = mail({"Subject": "inner"}, f"inner text {fresh('')}")
    forms = [
        ("inline PDF", tree("mixed", [text(a), pdf("inline")]), rows),
        ("name only", tree("mixed", [text(a), pdf(None)]), rows),
        ("HTML between files", tree("mixed", [html(a), pdf("inline"), html(a)]), rows),
        ("unused Content-ID", tree("related", [html(a), picture, pdf()]), both),
        ("mixed in an alternative", tree("alternative", [text(a), inner("mixed", [html(a), pdf("inline")])]), rows),
        ("AMP is none", tree("alternative", [text(a), part("text/x-amp-html", a), html(a)]), []),
        ("a watch's text is none", tree("alternative", [text(a), part("text/watch-html", a), html(a)]), []),
        ("only a file", mail({"Content-Type": "application/pdf; name=r.pdf", "Content-Transfer-Encoding": "base64"}, b64(one)), rows),
        ("empty file", tree("mixed", [text(a), file("e.bin", b"")]), [["e.bin", digest(b"")]]),
        ("nested", tree("mixed", [inner("mixed", [text(a), pdf()]), picture]), both),
        ("a message", tree("mixed", [text(a), part('message/rfc822; name="m.eml"', inside, 'Content-Disposition: attachment; filename="m.eml"')]), [["m.eml", digest(as_bytes(inside))]]),
        ("a text file", tree("mixed", [text(a), file("n.txt", two, "text/plain"), pdf()]), [["n.txt", digest(two)], *rows]),
        ("calendar file", tree("mixed", [text(a), file("i.ics", calendar, "text/calendar")]), [["i.ics", digest(calendar)]]),
        ("type without a slash", tree("mixed", [text(a), file("r.pdf", one, "pdf")]), rows),
        ("two of one name", tree("mixed", [text(a), pdf(), file("r.pdf", two)]), [*rows, ["r.pdf", digest(two)]]),
        ("signed", tree("signed", [text(a), file("s.p7s", one, "application/pkcs7-signature")]), [["s.p7s", digest(one)]]),
    ]
    what, message, files = chance.choice(forms)
    return what, message, {"files": sorted(files)}


def file_names():
    name = chance.choice(["größe.pdf", "請求書.pdf", "My Invoice 2026.pdf", "a;b.pdf", 'say "hi".pdf', "naïve (1).pdf", "测试.txt", "x" * 90 + ".pdf"])
    content = blob()
    percent = "".join(f"%{b:02X}" for b in name.encode())
    halves = [percent[: len(percent) // 6 * 3], percent[len(percent) // 6 * 3 :]]
    quoted = name.replace("\\", "\\\\").replace('"', '\\"')
    is_ascii = name.isascii()
    forms = [
        ("RFC 2231", f"filename*=UTF-8''{percent}", ""),
        ("RFC 2231 in pieces", f"filename*0*=UTF-8''{halves[0]};{CRLF} filename*1*={halves[1]}", ""),
        ("both forms", f"filename=\"fallback.bin\"; filename*=UTF-8''{percent}", ""),
        ("encoded word", f'filename="{encoded_word(name, "utf-8")}"', ""),
        ("encoded word in name", "", f'; name="{encoded_word(name, "utf-8")}"'),
        ("raw bytes", f'filename="{raw(quoted.encode())}"', ""),
        ("two encoded words", f'filename="{encoded_word(name[:3], "utf-8")}{CRLF} {encoded_word(name[3:], "utf-8")}"', ""),
    ]
    if is_ascii and ";" not in name and '"' not in name and "(" not in name:
        forms.append(("no quotes", f"filename={name}", ""))
        forms.append(("Windows path", f'filename="C:\\Users\\ada\\{name}"', ""))
    if is_ascii:
        forms.append(("quotes", f'filename="{quoted}"', ""))
    what, disposition, parameter = chance.choice(forms)
    fields = ["Content-Transfer-Encoding: base64", f"Content-Disposition: attachment{'; ' + disposition if disposition else ''}"]
    message = tree("mixed", [text(sentence()), part(f"application/octet-stream{parameter}", b64(content), *fields)])
    return what, message, {"files": [[name, digest(content)]]}


def decoding():
    words = sentence() + " Grüße. " + sentence()
    data = words.encode()
    cut = chance.randint(1, len(data) - 2)
    padded = base64.b64encode(data[:cut]).decode() + CRLF + base64.b64encode(data[cut:]).decode()
    forms = [
        ("padded pieces", "base64", padded),
        ("lines padded alone", "base64", lines(*[base64.b64encode(data[at : at + 20]).decode() for at in range(0, len(data), 20)])),
        ("no padding", "base64", base64.b64encode(data).decode().rstrip("=")),
        ("junk within lines", "base64", lines(*[line + "!" for line in b64(data, 40).split(CRLF)])),
        ("one long line", "base64", base64.b64encode(data).decode()),
        ("base64;", "base64;", b64(data)),
        ("quoted label", '"quoted-printable"', qp(data)),
        ("quoted-printable;", "quoted-printable;", qp(data)),
        ("upper case", "BASE64", b64(data)),
        ("lower hex", "quoted-printable", qp(data).replace("=C3=BC=C3=9F", "=c3=bc=c3=9f")),
        ("spaces before line ends", "quoted-printable", qp(data).replace(CRLF, " \t" + CRLF)),
        ("a lone =", "quoted-printable", qp(data) + " 1 = 1"),
        ("a comment", "base64 (rfc 2045)", b64(data)),
    ]
    if chance.random() < 0.15:
        content = blob()
        body = "begin 644 u.bin\r\n" + "".join(binascii.b2a_uu(content[at : at + 45]).decode().replace("\n", CRLF) for at in range(0, len(content), 45)) + "`\r\nend\r\n"
        message = tree("mixed", [text(words), part("application/octet-stream", body, "Content-Transfer-Encoding: x-uuencode", "Content-Disposition: attachment; filename=u.bin")])
        return "uuencode", as_utf8(message), {"files": [["u.bin", digest(content)]]}
    what, cte, body = chance.choice(forms)
    expected = words + " 1 = 1" if what == "a lone =" else words
    fields = {"Content-Type": "text/plain; charset=utf-8", "Content-Transfer-Encoding": cte}
    return what, mail(fields, body), {"text": expected}


def as_utf8(message):
    return raw(message.encode())


def structure():
    a, b, one = sentence(), sentence(), blob()
    pdf = file("r.pdf", one, "application/pdf")
    rows = [["r.pdf", digest(one)]]
    outer = boundary()
    nested = outer + chance.choice(["a", ".1", "=", "-x"])
    prefix = mail(
        {"Content-Type": f'multipart/mixed; boundary="{outer}"'},
        lines(f"--{outer}", f'Content-Type: multipart/alternative; boundary="{nested}"', "", f"--{nested}", text(a), f"--{nested}", html(a), f"--{nested}--", f"--{outer}", pdf, f"--{outer}--", ""),
    )
    spaced = mail({"Content-Type": f'multipart/mixed; boundary="{outer}"'}, lines(f"--{outer}  ", text(a), f"--{outer} \t", pdf, f"--{outer}--  ", ""))
    headless = mail({"Content-Type": f'multipart/mixed; boundary="{outer}"'}, lines(f"--{outer}", "", a, f"--{outer}", pdf, f"--{outer}--", ""))
    inner_open = mail(
        {"Content-Type": f'multipart/mixed; boundary="{outer}"'},
        lines(f"--{outer}", 'Content-Type: multipart/alternative; boundary="inner"', "", "--inner", text(a), f"--{outer}", pdf, f"--{outer}--", ""),
    )
    comment = mail({"Content-Type": f'multipart/mixed (a comment); boundary="{outer}"'}, lines(f"--{outer}", text(a), f"--{outer}", pdf, f"--{outer}--", ""))
    texts = mail({"Content-Type": f'multipart/mixed; boundary="{outer}"'}, lines("This is a message in parts.", f"--{outer}", text(a), f"--{outer}", pdf, f"--{outer}--", "an epilogue"))
    forms = [
        ("no end", tree("mixed", [text(a), pdf], end=False), [a], rows),
        ("boundary with a prefix", prefix, [a], rows),
        ("spaces behind boundaries", spaced, [a], rows),
        ("no part header", headless, [a], rows),
        ("an inner one without end", inner_open, [a], rows),
        ("a comment in the type", comment, [a], rows),
        ("preamble and epilogue", texts, [a], rows),
        ("line feeds only", tree("mixed", [text(a), pdf]).replace(CRLF, "\n"), [a], rows),
        ("unknown multipart", tree("unheard-of", [text(a), pdf]), [a], rows),
        ("a multipart without boundary", mail({"Content-Type": "multipart/mixed"}, a), [a], []),
        ("text without a type", mail({"Content-Type": "text"}, a), [a], []),
        ("sixty levels", deep(a), [a], []),
    ]
    what, message, has, files = chance.choice(forms)
    return what, message, {"has": has, "files": files}


def deep(words):
    inside = text(words)
    for _ in range(60):
        inside = inner("mixed", [inside])
    return tree("mixed", [inside])


def limits():
    subject, a = words(), sentence()
    many = lambda count: f",{CRLF} ".join(f"Person Number {at} <p{at}@mail.example>" for at in range(count))
    form = chance.randint(0, 3)
    if form == 0:
        fields = [("To", many(chance.randint(2000, 6000))), ("Subject", subject), ("Message-ID", "<limit@mail.example>"), ("Content-Type", "text/plain")]
        return "recipients", mail(fields, a), {"subject": subject, "messageId": "limit@mail.example", "has": [a]}
    if form == 1:
        junk = [(f"X-Junk-{at}", "x" * 900) for at in range(chance.randint(100, 300))]
        return "fields", mail([*junk, ("Subject", subject)], a), {"subject": subject, "has": [a]}
    if form == 2:
        count = chance.randint(100, 190)
        contents = [blob() for _ in range(count)]
        files = [file(f"f{at:03d}.bin", content) for at, content in enumerate(contents)]
        return "files", tree("mixed", [text(a), *files]), {"has": [a], "files": [[f"f{at:03d}.bin", digest(content)] for at, content in enumerate(contents)]}
    return "a long line", mail({"Subject": subject, "Content-Type": "text/plain"}, a + "x" * chance.randint(10**5, 10**6)), {"subject": subject, "has": [a]}


KINDS = {
    "charsets": charsets,
    "encoded words": encoded_words,
    "raw 8-bit headers": raw_headers,
    "addresses": addresses,
    "message ids": message_ids,
    "dates": dates,
    "bodies": bodies,
    "format=flowed": flowed,
    "attachments": attachments,
    "file names": file_names,
    "transfer encodings": decoding,
    "broken structure": structure,
    "large messages": limits,
}


def attempt(read):
    try:
        return read()
    except Exception:  # A reader that fails has read nothing.
        return None


def python_reads(content):
    read = attempt(lambda: message_from_bytes(content, policy=policy.default))
    if read is None:
        return None

    def sender():
        for one in read["from"].addresses:
            if one.addr_spec:
                return {"name": one.display_name, "email": one.addr_spec}
        return None

    def moment():
        value = read["date"].datetime
        zoned = value if value is None or value.tzinfo else value.replace(tzinfo=timezone.utc)
        return zoned and iso(zoned.astimezone(timezone.utc))

    def files():
        parts = list(read.iter_attachments()) if read.is_multipart() else [read] if read.get_content_maintype() != "text" else []
        return [[one.get_filename(), digest(bytes_of(one))] for one in parts if not one.is_multipart() or one.get_content_type() == "message/rfc822"]

    return {
        "subject": attempt(lambda: str(read["subject"])),
        "from": attempt(sender),
        "to": attempt(lambda: [one.addr_spec for one in read["to"].addresses]),
        "messageId": attempt(lambda: str(read["message-id"])),
        "inReplyTo": attempt(lambda: str(read["in-reply-to"])),
        "date": attempt(moment),
        "text": attempt(lambda: read.get_body(("plain",)).get_content()),
        "html": attempt(lambda: read.get_body(("html",)).get_content()),
        "files": attempt(files),
    }


def bytes_of(one):
    if one.get_content_type() == "message/rfc822":
        return one.get_payload(0).as_bytes(policy=policy.SMTP)
    return one.get_payload(decode=True)


def main():
    names = list(KINDS)
    for number in range(int(sys.argv[2])):
        kind = names[number % len(names)]
        form, message, expected = KINDS[kind]()
        content = as_bytes(message)
        row = {"kind": kind, "form": form, "raw": base64.b64encode(content).decode(), "expected": expected, "python": python_reads(content)}
        print(json.dumps(row))


main()
