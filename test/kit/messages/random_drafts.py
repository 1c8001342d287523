"""Writes random messages with Python's email package: a JSON list of base64. Arguments: seed, count."""

import base64
import json
import random
import sys
from email import policy
from email.message import EmailMessage

chance = random.Random(sys.argv[1])
WORDS = ["Grüße", "draft", "한글메일", "über", "x" * 90, "--", "a\tb", "naïve €", ".", "From here"]
POLICIES = [policy.SMTP, policy.SMTP.clone(cte_type="7bit"), policy.SMTP.clone(max_line_length=40)]


def words(limit):
    return " ".join(chance.choice(WORDS) for _ in range(chance.randint(1, limit)))


def text():
    return "\n".join(words(12) for _ in range(chance.randint(1, 6))) + "\n"


def cte(of):
    return chance.choice(["base64", "quoted-printable"] + (["8bit"] if max(map(len, of.splitlines())) < 300 else []))


def draft(number):
    message = EmailMessage(policy=chance.choice(POLICIES))
    message["Subject"] = words(8).replace("\t", " ")
    message["From"] = "Dräfter <d@acme.example>"
    message["To"] = ", ".join(f"Person Ü{n} <p{n}@example.com>" for n in range(chance.randint(1, 30)))
    if chance.random() < 0.5:
        message["Cc"] = "c@example.com"
    message["Date"] = "Fri, 20 Nov 2026 10:00:00 +0100"
    message["Message-ID"] = f"<python{number}@acme.example>"
    ids = [f"image{n}@acme.example" for n in range(chance.randint(0, 3))]
    plain = text()
    message.set_content(plain, cte=cte(plain))
    if chance.random() < 0.7:
        shown = "".join(f'<img src="cid:{one}">' for one in ids if chance.random() < 0.7)
        html = f"<p>{text()}</p>{shown}\n"
        message.add_alternative(html, subtype="html", cte=cte(html))
        for one in ids:
            message.get_payload()[-1].add_related(
                chance.randbytes(chance.randint(0, 200)), "image", "png", cid=f"<{one}>", filename=f"{one}.png"
            )
        if chance.random() < 0.3:
            invitation = "BEGIN:VCALENDAR\nEND:VCALENDAR\n"
            message.add_alternative(invitation, subtype="calendar", params={"method": "REQUEST"})
    for number in range(chance.randint(0, 4)):
        name = chance.choice([f"ü{number}.bin", f"a b {number}.txt", f"{number}" * 120 + ".pdf"])
        if chance.random() < 0.3:
            content = text()
            message.add_attachment(content, filename=name, cte=cte(content))
        elif chance.random() < 0.2:
            inner = EmailMessage(policy=policy.SMTP)
            inner["Subject"] = "inner"
            inner.set_content("inner text\n")
            message.add_attachment(inner)
        else:
            message.add_attachment(chance.randbytes(chance.randint(0, 500)), "application", "x-test", filename=name)
    return message.as_bytes()


print(json.dumps([base64.b64encode(draft(number)).decode() for number in range(int(sys.argv[2]))]))
